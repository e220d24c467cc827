"""Show this machine's simulated cards as a kernel with the NVIDIA module would: nodes, /proc and /sys.

Nothing can be made inside /proc/driver, /sys/module or /sys/bus/pci/devices, so a prepared tree is mounted
over each. The entries that were there stay reachable under their names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CONFIG = Path("/etc/gpu-host/simulated")
RUN = Path("/run/gpu-host-simulated")
PROC, MODULE, PCI = Path("/proc/driver"), Path("/sys/module"), Path("/sys/bus/pci/devices")
FRONTEND_MAJOR, CONTROL_MINOR, UVM_MAJOR = 195, 255, 510


@dataclass(frozen=True)
class Card:
    """What the kernel shows of one card."""

    minor: int
    name: str
    uuid: str
    slot: str  # 0000:3b:00.0
    device: int  # 0x2236 of 0x223610de
    subsystem: int


@dataclass(frozen=True)
class Machine:
    """The module that is loaded and the cards it found."""

    module_version: str
    cards: tuple[Card, ...]


def sections(text: str) -> list[tuple[str, dict[str, str]]]:
    """Split the file into sections, the first without a name; comments start a line or follow a blank."""
    found: list[tuple[str, dict[str, str]]] = [("", {})]
    for raw in text.splitlines():
        line = raw.replace("\t", " ")
        for mark in (" #", " ;"):
            line = f" {line}".partition(mark)[0]
        line = line.strip()
        if line.startswith("["):
            found.append((line.strip("[] "), {}))
        elif "=" in line:
            key, _, value = line.partition("=")
            found[-1][1][key.strip()] = value.strip()
    return found


def _slot(bus_id: str) -> str:
    """NVML says 00000000:3B:00.0, the kernel 0000:3b:00.0."""
    domain, _, rest = bus_id.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _card(number: int, keys: dict[str, str]) -> Card:
    return Card(
        minor=int(keys.get("minor", number)),
        name=keys.get("name", "NVIDIA A10 (simulated)"),
        uuid=keys.get("uuid", f"GPU-51515151-0000-4000-8000-{number:012d}"),
        slot=_slot(keys.get("pci_bus_id", f"00000000:{0x3B + number:02X}:00.0")),
        device=int(keys.get("pci_device_id", "0x223610de"), 16),
        subsystem=int(keys.get("pci_subsystem_id", "0x148210de"), 16),
    )


def parse(text: str) -> Machine:
    """Read the configuration; ``module_version`` is the driver's version where it is not given."""
    (_, top), *rest = sections(text)
    driver = top.get("driver_version", "550.163.01")
    cards = tuple(_card(int(name.split()[1]), keys) for name, keys in rest if name.startswith("card "))
    return Machine(module_version=top.get("module_version", driver), cards=cards)


def proc_tree(machine: Machine) -> dict[str, str]:
    """Files of /proc/driver."""
    files = {
        "nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {machine.module_version}  "
        "Tue Apr  8 12:41:17 UTC 2025\nGCC version:  none, this module is simulated (gpu-host)\n",
        "nvidia/params": "ResmanDebugLevel: 4294967295\nRmLogonRC: 1\nModifyDeviceFiles: 1\n"
        "DeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\nInitializeSystemMemoryAllocations: 1\n"
        "UsePageAttributeTable: 4294967295\nEnableMSI: 1\nPreserveVideoMemoryAllocations: 0\n"
        "EnableGpuFirmware: 18\nOpenRmEnableUnsupportedGpus: 1\n",
        "nvidia/registry": 'Binary: ""\n',
    }
    for card in machine.cards:
        files[f"nvidia/gpus/{card.slot}/information"] = (
            f"Model: \t\t {card.name}\nIRQ:   \t\t {120 + card.minor}\nGPU UUID: \t {card.uuid}\n"
            "Video BIOS: \t 94.02.75.00.01\nBus Type: \t PCIe\nDMA Size: \t 47 bits\n"
            f"DMA Mask: \t 0x7fffffffffff\nBus Location: \t {card.slot}\nDevice Minor: \t {card.minor}\n"
            "GPU Firmware: \t N/A\nGPU Excluded:\t No\n"
        )
    return files


