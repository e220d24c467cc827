"""What else the machine did while a lane ran: the CPU time of others, and swapping."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path("/")
SHORTEST_SECONDS = 0.3  # the kernel counts in hundredths: less says nothing
BUSY_SHARE = 0.10
BUSY_CORES = 0.25
SWAPPED_MIB = 1
FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
WORKING = ("user", "nice", "system", "irq", "softirq", "steal")


@dataclass(frozen=True)
class Snapshot:
    """The kernel's counters at one moment; None where it does not tell them."""

    at: float
    busy_s: float | None
    own_s: float
    swapped_bytes: int | None


def look(root: Path = ROOT, now: Callable[[], float] = time.perf_counter) -> Snapshot:
    """Read the counters of the whole machine: a container sees those of its host."""
    own = os.times()
    mine = own.user + own.system + own.children_user + own.children_system
    return Snapshot(now(), _busy(root), mine, _swapped(root))


def warnings(before: Snapshot, after: Snapshot, cores: int | None) -> tuple[Message, ...]:
    """Say what others did between two looks."""
    found = []
    elapsed = after.at - before.at
    if before.busy_s is not None and after.busy_s is not None and elapsed >= SHORTEST_SECONDS:
        others = (after.busy_s - before.busy_s - (after.own_s - before.own_s)) / elapsed
        if others > max(BUSY_CORES, BUSY_SHARE * (cores or 1)):
            found.append(message("cpu-busy", load=others, cores=cores))
    if before.swapped_bytes is not None and after.swapped_bytes is not None:
        mib = (after.swapped_bytes - before.swapped_bytes) // 2**20
        if mib >= SWAPPED_MIB:
            found.append(message("swap", mib=mib))
    return tuple(found)


def swap_used_mib(root: Path = ROOT) -> int | None:
    """Return how much of the machine's memory is swapped out."""
    total, free = meminfo_mib("SwapTotal", root), meminfo_mib("SwapFree", root)
    return None if total is None or free is None else total - free


def meminfo_mib(name: str, root: Path = ROOT) -> int | None:
    """Return one line of /proc/meminfo in MiB."""
    for line in _lines(root / "proc/meminfo"):
        key, _, value = line.partition(":")
        words = value.split()
        if key == name and words and words[0].isdigit():
            return int(words[0]) // 1024
    return None


def _busy(root: Path) -> float | None:
    """Return the seconds that all cores together have worked, what a hypervisor gave to others included."""
    for line in _lines(root / "proc/stat"):
        words = line.split()
        if words[:1] == ["cpu"] and all(word.isdigit() for word in words[1:]):
            counts = dict(zip(FIELDS, map(int, words[1:])))  # noqa: B905  # Python 3.9
            return sum(counts.get(name, 0) for name in WORKING) / os.sysconf("SC_CLK_TCK")
    return None


def _swapped(root: Path) -> int | None:
    counts = dict(line.split()[:2] for line in _lines(root / "proc/vmstat") if len(line.split()) > 1)
    try:
        return (int(counts["pswpin"]) + int(counts["pswpout"])) * os.sysconf("SC_PAGE_SIZE")
    except (KeyError, ValueError):
        return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
