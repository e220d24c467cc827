"""What apt says that it would do, and what of that may be done. Pure functions over `apt-get --simulate`."""

from __future__ import annotations

import re

# A new package has no version in brackets before the one that comes: `Inst runc (1.1.15 Debian:13 [amd64])`.
NEW = re.compile(r"^Inst (\S+) \(", re.MULTILINE)
ANY = re.compile(r"^(?:Inst|Remv|Purg) (\S+)", re.MULTILINE)


def brought(said: str) -> list:
    """Return the packages that an installation would bring, those that are only upgraded left out."""
    return NEW.findall(said)


def others(said: str, ours: set) -> list:
    """Return the packages that a removal would touch beside ours, one brought in as a substitute included."""
    return sorted(set(ANY.findall(said)) - ours)


def removable(names: list, simulate) -> tuple:
    """Return what may go, and what stays with the packages that need it.

    ``simulate`` returns what apt says about the removal of a list of packages.
    """
    ours = set(names)
    if not names or not others(simulate(names), ours):
        return list(names), {}
    # One by one, on top of what may go already: of two alternatives that a package needs, one has to stay.
    gone: list = []
    kept: dict = {}
    for name in names:
        needing = others(simulate([*gone, name]), ours)
        if needing:
            kept[name] = needing
        else:
            gone.append(name)
    return gone, kept


def complaint(said: str) -> str:
    """Return apt's own reason for a failure."""
    errors = [line[2:].strip().rstrip(".") for line in said.splitlines() if line.startswith("E:")]
    # apt's last word is that something could not be fetched; what, and the server's answer, stands before it.
    fetched = [error for error in errors if error.startswith("Failed to fetch")]
    return (fetched or errors or ["no reason given"])[-1]
