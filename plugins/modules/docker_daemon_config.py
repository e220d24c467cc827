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

import os
import tempfile
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.gpu_host_daemon_json import DaemonJsonError, dump, indent_of, parse
from ansible.module_utils.gpu_host_daemon_merge import needs_cdi, register, unregister, version_of
from ansible.module_utils.gpu_host_dockerd import Dockerd, lacks
from ansible.module_utils.gpu_host_ownership import OwnershipError, claim, drop, empty, entry
from ansible.module_utils.gpu_host_ownership import dump as dump_owned
from ansible.module_utils.gpu_host_ownership import parse as parse_owned

VALIDATES = (23, 0)


def read(path: Path) -> bytes | None:
    """Return the file's bytes, None where there is none; refuse what cannot be one."""
    if path.is_dir():
        raise DaemonJsonError(
            f"{path} is a directory; needed is a file, or nothing. Remove it, and run again."
        )
    if path.is_symlink() and not path.exists():
        raise DaemonJsonError(
            f"{path} is a link to {os.path.realpath(path)}, which does not exist; needed is a file. "
            "Make that file or remove the link, and run again."
        )
    return path.read_bytes() if path.exists() else None


class Change:
    """One change of the file: what it was, what it becomes, and the way back."""

    def __init__(self, module: AnsibleModule) -> None:
        self.module = module
        self.docker = Dockerd()
        # A link stays a link: what it leads to is changed.
        self.before = read(Path(module.params["path"]))
        self.path = Path(os.path.realpath(module.params["path"]))
        self.owned_path = Path(module.params["owned"])
        self.owned_before = self.owned_path.read_bytes() if self.owned_path.exists() else None
        owned = (
            empty()
            if self.owned_before is None
            else parse_owned(self.owned_before.decode(), str(self.owned_path))
        )
        self.backup: str | None = None
        self.plan(owned)

    def plan(self, owned: dict) -> None:
        """Work out what the file and the ownership file become; changes nothing."""
        role, path = self.module.params["role"], str(self.path)
        document = parse(self.before or b"", path)
        version = version_of(self.docker.version())
        keys = entry(owned, role)["settings"].get("keys", {})
        if self.module.params["state"] == "present":
            self.document, ours, self.notes = register(
                document, path, default=self.module.params["default_runtime"], cdi=needs_cdi(version)
            )
            if self.before is not None and not self.before.strip():
                self.notes.insert(
                    0, f"{path} was empty; treated as {{}}. dockerd itself would not start with it."
                )
            # What was noted first knows what was there before us.
            kept = {
                name: {**noted, **keys.get(name, {}), "set": noted["set"]} for name, noted in ours.items()
            }
            new = {"packages": [], "files": [path] if self.before is None else []}
            owned = claim(owned, role, new, {"keys": {**keys, **kept}}) if ours else owned
            self.removes = False
        else:
            self.document, self.notes = unregister(document, path, keys)
            self.removes = (
                not self.document and path in entry(owned, role)["files"] and self.before is not None
            )
            owned = drop(owned, role)
        same = self.document == document and (self.before is None or self.before.strip() or not self.document)
        self.after = (
            None
            if self.removes
            else self.before
            if same
            else dump(self.document, indent_of(self.before or b""))
        )
        self.owned_after = (
            None if owned == empty() and self.owned_before is None else dump_owned(owned).encode()
        )
        self.validates = version is not None and version >= VALIDATES

    @property
    def changed(self) -> bool:
        """Whether the file becomes another one."""
        return self.after != self.before

    def put(self, path: Path, content: bytes | None) -> None:
        """Write a file whole or not at all, with the mode and owner that it had; None removes it."""
        if content is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        fresh = self.temporary(content, str(path.parent))
        Path(fresh).chmod(0o644)
        self.module.atomic_move(fresh, str(path))

    def temporary(self, content: bytes, folder: str) -> str:
        """Return a new file with this content, on the disk and not only on its way there."""
        handle, fresh = tempfile.mkstemp(dir=folder, prefix=".gpu-host.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        return fresh

    def validate(self) -> None:
        """Let dockerd itself read the new file, before it is put in place."""
        if not self.changed or self.after is None or not self.validates:
            return
        fresh = self.temporary(self.after, self.module.tmpdir)
        objection = self.docker.objection(fresh)
        if objection:
            raise DaemonJsonError(
                f"dockerd refuses {self.path} with NVIDIA's runtime in it: "
                f"{objection.replace(fresh, str(self.path))}. "
                "Nothing was changed and Docker was not restarted: correct what it names, and run again."
            )

    def write(self) -> None:
        """Note what will be ours, keep a copy of the file, write the new one."""
        # Noted first: an interrupted run leaves a note too many, never a change that nobody owns.
        if self.owned_after != self.owned_before and self.module.params["state"] == "present":
            self.put(self.owned_path, self.owned_after)
        if self.changed:
            if self.before is not None:
                self.backup = self.module.backup_local(str(self.path))
            self.put(self.path, self.after)

    def forget(self) -> None:
        """After everything is taken out: it is nobody's any more."""
        if self.owned_after != self.owned_before and self.module.params["state"] == "absent":
            self.put(self.owned_path, self.owned_after)

    def prove(self) -> str | None:
        """Restart, and return what the daemon then fails to show; None where it shows all."""
        return self.docker.restart() or "; ".join(lacks(self.docker.info(), self.document)) or None

    def take_back(self, why: str) -> str:
        """Put the old files back and Docker on its feet; return the whole story."""
        if not self.changed:
            return (
                f"Docker was restarted and does not do what {self.path} says: {why}. "
                "The file was not changed. "
                "Does this daemon read another one, or is a key also a flag? Look at `systemctl cat docker` "
                "and `journalctl -u docker`."
            )
        self.put(self.path, self.before)
        self.put(self.owned_path, self.owned_before)
        if self.backup:
            Path(self.backup).unlink()
        place = "is removed again" if self.before is None else "is back byte for byte"
        still = self.docker.restart()
        then = (
            f"does not start with that either ({still}): read `journalctl -u docker`"
            if still
            else "runs again"
        )
        return (
            f"Docker did not take the new {self.path}: {why}. The old file {place}, and Docker {then}. "
            "Correct what Docker names, and run again."
        )


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
    restart = bool(reasons) and docker.program is not None
    running = int((info or {}).get("ContainersRunning") or 0)
    if not module.check_mode:
        change.write()
        failed = change.prove() if restart else None
        if failed:
            module.fail_json(msg=change.take_back(failed))
        change.forget()
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
    return f"{change.path} stays as it is, and Docker runs on."


def difference(change: Change) -> dict:
    return {
        "before_header": str(change.path),
        "after_header": str(change.path),
        "before": (change.before or b"").decode(),
        "after": (change.after or b"").decode(),
    }


if __name__ == "__main__":
    main()
