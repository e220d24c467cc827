"""NVIDIA's devices on the PCI bus, from sysfs: lspci is missing on minimal systems."""

from __future__ import annotations

from typing import Any

NVIDIA_VENDOR = "0x10de"
DISPLAY_CLASS = "0x03"
# An NVSwitch; nForce chipsets have bridges of that class too, and the id tells them apart.
BRIDGE_CLASS = "0x0680"


def holder(look: Any, folder: str) -> str | None:
    """Name the kernel driver that a device is bound to: nvidia, nouveau, vfio-pci, or none."""
    try:
        return look.at(f"{folder}/driver").resolve(strict=True).name
    except OSError:
        return None


def devices(look: Any, pci_class: str) -> list[dict[str, Any]]:
    """List NVIDIA's devices of a class: address, id, class, and the kernel driver that holds each."""
    found = []
    for folder in look.paths("/sys/bus/pci/devices/*"):
        read = {name: (look.text(f"{folder}/{name}") or "").strip() for name in ("vendor", "device", "class")}
        if read["vendor"] == NVIDIA_VENDOR and read["class"].startswith(pci_class):
            driver = holder(look, folder)
            found.append(
                {
                    "address": folder.rsplit("/", 1)[1],
                    "id": f"10de:{read['device'].replace('0x', '')}",
                    "class": read["class"].replace("0x", ""),
                    "driver": driver,
                }
            )
    return found


def cards(look: Any) -> list[dict[str, Any]]:
    """List the display controllers: an audio function or a USB port of a card is no card."""
    return devices(look, DISPLAY_CLASS)


def bridges(look: Any) -> list[dict[str, Any]]:
    """List what may be an NVSwitch."""
    return devices(look, BRIDGE_CLASS)
