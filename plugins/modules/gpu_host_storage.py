#!/usr/bin/python
"""Ansible module: what is to be kept goes to a volume, as planned; or the settings for it are taken back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_host_storage
short_description: Mounts a volume, and puts Docker's data-root and shared folders on it
description:
  - Does what the plan says, in one process on the host, so that no step depends on the connection.
  - A device is formatted only where a last look finds it empty.
  - Docker is stopped, its data copied beside the place, compared, renamed; daemon.json changes last.
  - Killed anywhere, the next run goes on. Whatever fails, Docker runs again where it was.
  - C(state=absent) takes the settings back and no data; what is on the volume stays there.
options:
  state: {description: There or not., type: str, choices: [present, absent], default: present}
  mount: {description: "What is to be formatted, mounted, noted.", type: dict}
  docker: {description: What is done with the data-root., type: dict}
  folders: {description: Folders with path and owner and group and mode., type: dict, default: {}}
  files: {description: Files by path with their text., type: dict, default: {}}
  keep_old: {description: Whether the old data-root is kept., type: bool, default: true}
  stop_containers: {description: Whether running ones may be stopped., type: bool, default: false}
  owned: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
  role: {description: The role that owns the changes., type: str, default: gpu_storage}
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Take the settings back
  gpu_host_storage:
    state: absent
"""

RETURN = r"""
msg: {description: What was done., type: str, returned: success}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_daemon_json import DaemonJsonError
from ansible.module_utils.gpu_host_ownership import empty, entry
from ansible.module_utils.gpu_host_refused import RefusedError
from ansible.module_utils.gpu_host_storage_move import Move
from ansible.module_utils.gpu_host_storage_notes import Notes, alone
from ansible.module_utils.gpu_host_storage_undo import undo
from ansible.module_utils.gpu_host_storage_volume import files, folders, mount

NO_DOCKER = {"do": "nothing"}


def present(module: AnsibleModule, notes: Notes, lock: int) -> list:
    """Do the plan, the volume first."""
    given, said = module.params, []
    path = (given["docker"] or {}).get("volume")
    if path:
        notes.note(path=path)
    if given["mount"]:
        said += mount(module, notes, given["mount"])
    said += folders(given["folders"])
    said += files(module, notes, given["files"])
    docker = given["docker"] or NO_DOCKER
    if docker["do"] != "nothing":
        move = Move(module, notes, lock, docker)
        move.run()
        said += move.said
    return said


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "mount": {"type": "dict"},
            "docker": {"type": "dict"},
            "folders": {"type": "dict", "default": {}},
            "files": {"type": "dict", "default": {}},
            "keep_old": {"type": "bool", "default": True},
            "stop_containers": {"type": "bool", "default": False},
            "owned": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
            "role": {"type": "str", "default": "gpu_storage"},
        },
        supports_check_mode=True,
    )
    notes = Notes(module)
    ours = entry(notes.document, module.params["role"]) != entry(empty(), module.params["role"])
    due = module.params["state"] == "present" or ours
    if module.check_mode or not due:
        module.exit_json(changed=due, msg="")
    try:
        lock = alone()
        said = present(module, notes, lock) if module.params["state"] == "present" else undo(module, notes)
    except RefusedError as refused:
        module.fail_json(msg=refused.sentence, reason=refused.reason)
    except DaemonJsonError as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        where = error.filename or "A file"
        module.fail_json(msg=f"{where}: {error.strerror or error}. Give access or make room, and run again.")
    for line in said:
        # A task's message is not shown at the usual verbosity, a warning is.
        module.warn(line)
    module.exit_json(changed=True, msg=" ".join(said))


if __name__ == "__main__":
    main()
