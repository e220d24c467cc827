"""Why nvidia-smi does not answer, by its own texts and exit statuses."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from verify.facts.source import first_line

if TYPE_CHECKING:
    from verify.recording import CommandEntry


class Trouble(StrEnum):
    """One reason that nvidia-smi gives, or would give if it could."""

    NOT_INSTALLED = "not installed"
    TIMED_OUT = "no answer"
    MISMATCH = "version mismatch"
    NO_MODULE = "no driver"
    NO_LIBRARY = "no library"
    NO_PERMISSION = "no permission"
    LOST = "card lost"
    BLOCKED_BY_OS = "blocked by the operating system"
    NO_CARD = "no card"
    UNKNOWN = "unknown"


# Texts first: exit statuses differ by mode, 255 stands for many things.
_TEXTS = (
    (Trouble.MISMATCH, "version mismatch"),
    (Trouble.NO_MODULE, "couldn't communicate with the nvidia driver"),
    (Trouble.NO_MODULE, "driver not loaded"),
    (Trouble.NO_LIBRARY, "couldn't find libnvidia-ml.so"),
    (Trouble.LOST, "gpu is lost"),
    (Trouble.LOST, "unable to determine the device handle"),
    (Trouble.BLOCKED_BY_OS, "access blocked by the operating system"),
    (Trouble.NO_PERMISSION, "insufficient permissions"),
    (Trouble.NO_CARD, "no devices"),
    (Trouble.UNKNOWN, "failed to initialize nvml"),
)
_STATUSES = {
    4: Trouble.NO_PERMISSION,
    6: Trouble.NO_CARD,
    9: Trouble.NO_MODULE,
    12: Trouble.NO_LIBRARY,
    15: Trouble.LOST,
    17: Trouble.BLOCKED_BY_OS,
    18: Trouble.MISMATCH,
}


def trouble(entry: CommandEntry) -> Trouble:
    """Name the reason behind a failed nvidia-smi."""
    if entry.missing:
        return Trouble.NOT_INSTALLED
    if entry.timed_out:
        return Trouble.TIMED_OUT
    said = entry.said.lower()
    by_text = next((kind for kind, text in _TEXTS if text in said), None)
    return by_text or (Trouble.NO_CARD if entry.rc == 0 else _STATUSES.get(entry.rc or 0, Trouble.UNKNOWN))


def complains(entry: CommandEntry) -> bool:
    """Whether it says one of the sentences that we know, whatever its exit status."""
    said = entry.said.lower()
    return any(text in said for _, text in _TEXTS)


def complaint(entry: CommandEntry) -> str:
    """Return the line that says what is wrong: it may stand below the cards that still answer."""
    lines = [line.strip() for line in entry.said.splitlines()]
    known = (line for line in lines if any(text in line.lower() for _, text in _TEXTS))
    return next(known, first_line(entry.said))
