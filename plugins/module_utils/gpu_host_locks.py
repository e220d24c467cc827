"""Locks of the package managers: waited for with the holder named, never deleted."""

from __future__ import annotations

import fcntl
import os
import struct
from pathlib import Path

APT = (
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/lib/apt/lists/lock",
    "/var/cache/apt/archives/lock",
)
DNF = ("/var/lib/rpm/.rpm.lock", "/var/cache/dnf/metadata_lock.pid", "/var/cache/dnf/download_lock.pid")
# struct flock on 64-bit Linux: type, whence, start, length, pid.
FLOCK = "hhqqi4x"


def holder(path: str) -> int | None:
    """Return the process that holds a lock on a file; None where nobody does."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        asked = struct.pack(FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(FLOCK, fcntl.fcntl(handle, fcntl.F_GETLK, asked))
    finally:
        os.close(handle)
    return None if kind == fcntl.F_UNLCK else pid


def named(pid: int) -> str:
    """Name a process as a person finds it."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        name = "a process outside of this container" if pid <= 0 else "a process that is gone"
    return f"{name} (process {pid})"


def held(paths: tuple) -> tuple | None:
    """Return the first lock that is held, and its holder."""
    for path in paths:
        pid = holder(path)
        if pid is not None:
            return path, named(pid)
    return None
