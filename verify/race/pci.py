"""Whether this machine has an NVIDIA card at all, by what the kernel shows; nothing is started and asked."""

from __future__ import annotations

from pathlib import Path

ROOT = Path("/")
NVIDIA = "0x10de"
DISPLAY, ACCELERATOR = "0x03", "0x12"  # PCI class codes; compute cards are 3D controllers, of class 0x03
# Nodes of the driver, of Windows' WSL2, of boards whose card is no PCI device (Jetson).
NODES = ("dev/nvidiactl", "dev/nvidia0", "proc/driver/nvidia", "dev/dxg", "dev/nvmap", "dev/nvhost-gpu")
STAND_IN = "etc/gpu-host/simulated"


def has_card(root: Path = ROOT) -> bool | None:
    """Return False only where all the machine's devices are seen and none is such a card; None: unknown."""
    if any((root / node).exists() for node in NODES):
        return True
    if (root / STAND_IN).exists():  # its cards are stand-ins, which the kernel does not know
        return None
    try:
        devices = list((root / "sys/bus/pci/devices").iterdir())
    except OSError:
        return None
    if any(_is_card(device) for device in devices):
        return True
    return False if devices else None


def _is_card(device: Path) -> bool:
    kind = _text(device / "class")
    return _text(device / "vendor") == NVIDIA and kind.startswith((DISPLAY, ACCELERATOR))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip().lower()
    except OSError:
        return ""
