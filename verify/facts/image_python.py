"""Whether the image has a Python that runs the recorder: without one, nvidia-smi alone can be asked there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite_command, first_line
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.recording import CommandEntry, Recording

OLDEST = Version.of("3.6")
_PROGRAMS = ("python3", "python")
_NO_PROGRAM = re.compile(r'exec: "?python3?"?: executable file not found')


@dataclass(frozen=True, slots=True)
class ImagePython:
    """``absent``: it was looked for, and there is none, or only one that is too old."""

    absent: bool
    said: str
    evidence: tuple[str, ...]


def image_python(recording: Recording) -> ImagePython:
    """Read what the image's programs said; a container that could not be made says nothing of the image."""
    entries = [entry for name in _PROGRAMS if (entry := recording.command(f"image-{name}"))]
    words = [_word(entry) for entry in entries]
    absent = len(entries) == len(_PROGRAMS) and None not in words
    return ImagePython(
        absent=absent,
        said=", ".join(word for word in words if word),
        evidence=tuple(cite_command(entry, _line(entry)) for entry in entries),
    )


def _word(entry: CommandEntry) -> str | None:
    """Say why a program cannot be used; None where it can, or where nobody knows."""
    program = entry.name.removeprefix("image-")
    if entry.timed_out or entry.missing or entry.rc in (0, None):
        return None
    if _NO_PROGRAM.search(entry.stderr):
        return f"no {program}"
    version = Version.parse(entry.stdout)
    return f"{program} is {version}" if version and version < OLDEST else None


def _line(entry: CommandEntry) -> str:
    return f"{entry.ended}: {first_line(entry.stdout) or first_line(entry.stderr)}"
