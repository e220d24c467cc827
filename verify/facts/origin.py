"""Where the driver came from: whose packages, NVIDIA's .run installer, or a vendor's system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verify.facts.source import file_text

if TYPE_CHECKING:
    from verify.recording import Recording

DGX = "/etc/dgx-release"
UNINSTALLER = "/usr/bin/nvidia-uninstall"
_INSTALLED = re.compile(r"^(\S+) (\S+) installed$", re.MULTILINE)
# The package that brings the library, under the names that it has.
_LIBRARY = re.compile(
    r"^(?:libnvidia-ml1|libnvidia-compute[\w-]*|nvidia-driver-cuda-libs|nvidia-driver-libs)$"
)
_BUILDERS = ((re.compile(r"lambda"), "Lambda's packages"), (re.compile(r"pop"), "System76's packages"))


def driver_packages(recording: Recording) -> tuple[str, ...] | None:
    """Return the driver's packages as ``name version``; None where nobody asked."""
    entry = recording.command("driver-packages")
    if entry is None or not entry.ran:
        return None
    return tuple(f"{name} {version}" for name, version in _INSTALLED.findall(entry.stdout))


def driver_origin(recording: Recording, packages: tuple[str, ...] | None) -> str | None:
    """Say whose driver it is; None where nothing tells."""
    if file_text(recording, DGX) is not None:
        return "part of NVIDIA's DGX system"
    library = next((one for one in packages or () if _LIBRARY.match(one.partition(" ")[0])), None)
    if library is None:
        return "NVIDIA's .run installer" if recording.paths.get(UNINSTALLER) else None
    version = library.partition(" ")[2]
    builder = next((whose for pattern, whose in _BUILDERS if pattern.search(version)), None)
    return f"{builder} ({version})" if builder else None
