"""What is mounted where, and what is to be mounted at boot. Pure."""

from __future__ import annotations

import re
from typing import Any

FIELDS = 6  # before those that a mount need not have


def plain(field: str) -> str:
    """Return a field of the kernel's table with its octal escapes put back."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), field)


def mounts(text: str) -> list[dict[str, Any]]:
    """Return the mounts of /proc/self/mountinfo, in the order in which they were made."""
    found = []
    for line in text.splitlines():
        before, dash, after = line.partition(" - ")
        fields, behind = before.split(" "), after.split(" ")
        if dash and len(fields) >= FIELDS and behind[1:]:
            found.append(
                {
                    "device": fields[2],
                    "root": plain(fields[3]),
                    "target": plain(fields[4]),
                    "options": fields[5].split(","),
                    "fstype": behind[0],
                    "source": plain(behind[1]),
                }
            )
    return found


def inside(path: str, folder: str) -> bool:
    """Tell whether a path is a folder, or lies in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def holding(found: list[dict[str, Any]], path: str) -> dict[str, Any] | None:
    """Return the mount that holds a path; of two at one place the later one counts."""
    best = None
    for mount in found:
        if inside(path, mount["target"]) and (best is None or len(mount["target"]) >= len(best["target"])):
            best = mount
    return best


def below(found: list[dict[str, Any]], path: str) -> list[str]:
    """Return where something is mounted below a path, the path itself not counted."""
    return sorted({each["target"] for each in found if inside(each["target"], path)} - {path})


def fstab(text: str) -> list[dict[str, str]]:
    """Return the entries of a fstab, each with its line as it stands there."""
    entries = []
    for line in text.splitlines():
        fields = line.split()
        if fields[2:] and not fields[0].startswith("#"):
            entries.append(
                {
                    "spec": fields[0].replace('"', ""),
                    "path": plain(fields[1]),
                    "fstype": fields[2],
                    "line": line,
                }
            )
    return entries


def with_line(text: str, line: str) -> str:
    """Return a fstab with one more line."""
    return text + ("" if not text or text.endswith("\n") else "\n") + line + "\n"


def without_line(text: str, line: str) -> str:
    """Return a fstab without this very line."""
    return "".join(each for each in text.splitlines(keepends=True) if each.rstrip("\n") != line)
