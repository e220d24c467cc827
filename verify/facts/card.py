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
PCI = "/sys/bus/pci/devices/"
_VENDOR = re.compile(rf"^{PCI}([^/]+)/vendor$")
_DRIVER_GLOB = f"{PCI}*/driver"
PCI_CONFIG = "pci-config"
_VENDOR_GLOB = f"{PCI}*/vendor"
_BRIDGE = "0x0680"
_CONFIG = re.compile(r"^(\S+)((?: [0-9a-f]{2})+)\s*$", re.MULTILINE)
_NODE = re.compile(r"^/dev/nvidia\d+$")
_NODE_GLOB = "/dev/nvidia*"


@dataclass(frozen=True, slots=True)
class PciCard:
    """An NVIDIA display controller on the PCI bus."""

    address: str
    device: str | None
    driver: str | None
    gone: str = ""
    """The line that shows that it does not answer any more: it reads as ones only (revision ff)."""

    @property
    def id(self) -> str:
        """Its PCI id as lspci writes it: 10de:2684."""
        return f"10de:{(self.device or '?').removeprefix('0x')}"


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
    ecc: str | None = None
    throttle_reasons: str | None = None


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The cards without any driver's help. None means that nobody looked."""

    pci: tuple[PciCard, ...] | None
    nodes: tuple[str, ...] | None
    bridges: tuple[tuple[str, str], ...]
    """Address and device of NVIDIA's bridges: an NVSwitch, or the chipset of an old mainboard."""
    drivers_looked: bool
    evidence: tuple[str, ...]


def card_facts(recording: Recording) -> CardFacts:
    """Read the bus and the device nodes."""
    nodes = recording.globs.get(_NODE_GLOB)
    found = tuple(path for path in nodes if _NODE.match(path)) if nodes is not None else None
    gone = _gone(recording)
    devices = _devices(recording)
    pci = _pci_cards(recording, devices, gone)
    evidence = [cite(f"{PCI}{c.address}/vendor", f"{NVIDIA} device {c.device}") for c in pci or ()]
    evidence += [cite(_NODE_GLOB, path) for path in found or ()]
    return CardFacts(
        pci=pci,
        nodes=found,
        bridges=tuple(
            (one.address, one.device)
            for one in devices
            if one.vendor == NVIDIA and one.kind.startswith(_BRIDGE)
        ),
        drivers_looked=_DRIVER_GLOB in recording.globs or any(card.driver for card in pci or ()),
        evidence=tuple(evidence),
    )


def _gone(recording: Recording) -> dict[str, str]:
    """Return the addresses that read as ones only, by the bus itself or by the recorded revision."""
    entry = recording.command(PCI_CONFIG)
    rows = _CONFIG.findall(entry.stdout if entry and entry.ok else "")
    found = {
        address: cite(PCI_CONFIG, f"{address}{words}")
        for address, words in rows
        if set(words.split()) == {"ff"}
    }
    for path in recording.file_paths:
        if path.startswith(PCI) and path.endswith("/revision"):
            text = (file_text(recording, path) or "").strip().lower()
            if text in ("0xff", "ff"):
                found.setdefault(path.split("/")[-2], cite(path, text))
    return found


@dataclass(frozen=True, slots=True)
class _Device:
    """One device of the bus, as its files say; an empty text is a file that could not be read."""

    address: str
    vendor: str
    kind: str
    device: str
    driver: str | None


def _devices(recording: Recording) -> tuple[_Device, ...]:
    addresses = sorted(match.group(1) for path in recording.file_paths if (match := _VENDOR.match(path)))
    return tuple(_device(recording, address) for address in addresses)


def _device(recording: Recording, address: str) -> _Device:
    folder = f"{PCI}{address}"
    vendor, kind, device = (
        (file_text(recording, f"{folder}/{name}") or "").strip().lower()
        for name in ("vendor", "class", "device")
    )
    driver = recording.links.get(f"{folder}/driver")
    return _Device(address, vendor, kind, device, driver.rsplit("/", 1)[-1] if driver else None)


def _pci_cards(
    recording: Recording, devices: tuple[_Device, ...], gone: dict[str, str]
) -> tuple[PciCard, ...] | None:
    if not devices:
        return None  # no bus: a container, WSL, or nobody looked
    cards = tuple(
        PciCard(one.address, one.device or None, one.driver, gone.get(one.address, ""))
        for one in devices
        if one.vendor == NVIDIA and one.kind.startswith(_DISPLAY)
    )
    listed = {path for path in recording.globs.get(_VENDOR_GLOB, ()) if _VENDOR.match(path)}
    whole = listed <= {f"{PCI}{one.address}/vendor" for one in devices} and all(
        one.vendor and (one.vendor != NVIDIA or one.kind) for one in devices
    )
    # Where a device could not be read, "no card" is not known.
    return cards if cards or whole else None
