"""One change of daemon.json: planned, validated, written, proven by the running daemon or taken back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .gpu_host_daemon_cgroups import advice
from .gpu_host_daemon_files import put, read, temporary
from .gpu_host_daemon_flags import cdi_by_flag, clashes, runtime_by_flag, values
from .gpu_host_daemon_json import DaemonJsonError, dump, indent_of, parse
from .gpu_host_daemon_merge import ENTRY, NAME, needs_cdi, register, unregister, version_of
from .gpu_host_dockerd import Dockerd, lacks
from .gpu_host_engine import CONFIG, stranger
from .gpu_host_ownership import claim, drop, empty, entry
from .gpu_host_ownership import dump as dump_owned
from .gpu_host_ownership import parse as parse_owned

VALIDATES = (23, 0)
ARGUMENTS = {
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "default_runtime": {"type": "str"},
    "restart": {"type": "str", "choices": ["auto", "never"], "default": "auto"},
    "path": {"type": "path"},
    "owned": {"type": "path", "default": "/var/lib/gpu-host/owned.json"},
    "role": {"type": "str", "default": "docker_nvidia_runtime"},
    "hook": {"type": "path", "default": "/usr/bin/nvidia-container-runtime-hook"},
}


class Change:
    """One change of the file: what it was, what it becomes, and the way back."""

    def __init__(self, module: Any) -> None:
        self.module = module
        self.docker = Dockerd()
        self.engine = self.docker.engine()
        self.present = module.params["state"] == "present"
        self.owned_path = Path(module.params["owned"])
        self.owned_before = self.owned_path.read_bytes() if self.owned_path.exists() else None
        owned = (
            empty()
            if self.owned_before is None
            else parse_owned(self.owned_before.decode(), str(self.owned_path))
        )
        other = stranger(self.engine)
        # In check mode an engine that is about to be put beside it is not there yet.
        if self.present and other and (self.docker.program or not module.check_mode):
            raise DaemonJsonError(f"This daemon does not read {CONFIG}: {other}. Nothing was changed.")
        noted = entry(owned, module.params["role"])["settings"]
        asked = Path(module.params["path"] or noted.get("path") or self.engine["config_file"])
        # A link stays a link: what it leads to is changed.
        self.before = read(asked)
        self.path = Path(os.path.realpath(asked))
        self.backup: str | None = None
        self.info: dict | None = None
        self.plan(owned)

    def plan(self, owned: dict) -> None:
        """Work out what the file and the ownership file become; changes nothing."""
        role, path = self.module.params["role"], str(self.path)
        document = parse(self.before or b"", path)
        version = version_of(self.docker.version())
        keys = entry(owned, role)["settings"].get("keys", {})
        self.clashes = clashes(self.engine["flags"], document)
        if self.present:
            self.document, ours, self.notes = register(
                document,
                path,
                default=self.module.params["default_runtime"],
                cdi=needs_cdi(version),
                flags=self.engine["flags"],
            )
            self.notes = [*self.remarks(path), *self.notes]
            # What was noted first knows what was there before us.
            kept = {
                name: {**noted, **keys.get(name, {}), "set": noted["set"]} for name, noted in ours.items()
            }
            new = {"packages": [], "files": [path] if self.before is None else []}
            settings = {"keys": {**keys, **kept}, **({} if path == CONFIG else {"path": path})}
            owned = claim(owned, role, new, settings) if ours else owned
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

    def remarks(self, path: str) -> list:
        """Return what the user should know of the file and of what lies beside it."""
        said = []
        if self.before is not None and not self.before.strip():
            said.append(f"{path} was empty; treated as {{}}. dockerd itself would not start with it.")
        elsewhere = values(self.engine["flags"], "config-file")
        if elsewhere:
            said.append(f"dockerd is started with --config-file {elsewhere[-1]}: that file is the one.")
        wrong = advice(on=bool(self.engine["no_cgroups"]), rootless_too=bool(self.engine["rootless"]))
        return [*said, *([wrong] if wrong else [])]

    def refuse_clashes(self) -> None:
        """Refuse what dockerd would not start with, whoever wrote it: before anything is changed."""
        if not self.clashes:
            return
        both = ", ".join(f"{key} (flag: {' '.join(said)})" for key, said in sorted(self.clashes.items()))
        now = (
            "Docker runs with what it read before, and its next start would fail"
            if self.engine["active"]
            else "that is why Docker is down, and not this role's doing"
        )
        raise DaemonJsonError(
            f"{self.path} and dockerd's command line both set {both}; dockerd starts only where each is said "
            f"once, so {now}. Nothing was changed and Docker was not restarted: take it out of {self.path}, "
            "or out of the unit (`systemctl edit docker`: an empty ExecStart=, then one without it), and run "
            "again."
        )

    def wanted(self) -> dict:
        """Return what the running daemon has to show: the file, and what flags say in its place."""
        given = self.engine["flags"]
        more: dict = {}
        if runtime_by_flag(given, NAME) is not None:
            more["runtimes"] = {**(self.document.get("runtimes") or {}), NAME: dict(ENTRY)}
        if cdi_by_flag(given):
            more["features"] = {"cdi": True}
        return {**self.document, **more}

    @property
    def changed(self) -> bool:
        """Whether the file becomes another one."""
        return self.after != self.before

    def reasons(self) -> list:
        """Return why Docker has to be restarted."""
        said = [f"{self.path.name} changed"] if self.changed else []
        hook = self.module.params["hook"]
        if self.present:
            said += [] if self.changed else lacks(self.info, self.wanted())
            if self.docker.older_than(hook):
                said.append(f"{hook} came after Docker's start")
        # Docker that was stopped on purpose is not started to take something out.
        return said if self.docker.program is not None and (self.present or self.docker.running()) else []

    def validate(self) -> None:
        """Let dockerd itself read the new file, before it is put in place."""
        if not self.changed or self.after is None or not self.validates:
            return
        fresh = temporary(self.after, self.module.tmpdir)
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
        if self.owned_after != self.owned_before and self.present:
            put(self.module, self.owned_path, self.owned_after)
        if self.changed:
            # Nothing of the user's is in a file that goes away whole.
            if self.before is not None and not self.removes:
                self.backup = self.module.backup_local(str(self.path))
            put(self.module, self.path, self.after)

    def forget(self) -> None:
        """After everything is taken out: it is nobody's any more."""
        if self.owned_after != self.owned_before and not self.present:
            put(self.module, self.owned_path, self.owned_after)

    def prove(self) -> str | None:
        """Restart, and return what the daemon then fails to show; None where it shows all."""
        failed = self.docker.restart()
        if failed:
            return failed
        self.info = self.docker.info()
        return "; ".join(lacks(self.info, self.wanted())) or None

    def take_back(self, why: str) -> str:
        """Put the old files back and Docker on its feet; return the whole story."""
        if not self.changed:
            return (
                f"Docker was restarted and does not do what {self.path} says: {why}. "
                f"The file was not changed. {self.reads()} Look at `systemctl cat docker` "
                "and `journalctl -u docker`."
            )
        put(self.module, self.path, self.before)
        put(self.module, self.owned_path, self.owned_before)
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
            f"{self.reads(quiet=True)}Correct what Docker names, and run again."
        )

    def reads(self, *, quiet: bool = False) -> str:
        """Name the other file or the other daemon, where one is known."""
        file = self.engine["config_file"]
        other = stranger(self.docker.engine())
        if os.path.realpath(file) != str(self.path):
            return f"dockerd reads {file} here, not {self.path}. "
        if other:
            return f"This daemon does not read {self.path}: {other}. "
        return "" if quiet else "Does this daemon read another one?"
