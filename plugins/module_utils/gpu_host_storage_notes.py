"""What gpu_storage notes of itself, before each change; and one run at a time."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from .gpu_host_owned_file import load, save
from .gpu_host_ownership import claim, drop, entry, settle
from .gpu_host_refused import RefusedError

LOCK = "/run/gpu-host-storage.lock"


class Notes:
    """The role's part of the ownership file, written at each change of it."""

    def __init__(self, module):
        self.module, self.role = module, module.params["role"]
        self.path = Path(module.params["owned"])
        self.document = load(module, self.path)

    @property
    def settings(self):
        """Return what was noted to undo or to go on with."""
        return entry(self.document, self.role)["settings"]

    @property
    def files(self):
        """Return the files that are ours."""
        return entry(self.document, self.role)["files"]

    def note(self, files=(), **settings):
        """Note files that are about to be ours, and settings."""
        self.keep(claim(self.document, self.role, {"files": list(files)}, settings))

    def forget(self, setting):
        """Take one note out."""
        self.keep(settle(self.document, self.role, setting))

    def disown(self, file):
        """Take one file out: it is as if it had never been ours."""
        owned = entry(self.document, self.role)
        owned["files"] = [name for name in owned["files"] if name != file]
        self.keep({**self.document, "roles": {**self.document["roles"], self.role: owned}})

    def owned_elsewhere(self, file):
        """Tell whether another role brought a file."""
        return any(file in owned.get("files", []) for owned in self.document["roles"].values())

    def end(self, left=()):
        """Nothing is ours any more; a file that stays for another role's part becomes that one's."""
        after = drop(self.document, self.role)
        for role, file in left:
            if role in after["roles"]:
                after = claim(after, role, {"files": [file]}, {})
        self.keep(after)

    def keep(self, document):
        """Write it where it changed."""
        if document != self.document:
            self.document = document
            save(self.module, self.path, document)


def alone(path=LOCK):
    """Return a lock that what is started from here holds too: a copy may outlive the run that began it."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise RefusedError(
            "locked",
            (
                "Another run of gpu_storage, or a copy that one began, is at work on this host; needed is "
                "its end (`pgrep -af docker.part` may show it). Wait for that, and run again."
            ),
        ) from error
    os.set_inheritable(handle, True)  # noqa: FBT003  # takes no keyword
    return handle
