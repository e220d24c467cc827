"""Docker's data-root in daemon.json: put in, taken out again, everything else kept."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .gpu_host_daemon_files import put, read, temporary
from .gpu_host_daemon_json import dump, indent_of, parse
from .gpu_host_daemon_merge import section, version_of
from .gpu_host_refused import RefusedError

VALIDATES = (23, 0)
STORE = "containerd-snapshotter"
RUNTIME = "docker_nvidia_runtime"  # the other role that has keys in this file


def with_root(document: dict[str, Any], path: str, root: str, *, graph: bool) -> dict[str, Any]:
    """Return the document with the data-root; ``graph``: a new engine is to keep its images there too."""
    after = {**document, "data-root": root}
    after.pop("graph", None)
    features = section(document, "features", path)
    if graph and STORE not in features:
        after["features"] = {**features, STORE: False}
    return after


def without_root(document: dict[str, Any], path: str, noted: dict[str, Any]) -> dict[str, Any]:
    """Return the document without what is ours of it; what was changed since is the user's, and stays."""
    after = dict(document)
    if after.get("data-root") == noted["set"]:
        del after["data-root"]
        if noted.get("before"):
            after["data-root"] = noted["before"]
    features = section(document, "features", path)
    if noted.get("store") and features.get(STORE) is False:
        del features[STORE]
        after["features"] = features
        if not features and noted["store"] == "made":
            del after["features"]
    return after


class Config:
    """The file that dockerd reads."""

    def __init__(self, module, docker, path):
        self.module, self.docker = module, docker
        self.path = Path(os.path.realpath(path))
        self.before = read(Path(path))
        self.document = parse(self.before or b"", str(self.path))
        self.backup = None

    @property
    def root(self):
        """Return the data-root that the file names, empty where it names none."""
        return str(self.document.get("data-root") or "").rstrip("/")

    def set(self, notes, root, *, graph):
        """Write the data-root, validated by dockerd where it can; noted before."""
        after = with_root(self.document, str(self.path), root, graph=graph)
        if after == self.document:
            return
        content = dump(after, indent_of(self.before or b""))
        self.validate(content)
        noted = notes.settings.get("data_root") or {"before": self.document.get("data-root")}
        made = "made" if self.document.get("features") is None else "added"
        added = STORE in (after.get("features") or {}) and STORE not in (self.document.get("features") or {})
        store = made if added else noted.get("store")
        # Of two roles that have keys in it, whichever goes last takes the file away.
        files = [str(self.path)] if self.before is None or notes.owned_elsewhere(str(self.path)) else []
        notes.note(files, data_root={**noted, "set": root, "path": str(self.path), "store": store})
        if self.before is not None:
            self.backup = self.module.backup_local(str(self.path))
        put(self.module, self.path, content)

    def validate(self, content):
        """Let dockerd itself read the new file first."""
        version = version_of(self.docker.version())
        if version is None or version < VALIDATES:
            return
        fresh = temporary(content, self.module.tmpdir)
        objection = self.docker.objection(fresh)
        Path(fresh).unlink()
        if objection:
            said = objection.replace(fresh, str(self.path))
            raise RefusedError(
                "config",
                f"dockerd refuses {self.path} with a data-root in it: {said}. Correct it, and run again.",
            )

    def put_back(self):
        """Write the file as it was."""
        put(self.module, self.path, self.before)
        if self.backup:
            Path(self.backup).unlink()

    def clear(self, notes):
        """Take out what is ours; return which role the file is left to."""
        noted = notes.settings.get("data_root")
        if not noted or self.before is None:
            return []
        after = without_root(self.document, str(self.path), noted)
        mine = str(self.path) in notes.files
        if not after and mine:
            put(self.module, self.path, None)
        elif after != self.document:
            put(self.module, self.path, dump(after, indent_of(self.before)))
        return [(RUNTIME, str(self.path))] if mine and after else []
