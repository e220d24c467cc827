"""What apt and dpkg say: read into plain values. Pure."""

from __future__ import annotations

import re

# Second letter of dpkg's status: unpacked, half configured, half installed, triggers awaited or pending.
HALF = "UFHWt"
SENTENCES = (
    (
        r"is not valid yet",
        "this host's clock is behind ({line}): set it (`timedatectl set-ntp true`), and run again",
    ),
    (
        r"Temporary failure resolving|Could not resolve",
        "names are not resolved here ({line}): repair DNS (`resolvectl status`), or set the role's proxy, and run again",
    ),
    (
        r"No space left|not enough free space",
        "the disk is full ({line}): make room (`df -h /var /usr`), and run again",
    ),
)


def rows(text: str) -> list:
    """Split dpkg-query's lines of `name<tab>status<tab>version`."""
    found = [line.split("\t") for line in text.splitlines()]
    return [row for row in found if len(row) == 3]  # noqa: PLR2004


def installed(text: str) -> dict:
    """Return the versions of packages that are wholly there."""
    return {name: version for name, status, version in rows(text) if status[1:2] == "i"}


def half_configured(text: str) -> list:
    """Return the packages that an interrupted or failed installation left behind."""
    return sorted(name for name, status, _ in rows(text) if status[1:2] in HALF)


def changes(said: str) -> dict:
    """Return what `apt-get --simulate` would do: names by new, changed, removed."""
    found: dict = {"new": [], "changed": [], "removed": []}
    for line in said.splitlines():
        shown = re.match(r"(Inst|Remv|Purg) (\S+)( \[)?", line)
        if shown:
            kind = "removed" if shown[1] != "Inst" else "changed" if shown[3] else "new"
            found[kind].append(shown[2].partition(":")[0])
    return found


def broken_sources(said: str) -> list:
    """Return the lines in which apt-get update complains of a repository, without their letter."""
    return [
        line[2:].strip()
        for line in said.splitlines()
        if re.match(r"[EW]: .*(https?|file|ftp|cdrom|mirror)\S*:", line)
    ]


def size_needed(said: str) -> tuple:
    """Return (bytes to fetch, bytes on the disk after) from apt-get's summary lines; 0 where it says none."""
    units = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9}
    fetched = re.search(r"Need to get (?:[\d.,]+ \w+/)?([\d.,]+) (\w+) of archives", said)
    after = re.search(r"After this operation, ([\d.,]+) (\w+) of additional disk space", said)
    return tuple(
        int(float(found[1].replace(",", "")) * units.get(found[2], 1)) if found else 0
        for found in (fetched, after)
    )
