"""nvidia-container-cli: gives cards to a container that is created but not yet started."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import choose, driver, inject, nvml
from .errors import ToolkitError


def look() -> driver.Driver:
    """Ask the driver; the error is in libnvidia-container's words."""
    try:
        return driver.look()
    except nvml.LibraryMissingError as error:
        raise ToolkitError(
            "initialization error: load library failed: "
            f"{nvml.LIBRARY}: cannot open shared object file: no such file or directory"
        ) from error
    except nvml.NvmlError as error:
        raise ToolkitError(f"initialization error: nvml error: {str(error).lower()}") from error


def configure(pid: int, root: Path, devices: str, capabilities: set[str]) -> None:
    """Allow and make the nodes, bind the files, make the links, write the loader's cache."""
    found = look()
    try:
        cards = choose.chosen([word for word in devices.split(",") if word], found.cards)
    except choose.UnknownDeviceError as error:
        raise ToolkitError(f"device error: {error}: unknown device") from error
    nodes = [card.node for card in cards] + (list(found.control_nodes) if capabilities else [])
    numbers = {path: inject.numbers_of(path) for path in nodes}
    inject.allow(pid, list(numbers.values()))
    inject.enter_mount_namespace(pid)
    for path, major_minor in numbers.items():
        inject.node(root, path, major_minor)
    for file in found.files:
        if file.capability in capabilities | {""}:
            inject.bind(root, file.source, file.target)
    for link in found.links:
        if link.capability in capabilities:
            inject.link(root, link.path, link.target)
    inject.update_ldcache(root)


def info() -> str:
    """Return what the real one prints about driver and cards."""
    found = look()
    lines = [f"NVRM version:   {found.version} (simulated)", ""]
    for card in found.cards:
        lines += [
            f"Device Index:   {card.index}",
            f"Device Minor:   {card.minor}",
            f"GPU UUID:       {card.uuid}",
            "",
        ]
    return "\n".join(lines)


def parser() -> argparse.ArgumentParser:
    """Return the command line that the hook uses."""
    top = argparse.ArgumentParser(prog="nvidia-container-cli", description="Stand-in (simulated).")
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("info")
    one = commands.add_parser("configure")
    one.add_argument("--pid", type=int, required=True)
    one.add_argument("--device", default="")
    one.add_argument("--compute", action="store_true")
    one.add_argument("--utility", action="store_true")
    one.add_argument("rootfs", type=Path)
    return top


def main(arguments: list[str], version: str) -> int:
    """Exit status as the real one's: 0 or 1, the sentence on stderr."""
    if {"--version", "-V"} & set(arguments):
        library = Path("/usr/lib/gpu-host-simulated-toolkit/libnvidia-container1.version")
        said = library.read_text().strip() if library.exists() else "not installed"
        print(
            f"cli-version: {version} (simulated)\nlib-version: {said} (simulated)\nbuild platform: simulated"
        )
        return 0
    given = parser().parse_args(arguments)
    try:
        if given.command == "info":
            print(info())
        else:
            asked = {name for name in ("compute", "utility") if getattr(given, name)}
            configure(given.pid, given.rootfs, given.device, asked)
    except OSError as error:
        raise ToolkitError(f"mount error: {error}") from error
    return 0
