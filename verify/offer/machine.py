"""Cores, memory, shared memory, how cards are joined to the machine and to each other. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.peers import peer_facts
from verify.facts.reading import whole
from verify.facts.smi import xml_cards
from verify.facts.source import cite, cite_command, file_text, first_line
from verify.json_values import as_whole

if TYPE_CHECKING:
    from verify.recording import Recording

_KIB = 1024
_TOTAL = re.compile(r"^MemTotal:\s+(\d+) kB", re.MULTILINE)
_V1 = "/sys/fs/cgroup/memory/memory.limit_in_bytes"
_LONGEST = 2**62  # version 1 writes "no limit" as a number near 2^63
_MAX, _MEMORY_MAX = "/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/memory.max"
_QUOTA, _PERIOD = "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"
_LINK = "pci/pci_gpu_link_info"
_GEN = f"{_LINK}/pcie_gen"
_VENDOR, _PRODUCT = "/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name"


@dataclass(frozen=True, slots=True)
class Link:
    """How wide a card's bus is now, and how wide it could be; None is what nvidia-smi does not say."""

    width: int | None
    most: int | None
    generation: int | None
    most_generation: int | None

    def __str__(self) -> str:
        wide = f"x{self.width}" if self.width is not None else "width unknown"
        most = f" of x{self.most}" if self.most is not None else ""
        kind = f", generation {self.generation}" if self.generation is not None else ""
        best = f" of {self.most_generation}" if kind and self.most_generation is not None else ""
        return wide + most + kind + best


@dataclass(frozen=True, slots=True)
class Machine:
    """What is None was not recorded. ``quota``: cores that a control group leaves of ``cores``."""

    cores: int | None
    quota: float | None
    memory: int | None
    limit: int | None
    shm: int | None
    links: tuple[Link, ...]
    nvlink: bool | None
    """Whether all pairs of cards are joined by NVLink; None for one card, and where nobody looked."""
    maker: str | None
    evidence: tuple[str, ...]


def machine(recording: Recording) -> Machine:
    """Read the machine's measures."""
    cores = recording.command("nproc")
    memory = _TOTAL.search(file_text(recording, "/proc/meminfo") or "")
    xml = recording.command("nvidia-smi-xml")
    links = tuple(_link(values) for _, values in xml_cards(xml.stdout if xml and xml.ok else ""))
    peers = peer_facts(recording)
    maker = " ".join(filter(None, (_line(recording, path) for path in (_VENDOR, _PRODUCT)))) or None
    evidence = [cite_command(cores, first_line(cores.stdout))] if cores and cores.ok else []
    evidence += [cite("/proc/meminfo", memory.group(0))] if memory else []
    evidence += list(peers.topology_evidence)
    shm = as_whole(recording.disks.get("/dev/shm", {}).get("total"))  # noqa: S108  # looked at
    return Machine(
        cores=whole(first_line(cores.stdout)) if cores and cores.ok else None,
        quota=_cores_left(recording),
        memory=int(memory.group(1)) * _KIB if memory else None,
        limit=_limit(recording),
        shm=shm if shm is not None and shm >= 0 else None,
        links=links,
        nvlink=all(word.startswith("NV") for word in peers.links.values()) if peers.links else None,
        maker=maker,
        evidence=tuple(evidence),
    )


def _line(recording: Recording, path: str) -> str:
    return first_line(file_text(recording, path))


def _link(values: dict[str, str]) -> Link:
    def read(path: str) -> int | None:
        return whole((values.get(path) or "").rstrip("x"))

    return Link(
        width=read(f"{_LINK}/link_widths/current_link_width"),
        most=read(f"{_LINK}/link_widths/max_link_width"),
        generation=read(f"{_GEN}/current_link_gen"),
        most_generation=read(f"{_GEN}/max_link_gen"),
    )


def _cores_left(recording: Recording) -> float | None:
    words = _line(recording, _MAX).split() or [_line(recording, _QUOTA), _line(recording, _PERIOD)]
    quota, period = whole(words[0]), whole(words[1]) if len(words) > 1 else None
    return quota / period if quota is not None and period and quota > 0 else None


def _limit(recording: Recording) -> int | None:
    found = whole(_line(recording, _MEMORY_MAX) or _line(recording, _V1))
    return found if found is not None and 0 < found < _LONGEST else None
