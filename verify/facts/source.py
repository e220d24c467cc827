"""Evidence strings: ``source: line``, where source is a recorded file or command."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.recording import CommandEntry, Recording

_LONGEST = 300


def first_line(text: str | None) -> str:
    """Return the first line that says something."""
    return next((line.strip() for line in (text or "").splitlines() if line.strip()), "")


def cite(source: str, line: str | None) -> str:
    """Write one evidence string."""
    text = " ".join((line or "").split())
    return f"{source}: {text[:_LONGEST] + '…' if len(text) > _LONGEST else text or '(empty)'}"


def cite_command(entry: CommandEntry, line: str | None = None, where: str = "host") -> str:
    """Cite a command: the line given, else how it ended and the first thing it said."""
    source = entry.name if where == "host" else f"{where} {entry.name}"
    if line is not None:
        return cite(source, line)
    said = first_line(entry.stderr) or first_line(entry.stdout)
    return cite(source, entry.ended + (f": {said}" if said else ""))


def file_text(recording: Recording, path: str) -> str | None:
    """Return a file's text; None where it is missing, unreadable or not recorded."""
    entry = recording.file(path)
    return entry.text if entry else None


def json_object(text: str | None) -> dict[str, Any] | None:
    """Parse a JSON object; None where it is anything else."""
    try:
        document = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def as_object(value: object) -> dict[str, Any]:
    """Return a JSON object, or an empty one where there is something else."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str | None:
    """Return a string, or None where there is something else or nothing in it."""
    return value if isinstance(value, str) and value else None


def as_number(value: object) -> float | None:
    """Return a JSON number; None where there is something else, NaN, or one beyond all numbers."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def as_list(value: object) -> list[Any]:
    """Return a JSON array, or an empty one where there is something else."""
    return value if isinstance(value, list) else []
