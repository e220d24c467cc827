"""What of the driver a container gets: files, links and control nodes found on this host."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from . import nvml

if TYPE_CHECKING:
    from .choose import Card

# The distribution's folders, in this order; LD_LIBRARY_PATH is ignored, as the real one does.
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
LIBRARIES = {"libnvidia-ml.so.1": "utility", "libcuda.so.1": "compute"}
# In the container everything lies where the loader looks even without a cache: an image may lack ldconfig.
CONTAINER_FOLDER = "/usr/lib/x86_64-linux-gnu"
CONTROL_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
# Carried along so that whatever looks at the container can say that its card is simulated.
SIMULATED = "/etc/gpu-host/simulated"


@dataclass(frozen=True, slots=True)
class File:
    """A host file and where the container sees it; ``capability`` as in NVIDIA_DRIVER_CAPABILITIES."""

    source: str
    target: str
    capability: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link made in the container; ``target`` is relative to its folder."""

    path: str
    target: str
    capability: str


@dataclass(frozen=True, slots=True)
class Driver:
    """Cards and what comes with any of them."""

    version: str
    cards: tuple[Card, ...]
    files: tuple[File, ...]
    links: tuple[Link, ...]
    control_nodes: tuple[str, ...]


def _library(name: str) -> Path | None:
    paths = (Path(folder) / name for folder in LIBRARY_FOLDERS)
    return next((path.resolve() for path in paths if path.exists()), None)


def user_space() -> tuple[tuple[File, ...], tuple[Link, ...]]:
    """Return the driver's files on this host and the links that make the loader find them."""
    files, links = [], []
    for name, capability in LIBRARIES.items():
        if real := _library(name):
            files.append(File(str(real), f"{CONTAINER_FOLDER}/{real.name}", capability))
            if real.name != name:
                links.append(Link(f"{CONTAINER_FOLDER}/{name}", real.name, capability))
    if smi := shutil.which("nvidia-smi"):
        files.append(File(str(Path(smi).resolve()), "/usr/bin/nvidia-smi", "utility"))
    if Path(SIMULATED).exists():
        files.append(File(SIMULATED, SIMULATED, ""))
    return tuple(files), tuple(links)


def control_nodes() -> tuple[str, ...]:
    """Return the control nodes that exist on this host."""
    return tuple(node for node in CONTROL_NODES if Path(node).exists())


def look(*, with_cards: bool = True) -> Driver:
    """Ask NVML and the file system; raises nvml.NvmlError. Without cards NVML is not asked at all."""
    version, cards = nvml.cards() if with_cards else ("", ())
    files, links = user_space()
    return Driver(version, cards, files, links, control_nodes())
