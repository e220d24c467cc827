"""Locks of the package managers: waited for with the holder named, never deleted."""

from __future__ import annotations

import fcntl
import os
import struct
import time
from pathlib import Path

from .gpu_host_refused import RefusedError

APT = (
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/lib/apt/lists/lock",
    "/var/cache/apt/archives/lock",
)
# dnf writes its process id into files of its own; rpm locks as dpkg does.
DNF = (
    "/var/cache/dnf/metadata_lock.pid",
    "/var/cache/dnf/download_lock.pid",
    "/var/lib/dnf/rpmdb_lock.pid",
    "/var/lib/rpm/.rpm.lock",
    "/usr/lib/sysimage/rpm/.rpm.lock",
)
# struct flock on 64-bit Linux: type, whence, start, length, pid.
FLOCK = "hhqqi4x"


def holder(path: str) -> int | None:
    """Return the process that holds a lock on a file; None where nobody does."""
    if path.endswith(".pid"):
        return written(path)
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


def written(path: str) -> int | None:
    """Return the process whose number stands in a file, if it still runs."""
    try:
        pid = int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return pid if Path(f"/proc/{pid}").exists() else None


def named(pid: int) -> str:
    """Name a process as a person finds it."""
    if pid <= 0:
        return "a process outside of this container"
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        name = "a process that is gone"
    return f"{name} (process {pid})"


def held(paths: tuple) -> tuple | None:
    """Return the first lock that is held, and its holder."""
    for path in paths:
        pid = holder(path)
        if pid is not None:
            return path, named(pid)
    return None


def wait(paths: tuple, seconds: float, warn, step: float = 1) -> None:
    """Wait until none of the locks is held; say once who is waited for."""
    until = time.monotonic() + seconds
    while (found := held(paths)) is not None:
        if time.monotonic() >= until:
            raise RefusedError(
                "lock",
                f"{found[0]} is held by {found[1]} for more than {seconds} s. Needed is that it ends: let it "
                "finish (`ps -fp` with that number shows it), and run again. A lock is never deleted.",
            )
        warn(f"Waited for {found[1]}, which held {found[0]}.")
        time.sleep(step)
