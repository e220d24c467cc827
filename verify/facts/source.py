"""Evidence strings: ``source: line``, where source is a recorded file or command."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
