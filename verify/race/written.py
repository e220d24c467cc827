"""What the race leaves: its files, all of them or none, and what it prints. What was measured is not lost."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from verify.race import leaving
from verify.race.options import STDOUT, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = ("race.json", "race.md", "race.svg", "race.html")


def refuse(out: str) -> None:
    """Refuse where nothing could be written, before minutes are spent on what could not be kept."""
    if out == STDOUT:
        if sys.stdout is None:
            raise UsageError("--out -: stdout is closed: open it, or give --out DIR")
        return
    if not out.strip():
        raise UsageError("--out is empty: give a folder, . for this one, or - to print race.json")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        taken = [name for name in FILES if (folder / name).is_dir()]
    except (OSError, ValueError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or error
        raise UsageError(
            f"{folder} cannot be written to ({said}): give another --out, or print with --out -"
        ) from None
    if taken:
        raise UsageError(f"{folder / taken[0]} is a folder: move it away, or give another --out")


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write all files or none: each beside its goal first, then all renamed."""
    ready: dict[str, Path] = {}
    try:
        for name, content in files.items():
            handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
            ready[name] = Path(temporary)
            with os.fdopen(handle, "wb") as stream:
                stream.write(encoded(content))
            ready[name].chmod(0o644)
        with leaving.held():
            for name in files:
                ready[name].replace(folder / name)
                del ready[name]
    finally:
        for left in ready.values():
            with contextlib.suppress(OSError):
                left.unlink()


def show(document: str) -> None:
    """Print a document as UTF-8, whatever the terminal's encoding: JSON has no other."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:  # a text in memory has no encoding
        sys.stdout.write(document)
        return
    buffer.write(encoded(document))
    buffer.flush()


def keep(document: str) -> Path | None:
    """Keep a document that could go nowhere else in a new temporary file; None where that fails, too."""
    try:
        handle, file = tempfile.mkstemp(prefix="race-", suffix=".json")
        with os.fdopen(handle, "wb") as stream:
            stream.write(encoded(document))
    except OSError:
        return None
    return Path(file)


def encoded(text: str) -> bytes:
    """Encode a text; half a character, as a name that is not UTF-8 holds, stays as its JSON escape."""
    return text.encode("utf-8", "backslashreplace")
