"""What the race ran on: the CPU, the card as nvidia-smi names it, the versions of all that calculates."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from verify.race import RACE_VERSION, cores, surroundings
from verify.race.libraries import BESIDE, DISTRIBUTIONS, Libraries, distribution_version

SIMULATED_MARKER = Path("/etc/gpu-host/simulated")
PEAKS = Path(__file__).parents[1] / "compat" / "peaks.json"
NAMED = ("name", "driver_version", "memory.total")
MORE = ("uuid", "pci.device_id", "compute_cap", "power.limit", "power.default_limit")
QUERY = ("nvidia-smi", f"--query-gpu={','.join(NAMED)}", "--format=csv,noheader,nounits")
QUERY_SECONDS = 20
NVIDIA = "10de"

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


def card(command: Command = run, peaks: Path = PEAKS, uuid: str | None = None) -> dict[str, Any] | None:
    """Return the card that is raced, as the driver reports it, and how many there are; None without one.

    ``uuid`` is that card's, as torch has it: CUDA counts cards in an order of its own, and only those that it
    was shown. Of several without it, or where the driver does not know it (a MIG instance), the first gives
    its name and nothing that a figure could be held against.
    What an older driver does not know is asked for one by one, so that it costs no other field.
    """
    rows = _rows(command(QUERY))
    if not rows:
        return None
    which = () if uuid is None else (f"--id={uuid}",)
    named = _rows(command((*QUERY, *which)))
    sure = bool(which and named) or len(rows) == 1
    name, driver, memory = (named or rows)[0]
    more = {field: _field(field, command, which if named else ()) if sure else None for field in MORE}
    pci_id = _pci_id(more["pci.device_id"])
    return {
        "name": name,
        "driver": driver,
        # "[N/A]" on cards that share the host's memory
        "memory_mib": int(memory) if memory.isdigit() else None,
        "count": len(rows),
        "uuid": more["uuid"],
        "pci_id": pci_id,
        "compute_capability": more["compute_cap"],
        "power_limit_w": _number(more["power.limit"]),
        "power_default_w": _number(more["power.default_limit"]),
        "peak": peak(pci_id, peaks),
    }


def listed(command: Command = run) -> bool:
    """Whether the driver lists any card."""
    return bool(_rows(command(QUERY)))


def peak(pci_id: str | None, peaks: Path = PEAKS) -> dict[str, Any] | None:
    """Return what the table of peaks says of a card; None without a table, or where it is not in it."""
    vendor, _, device = (pci_id or "").partition(":")
    if vendor != NVIDIA:
        return None
    try:
        rows = json.loads(peaks.read_text(encoding="utf-8"))["peaks"]
        row = next((row for row in rows if device in row["ids"]), None)
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return None if row is None else {key: value for key, value in row.items() if key != "ids"}


def cpu(libraries: Libraries, root: Path = Path("/")) -> dict[str, Any]:
    """Return the CPU's model, its cores, those that this process may use and why, and the lanes' threads."""
    mine = cores.affinity()
    return {
        "model": _model(root / "proc/cpuinfo") or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "usable_cores": cores.usable(root),
        "threads": cores.threads(root) if {"torch", "sklearn"} & set(libraries.modules) else None,
        "affinity_cores": None if mine is None else len(mine),
        "quota_cores": cores.quota(root),
        "load_1m": _load(),
        "swap_used_mib": surroundings.swap_used_mib(root),
        "memory_mib": surroundings.meminfo_mib("MemTotal", root),
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
    beside = {name: distribution_version(name) for name in BESIDE}
    return {**found, "cuda": cuda, "cudnn": cudnn, **beside}


def _rows(said: str | None) -> list[list[str]]:
    rows = [[value.strip() for value in line.split(", ")] for line in (said or "").splitlines()]
    return [row for row in rows if len(row) == len(NAMED)]


def _field(name: str, command: Command, which: tuple[str, ...]) -> str | None:
    lines = (command((QUERY[0], f"--query-gpu={name}", QUERY[2], *which)) or "").splitlines()
    said = lines[0].strip() if lines else ""
    return None if not said or said.startswith("[") or said.upper() == "N/A" else said


def _pci_id(said: str | None) -> str | None:
    """Return 0x268410DE, device before vendor, as the 10de:2684 that lspci writes."""
    found = re.fullmatch(r"0x([0-9A-Fa-f]{4})([0-9A-Fa-f]{4})", said or "")
    return f"{found.group(2)}:{found.group(1)}".lower() if found else None


def _number(said: str | None) -> float | None:
    try:
        return None if said is None else float(said)
    except ValueError:
        return None


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None


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
