"""Who else uses the card: the processes that NVML lists, less the race and all that it has started."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The kernel gives its first PID namespace this inode (PROC_PID_INIT_INO, include/linux/proc_ns.h).
HOST_PIDS = "pid:[4026531836]"
PROC = Path("/proc")


def others(
    listed: Sequence[int] | None, own: int, proc: Path = PROC, there: Callable[[int], bool] | None = None
) -> int | None:
    """Return how many of these processes are not ``own`` or its children; None where that cannot be told.

    NVML gives the host's ids. In a container those mean nothing, and nothing in it can translate them. One
    that has ended is listed for a moment longer: a script's own, when its repeat is over; it uses nothing.
    """
    try:
        here = str(Path(proc / "self/ns/pid").readlink())
    except OSError:
        return None
    if listed is None or here != HOST_PIDS:
        return None
    return sum(1 for pid in set(listed) if (there or exists)(pid) and not _descends(pid, own, proc))


def exists(pid: int) -> bool:
    """Whether there is such a process, also where /proc hides it from us (hidepid)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _descends(pid: int, from_pid: int, proc: Path) -> bool:
    while pid > 1:
        if pid == from_pid:
            return True
        try:
            stat = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
            pid = int(stat.rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False
