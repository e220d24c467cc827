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
  - What dockerd's command line says already is not written; a key that is in both is refused before a change.
options:
  state:
    description: present registers the runtime; absent takes out what an earlier run noted as its own.
    type: str
    choices: [present, absent]
    default: present
  default_runtime:
    description: The runtime for containers that ask for none; left out, whatever the file says stays.
    type: str
  restart:
    description: never writes and validates, restarts nothing, and says what is pending.
    type: str
    choices: [auto, never]
    default: auto
  path:
    description: The file; left out, the one that dockerd is started with, else /etc/docker/daemon.json.
    type: path
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
msg: {description: "What was done, and what C(--gpus) goes through.", type: str, returned: always}
due: {description: "Whether something is to be changed, or was.", type: bool, returned: success}
restarted: {description: "Whether Docker was restarted, or would be.", type: bool, returned: success}
pending: {description: Why Docker is to be restarted by hand., type: list, returned: success}
containers_running: {description: Running containers before the restart., type: int, returned: success}
containers: {description: Their names., type: list, returned: success}
backup: {description: Copy of the file as it was., type: str, returned: when an existing file was changed}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_daemon_change import ARGUMENTS, Change
from ansible.module_utils.gpu_host_daemon_json import DaemonJsonError
from ansible.module_utils.gpu_host_dockerd import gpus_way
from ansible.module_utils.gpu_host_engine import named
from ansible.module_utils.gpu_host_ownership import OwnershipError


def main() -> None:
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        supports_check_mode=True,
    )
    try:
        change = Change(module)
        change.info = change.docker.info()
        reasons = change.reasons()
        if change.present and (change.changed or reasons):
            change.refuse_clashes()
        change.validate()
    except (DaemonJsonError, OwnershipError, UnicodeDecodeError) as error:
        module.fail_json(msg=str(error))
    module.exit_json(**run(module, change, reasons))


def run(module: AnsibleModule, change: Change, reasons: list) -> dict:
    """Do it, or say in check mode what would be done."""
    if change.present and not change.docker.program and not module.check_mode:
        module.fail_json(
            msg="There is no dockerd on this host; needed is a Docker Engine. "
            "Run the role docker_engine first."
        )
    pending = reasons if module.params["restart"] == "never" else []
    restart = bool(reasons) and not pending
    info = change.info or {}
    running = int(info.get("ContainersRunning") or 0)
    if not module.check_mode:
        change.write()
        failed = change.prove() if restart else None
        if failed:
            module.fail_json(msg=change.take_back(failed))
        change.forget()
    for note in [*change.notes, *warnings(module, change, running if restart else 0, pending)]:
        # A task's message is not shown at the usual verbosity, a warning is.
        module.warn(note)
    changed = change.changed or restart or change.owned_after != change.owned_before
    return {
        "changed": changed,
        "due": changed,
        "msg": told(module, change, [] if pending else reasons, running),
        "restarted": restart,
        "pending": pending,
        "containers_running": running,
        "containers": change.engine["containers"],
        "diff": difference(change),
        **({"backup": change.backup} if change.backup else {}),
    }


def warnings(module: AnsibleModule, change: Change, running: int, pending: list) -> list:
    """Return what is lost by a restart, and what waits for one."""
    names = change.engine["containers"]
    which = f": {running}" + (f" ({named(names)})" if names else "") + "."
    said = []
    if running and (change.info or {}).get("LiveRestoreEnabled"):
        said.append(f"live-restore is on: containers that run stay up over Docker's restart{which}")
    elif running:
        will = "will stop" if module.check_mode else "stopped"
        said.append(f"Docker's restart {will} the containers that were running{which}")
    if pending:
        said.append(
            f"docker_nvidia_runtime_restart is never, so Docker was not restarted ({'; '.join(pending)}): it "
            "runs on with what it read before. Do it when it suits (`systemctl restart docker`); until then "
            "the check runtime.in-daemon may fail."
        )
    return said


def told(module: AnsibleModule, change: Change, reasons: list, running: int) -> str:
    """Return one sentence on what was done, or would be, and one on `--gpus`."""
    was = "would be" if module.check_mode else "was"
    way = gpus_way(change.info) if change.present else ""
    then = f" {way}." if way else ""
    if reasons:
        return f"Docker {was} restarted ({running} containers ran): {'; '.join(reasons)}.{then}"
    if change.changed and not change.docker.program:
        return f"{change.path} {was} changed; there is no Docker to restart."
    if change.changed:
        return f"{change.path} {was} changed, and Docker not restarted.{then}"
    return f"{change.path} stays as it is{', and Docker runs on' if change.docker.program else ''}.{then}"


def difference(change: Change) -> dict:
    return {
        "before_header": str(change.path),
        "after_header": str(change.path),
        "before": (change.before or b"").decode(),
        "after": (change.after or b"").decode(),
    }


if __name__ == "__main__":
    main()
