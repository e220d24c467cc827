"""nvidia-ctk system: the control nodes, and the links in /dev/char by which systemd finds a node."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from . import log

if TYPE_CHECKING:
    import argparse

# The numbers that the simulated card's own nodes have.
CONTROL = {
    "/dev/nvidiactl": (195, 255),
    "/dev/nvidia-modeset": (195, 254),
    "/dev/nvidia-uvm": (510, 0),
    "/dev/nvidia-uvm-tools": (510, 1),
}


def create(given: argparse.Namespace) -> None:
    """Make the control nodes that are not there."""
    for path, (major, minor) in CONTROL.items() if given.control_devices else ():
        if not Path(path).exists():
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
            Path(path).chmod(0o666)
            log.say("info", f"Creating device node {path} (simulated)")


def link(_: argparse.Namespace) -> None:
    """Link the nodes that are there; one that is linked already is only worth a warning."""
    Path("/dev/char").mkdir(exist_ok=True)
    for path in sorted(Path("/dev").glob("nvidia*")):
        if not path.is_char_device():
            continue
        number = path.stat().st_rdev
        name = Path(f"/dev/char/{os.major(number)}:{os.minor(number)}")
        try:
            name.symlink_to(path)
        except FileExistsError as error:
            log.say("warning", f"Could not create symlink: {error}")
