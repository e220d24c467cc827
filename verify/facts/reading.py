"""The one converter for what nvidia-smi writes where a value should be.

A missing value is None with its reason, never 0: 0 W and 0 % look healthy.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

# Spellings differ between driver branches; brackets come and go (cases F1, F2).
_SENTINELS = frozenset(
    {
        "",
        "n/a",
        "na",
        "not supported",
        "not available",
        "not active",
        "unknown",
        "unknown error",
        "err!",
        "not found",
        "insufficient permissions",
        "requested functionality has been deprecated",
        "gpu is lost",
        "no permissions",
        "gpu requires reset",
        "reset required",
    }
)
_NUMBER = re.compile(r"^([-+]?\d+(?:\.\d+)?)\s*(?:%|[A-Za-z]+)?$")


@dataclass(frozen=True, slots=True)
class Reading:
    """A number, or None and what stood in its place."""

    value: float | None
    reason: str | None = None


def is_sentinel(text: str) -> bool:
    """Whether the text stands for a missing value."""
    return text.strip().strip("[]").strip().lower() in _SENTINELS


def reading(text: str | None) -> Reading:
    """Convert one field, with or without its unit."""
    if text is None:
        return Reading(None, "not in the output")
    stripped = text.strip()
    if is_sentinel(stripped):
        return Reading(None, stripped or "empty")
    found = _NUMBER.match(stripped)
    if found is None or not math.isfinite(float(found.group(1))):
        return Reading(None, f"not a number: {stripped[:40]}")
    return Reading(float(found.group(1)))


def number(text: str | None) -> float | None:
    """Return the field's number, or None."""
    return reading(text).value


def whole(text: str | None) -> int | None:
    """Return the field's number as a whole one, or None."""
    value = number(text)
    return None if value is None else int(value)


def word(text: str | None) -> str | None:
    """Return a field's text; a sentinel is None."""
    return None if text is None or is_sentinel(text) else text.strip()
