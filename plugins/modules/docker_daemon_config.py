#!/usr/bin/python
"""Ansible module: NVIDIA's runtime in Docker's daemon.json, proven by the running daemon, or taken back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: docker_daemon_config
short_description: Registers NVIDIA's runtime with Docker, and takes it out again
description:
  - Changes its own keys in daemon.json and keeps everything else.
  - A file that dockerd would not read is refused with line and column, and stays as it is byte for byte.
  - After a change, or where the running daemon does not show what the file says, Docker is restarted.
  - It must then show it.
  - If it does not, the old file goes back byte for byte, Docker is started again, and the module fails.
options:
  state:
    description: present registers the runtime; absent takes out what an earlier run noted as its own.
    type: str
    choices: [present, absent]
    default: present
  default_runtime:
    description: The runtime for containers that ask for none; left out, whatever the file says stays.
    type: str
  path: {description: The file., type: path, default: /etc/docker/daemon.json}
  owned: {description: The ownership file., type: path, default: /var/lib/gpu-host/owned.json}
  role: {description: The role that owns the change., type: str, default: docker_nvidia_runtime}
  hook:
    description: The program that dockerd looks for when it starts; one that came later means a restart.
    type: path
    default: /usr/bin/nvidia-container-runtime-hook
author: [gpu-host maintainers]
"""

EXAMPLES = r"""
- name: Register the runtime
  docker_daemon_config:
    state: present
"""

RETURN = r"""
msg: {description: "What was done, and with how many containers running.", type: str, returned: always}
restarted: {description: "Whether Docker was restarted, or would be.", type: bool, returned: success}
containers_running: {description: Running containers before the restart., type: int, returned: success}
backup: {description: Copy of the file as it was., type: str, returned: when an existing file was changed}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_daemon_change import Change
from ansible.module_utils.gpu_host_daemon_json import DaemonJsonError
from ansible.module_utils.gpu_host_dockerd import lacks
from ansible.module_utils.gpu_host_ownership import OwnershipError


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "default_runtime": {"type": "str"},
            "path": {"type": "path", "default": "/etc/docker/daemon.json"},
            "owned": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
            "role": {"type": "str", "default": "docker_nvidia_runtime"},
            "hook": {"type": "path", "default": "/usr/bin/nvidia-container-runtime-hook"},
        },
        supports_check_mode=True,
    )
    try:
        change = Change(module)
        change.validate()
    except (DaemonJsonError, OwnershipError, UnicodeDecodeError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**run(module, change))


def run(module: AnsibleModule, change: Change) -> dict:
    """Do it, or say in check mode what would be done."""
    docker, present = change.docker, module.params["state"] == "present"
    if present and not docker.program and not module.check_mode:
        module.fail_json(
            msg="There is no dockerd on this host; needed is a Docker Engine. "
            "Run the role docker_engine first."
        )
    info = docker.info()
    reasons = ["daemon.json changed"] if change.changed else []
    if present:
        reasons += [] if change.changed else lacks(info, change.document)
        if docker.older_than(module.params["hook"]):
            reasons.append(f"{module.params['hook']} came after Docker's start")
    # Docker that was stopped on purpose is not started to take something out.
    restart = bool(reasons) and docker.program is not None and (present or docker.running())
    running = int((info or {}).get("ContainersRunning") or 0)
    if not module.check_mode:
        change.write()
        failed = change.prove() if restart else None
        if failed:
            module.fail_json(msg=change.take_back(failed))
        change.forget()
    # A task's message is not shown at the usual verbosity, a warning is.
    lost = running if restart and not (info or {}).get("LiveRestoreEnabled") else 0
    if lost:
        will = "will stop" if module.check_mode else "stopped"
        change.notes.append(f"Docker's restart {will} the containers that were running: {lost}.")
    for note in change.notes:
        module.warn(note)
    return {
        "changed": change.changed or restart or change.owned_after != change.owned_before,
        "msg": told(module, change, reasons if restart else [], running),
        "restarted": restart,
        "containers_running": running,
        "diff": difference(change),
        **({"backup": change.backup} if change.backup else {}),
    }


def told(module: AnsibleModule, change: Change, reasons: list, running: int) -> str:
    """Return one sentence on what was done, or would be."""
    was = "would be" if module.check_mode else "was"
    if reasons:
        return f"Docker {was} restarted ({running} containers ran): {'; '.join(reasons)}."
    if change.changed:
        return f"{change.path} {was} changed; there is no Docker to restart."
    return f"{change.path} stays as it is{', and Docker runs on' if change.docker.program else ''}."


def difference(change: Change) -> dict:
    return {
        "before_header": str(change.path),
        "after_header": str(change.path),
        "before": (change.before or b"").decode(),
        "after": (change.after or b"").decode(),
    }


if __name__ == "__main__":
    main()
