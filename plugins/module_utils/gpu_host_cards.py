"""NVIDIA's devices on the PCI bus."""

from __future__ import annotations

from typing import Any

NVIDIA_VENDOR = "0x10de"
DISPLAY_CLASS = "0x03"


def cards(look: Any) -> list[dict[str, str]]:
    """List NVIDIA display controllers from sysfs: lspci is missing on minimal systems."""
    found = []
    for folder in look.paths("/sys/bus/pci/devices/*"):
        read = {name: (look.text(f"{folder}/{name}") or "").strip() for name in ("vendor", "device", "class")}
        if read["vendor"] == NVIDIA_VENDOR and read["class"].startswith(DISPLAY_CLASS):
            device = read["device"].replace("0x", "")
            found.append({"address": folder.rsplit("/", 1)[1], "id": f"10de:{device}"})
    return found
