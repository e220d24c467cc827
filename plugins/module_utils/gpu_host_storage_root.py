"""A Docker data-root as it lies on the disk: what is in it, what it weighs, and whether a copy is one."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# With userns-remap everything lies one folder deeper, in one named by the ids: 100000.100000.
ROOTS = ("", "[0-9]*.[0-9]*/")
SHOWN = 5


def contents(path: str) -> dict[str, Any]:
    """Count what a person would miss of a data-root."""
    root = Path(path)
    there = root.is_dir()

    def count(pattern: str, kind: Callable[[Path], bool]) -> int:
        return sum(kind(each) for place in ROOTS for each in root.glob(place + pattern)) if there else 0

    return {
        "path": path,
        "exists": os.path.lexists(path),
        "entries": sum(each.name != "lost+found" for each in root.iterdir()) if there else 0,
        "images": count("image/*/imagedb/content/sha256/*", Path.is_file),
        "containers": count("containers/*", Path.is_dir),
        "volumes": count("volumes/*", Path.is_dir),
        "swarm": count("swarm/docker-state.json", Path.is_file),
        # What a daemon makes at its first start.
        "dockers": count("image", Path.is_dir) + count("volumes", Path.is_dir) > 0,
    }


def walk(path: str | Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield everything below a folder, the folder too: its place in it, and what lstat says."""
    yield "", os.lstat(path)
    waiting = [""]
    while waiting:
        place = waiting.pop()
        with os.scandir(Path(path, place)) as found:
            for each in found:
                name, info = f"{place}/{each.name}" if place else each.name, each.stat(follow_symlinks=False)
                yield name, info
                if stat.S_ISDIR(info.st_mode):
                    waiting.append(name)


def weight(path: str) -> dict[str, int]:
    """Return what a folder takes on the disk, and how many inodes; what has several names counts once."""
    total = 0
    seen: set[tuple[int, int]] = set()
    for _, info in walk(path):
        if (info.st_dev, info.st_ino) not in seen:
            seen.add((info.st_dev, info.st_ino))
            total += info.st_blocks * 512
    return {"bytes": total, "inodes": len(seen)}


def attributes(path: Path) -> dict[str, bytes]:
    """Return the extended attributes that a copy has to have; overlay2 keeps its own in them."""
    try:
        names = os.listxattr(path, follow_symlinks=False)
    except OSError:
        return {}
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in sorted(names)}


def described(path: Path, info: os.stat_result) -> dict[str, Any]:
    """Return what of a file has to be the same in a copy; of a folder not its size."""
    kind = stat.S_IFMT(info.st_mode)
    plain = stat.S_ISREG(info.st_mode)
    return {
        "kind": kind,
        "mode": stat.S_IMODE(info.st_mode),
        "owner": (info.st_uid, info.st_gid),
        "size": info.st_size if plain else None,
        "time": None if stat.S_ISSOCK(info.st_mode) else int(info.st_mtime),
        "device": info.st_rdev if kind in (stat.S_IFCHR, stat.S_IFBLK) else None,
        "link": str(Path(path).readlink()) if stat.S_ISLNK(info.st_mode) else None,
        "names": info.st_nlink if plain else None,
        "attributes": attributes(path),
    }


def differences(old: str | Path, new: str | Path) -> list[str]:
    """Return where a copy differs from what it was made from, the first few places."""
    found: list[str] = []
    left = {name for name, _ in walk(new)}
    for name, info in walk(old):
        if name not in left:
            found.append(f"{name or '.'} is missing")
        else:
            left.discard(name)
            there = Path(new, name)
            one = described(Path(old, name), info)
            other = described(there, os.lstat(there))
            found += [f"{name or '.'} has another {key}" for key in one if one[key] != other[key]]
        if len(found) >= SHOWN:
            return found[:SHOWN]
    return (found + [f"{name} is only in the copy" for name in sorted(left)])[:SHOWN]
