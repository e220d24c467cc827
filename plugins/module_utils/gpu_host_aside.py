"""Files of the user's that make room for ours: copied aside, noted, and put back byte for byte."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .gpu_host_owned_file import write_file
from .gpu_host_sources import COMMENT, restored


def digest(path):
    """Return the sum of a file; empty where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def mode(path):
    return path.stat().st_mode & 0o777


def put_aside(module, folder, paths):
    """Copy each file into a folder; return the copies by path. A copy that is there already serves again."""
    moved = {}
    for path in paths:
        plain = folder / str(path).lstrip("/").replace("/", "_")
        copy, number = plain, 0
        while copy.exists() and digest(copy) != digest(path):
            number += 1
            copy = plain.with_name(f"{plain.name}.{number}")
        if not copy.exists():
            write_file(module, copy, path.read_bytes(), mode=mode(path))
        moved[str(path)] = str(copy)
    return moved


def put_back(module, moved, left):
    """Put files back where their place is as it was left; return those that are back.

    ``left`` are the sums of what was left in their places.
    """
    back = []
    for path, copy in sorted((Path(path), Path(copy)) for path, copy in moved.items()):
        if not copy.is_file():
            continue
        now = digest(path)
        if now not in ("", left.get(str(path)), digest(copy)):
            keep(module, path, copy)
            continue
        if now != digest(copy):
            write_file(module, path, copy.read_bytes(), mode=mode(copy))
            back.append(str(path))
        copy.unlink()
        if not any(copy.parent.iterdir()):
            copy.parent.rmdir()
    return back


def keep(module, path, copy):
    """Leave a file that was changed since to the user: only our comment marks go, the copy stays."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    if COMMENT in text:
        write_file(module, path, restored(text).encode("utf-8", "surrogateescape"), mode=mode(path))
    module.warn(f"{path} was changed since it was put aside, and stays as it is; the copy is {copy}.")
