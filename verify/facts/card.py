"""The cards: as the bus and /dev show them, and as the driver describes them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, file_text

if TYPE_CHECKING:
    from verify.recording import Recording

QUERY_FIELDS = (
    "index",
    "name",
    "uuid",
    "pci.bus_id",
    "driver_version",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "temperature.gpu",
    "power.draw",
    "power.limit",
    "compute_cap",
    "mig.mode.current",
    "persistence_mode",
    "ecc.mode.current",
    "clocks_throttle_reasons.active",
)
"""The fields of ``nvidia-smi-query``, in the order of its columns."""

NVIDIA = "0x10de"
_DISPLAY = "0x03"  # VGA (0300) and 3D (0302) controllers; not the audio function, not an NVSwitch
_VENDOR = re.compile(r"^/sys/bus/pci/devices/([^/]+)/vendor$")
_VENDOR_GLOB = "/sys/bus/pci/devices/*/vendor"
_NODE = re.compile(r"^/dev/nvidia\d+$")
_NODE_GLOB = "/dev/nvidia*"


@dataclass(frozen=True, slots=True)
class PciCard:
    """An NVIDIA display controller on the PCI bus."""

    address: str
    device: str | None
    driver: str | None


@dataclass(frozen=True, slots=True)
class Card:
    """A card as the driver describes it; what it does not tell is None."""

    index: int | None
    name: str | None
    uuid: str | None
    bus_id: str | None = None
    driver_version: str | None = None
    memory_total_mib: int | None = None
    memory_used_mib: int | None = None
    utilization_percent: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    compute_capability: str | None = None
    mig: str | None = None
    persistence: str | None = None
    ecc: str | None = None
    throttle_reasons: str | None = None


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The cards without any driver's help. None means that nobody looked."""

    pci: tuple[PciCard, ...] | None
    nodes: tuple[str, ...] | None
    evidence: tuple[str, ...]


def card_facts(recording: Recording) -> CardFacts:
    """Read the bus and the device nodes."""
    nodes = recording.globs.get(_NODE_GLOB)
    found = tuple(path for path in nodes if _NODE.match(path)) if nodes is not None else None
    pci = _pci_cards(recording)
    evidence = [
        cite(f"/sys/bus/pci/devices/{c.address}/vendor", f"{NVIDIA} device {c.device}") for c in pci or ()
    ]
    evidence += [cite(_NODE_GLOB, path) for path in found or ()]
    return CardFacts(pci=pci, nodes=found, evidence=tuple(evidence))


def _pci_cards(recording: Recording) -> tuple[PciCard, ...] | None:
    addresses = [match.group(1) for path in recording.file_paths if (match := _VENDOR.match(path))]
    if not addresses and not recording.globs.get(_VENDOR_GLOB):
        return None  # no bus: a container, WSL, or nobody looked
    cards = []
    for address in sorted(addresses):
        folder = f"/sys/bus/pci/devices/{address}"
        vendor = (file_text(recording, f"{folder}/vendor") or "").strip().lower()
        kind = (file_text(recording, f"{folder}/class") or "").strip().lower()
        if vendor != NVIDIA or not kind.startswith(_DISPLAY):
            continue
        driver = recording.links.get(f"{folder}/driver")
        device = (file_text(recording, f"{folder}/device") or "").strip().lower() or None
        cards.append(PciCard(address, device, driver.rsplit("/", 1)[-1] if driver else None))
    return tuple(cards)
