"""What the race ran on: the CPU, the card as nvidia-smi names it, the versions of all that calculates."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from verify.race import RACE_VERSION
from verify.race.libraries import DISTRIBUTIONS, Libraries

SIMULATED_MARKER = Path("/etc/gpu-host/simulated")
QUERY = ("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits")
QUERY_SECONDS = 20

Command = Callable[[tuple[str, ...]], Optional[str]]  # noqa: UP045  # evaluated when imported, on Python 3.9 too


def run(argv: tuple[str, ...]) -> str | None:
    """Return what a command printed; None where there is none, or it failed or hung."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=QUERY_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def simulated(marker: Path = SIMULATED_MARKER) -> bool:
    """Whether this machine's cards are stand-ins."""
    return marker.exists()


def card(command: Command = run) -> dict[str, Any] | None:
    """Return the first card as the driver reports it, and how many there are; None where it reports none."""
    rows = [line.split(", ") for line in (command(QUERY) or "").splitlines()]
    rows = [[value.strip() for value in row] for row in rows if len(row) == len(("name", "driver", "memory"))]
    if not rows:
        return None
    name, driver, memory = rows[0]
    return {
        "name": name,
        "driver": driver,
        "memory_mib": int(memory)
        if memory.isdigit()
        else None,  # "[N/A]" on cards that share the host's memory
        "count": len(rows),
    }


def cpu(libraries: Libraries, cpuinfo: Path = Path("/proc/cpuinfo")) -> dict[str, Any]:
    """Return the CPU's model, its cores, those that this process may use, and torch's threads."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        usable = None
    return {
        "model": _model(cpuinfo) or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "threads": int(libraries["torch"].get_num_threads()) if "torch" in libraries else None,
    }


def versions(libraries: Libraries) -> dict[str, Any]:
    """Return the version of everything that has a say in the times; None for what is not there."""
    found: dict[str, Any] = {"race": RACE_VERSION, "python": platform.python_version()}
    found.update({DISTRIBUTIONS[name]: libraries.version(name) for name in DISTRIBUTIONS})
    cuda = cudnn = None
    if "torch" in libraries:
        torch = libraries["torch"]
        cuda = torch.version.cuda
        cudnn = torch.backends.cudnn.version() if cuda else None
    return {**found, "cuda": cuda, "cudnn": cudnn}


def _model(cpuinfo: Path) -> str | None:
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() in {"model name", "Model", "cpu model"}:
            return value.strip()
    return None