def module_tree(machine: Machine) -> dict[str, str]:
    """Files of /sys/module."""
    files = {
        "nvidia/version": f"{machine.module_version}\n",
        "nvidia/srcversion": "51B0151515151515151515A\n",
    }
    for module, users in (("nvidia", 1), ("nvidia_uvm", 0)):
        files |= {
            f"{module}/refcnt": f"{users}\n",
            f"{module}/initstate": "live\n",
            f"{module}/taint": "POE\n",
        }
    return files


def pci_tree(machine: Machine) -> dict[str, str]:
    """Files of /sys/bus/pci/devices."""
    files: dict[str, str] = {}
    for card in machine.cards:
        values = {
            "vendor": f"0x{card.device & 0xFFFF:04x}",
            "device": f"0x{card.device >> 16:04x}",
            "subsystem_vendor": f"0x{card.subsystem & 0xFFFF:04x}",
            "subsystem_device": f"0x{card.subsystem >> 16:04x}",
            "class": "0x030200",
            "revision": "0xa1",
            "numa_node": "-1",
            "enable": "1",
        }
        files |= {f"{card.slot}/{name}": f"{value}\n" for name, value in values.items()}
    return files


def write_tree(root: Path, files: dict[str, str]) -> None:
    """Write the files, readable by all and written by nobody, as the kernel's are."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o444)


def keep_others(tree: Path, over: Path, original: Path) -> None:
    """Link to each entry that the mount hides: a PCI device to its own folder, a module to a second mount."""
    for entry in sorted(over.iterdir()):
        if not (tree / entry.name).exists():
            (tree / entry.name).symlink_to(entry.resolve() if entry.is_symlink() else original / entry.name)


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True)


def mount_over(over: Path, files: dict[str, str]) -> Path:
    """Mount a tree over a folder of the kernel's; returns the tree, still writable."""
    tree, original = RUN / over.name, RUN / "original" / over.name
    original.mkdir(parents=True)
    tree.mkdir()
    _run("mount", "--bind", str(over), str(original))
    write_tree(tree, files)
    keep_others(tree, over, original)
    _run("mount", "--bind", str(tree), str(over))
    return tree


def make_nodes(machine: Machine) -> None:
    """Make the device nodes; one that is there is left alone."""
    wanted = {f"nvidia{card.minor}": (FRONTEND_MAJOR, card.minor) for card in machine.cards}
    wanted |= {"nvidiactl": (FRONTEND_MAJOR, CONTROL_MINOR), "nvidia-uvm": (UVM_MAJOR, 0)}
    for name, (major, minor) in wanted.items():
        path = Path("/dev") / name
        if not path.exists():
            os.mknod(path, 0o20666, os.makedev(major, minor))
            path.chmod(0o666)


def start() -> None:
    """Nodes and mounts."""
    stop()
    machine = parse(CONFIG.read_text())
    make_nodes(machine)
    mount_over(PROC, proc_tree(machine))
    mount_over(MODULE, module_tree(machine))
    tree = mount_over(PCI, pci_tree(machine))
    for card in machine.cards:
        (tree / card.slot / "driver").symlink_to("../../../bus/pci/drivers/nvidia")


def stop() -> None:
    """Take away what start() made; a second time does nothing."""
    for over in (PCI, MODULE, PROC):
        original = RUN / "original" / over.name
        if original.is_dir():
            for mounted in (mount for mount in (over, original) if mount.is_mount()):
                _run("umount", "--lazy", str(mounted))
    shutil.rmtree(RUN, ignore_errors=True)
    for node in Path("/dev").glob("nvidia*"):
        if node.is_char_device():
            node.unlink()


if __name__ == "__main__":
    try:
        {"start": start, "stop": stop}[sys.argv[1]]()
    except ValueError as error:
        sys.exit(f"{CONFIG} cannot be read ({error}): correct it and restart gpu-host-simulated-card.")
