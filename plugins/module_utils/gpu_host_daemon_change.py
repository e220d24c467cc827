"""One change of daemon.json: planned, validated, written, proven by the running daemon or taken back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from .gpu_host_daemon_json import DaemonJsonError, dump, indent_of, parse
from .gpu_host_daemon_merge import needs_cdi, register, unregister, version_of
from .gpu_host_dockerd import Dockerd, lacks
from .gpu_host_ownership import claim, drop, empty, entry
from .gpu_host_ownership import dump as dump_owned
from .gpu_host_ownership import parse as parse_owned

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

    def __init__(self, module: Any) -> None:
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
        new = not path.exists()
        self.module.atomic_move(self.temporary(content, str(path.parent)), str(path))
        if new:
            path.chmod(0o644)  # whatever root's umask is

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
            # Nothing of the user's is in a file that goes away whole.
            if self.before is not None and not self.removes:
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
