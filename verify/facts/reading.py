"""The one converter for what nvidia-smi writes where a value should be.

A missing value is None, never 0: 0 W and 0 % look healthy.
"""

from __future__ import annotations

import math
import re

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


def is_sentinel(text: str) -> bool:
    """Whether the text stands for a missing value."""
    return text.strip().strip("[]").strip().lower() in _SENTINELS


def number(text: str | None) -> float | None:
    """Return a field's number, with or without its unit; None for a sentinel and for what is no number."""
    found = _NUMBER.match((text or "").strip())
    if found is None or not math.isfinite(float(found.group(1))):
        return None
    return float(found.group(1))


def whole(text: str | None) -> int | None:
    """Return the field's number as a whole one, or None."""
    value = number(text)
    return None if value is None else int(value)


def word(text: str | None) -> str | None:
    """Return a field's text; a sentinel is None."""
    return None if text is None or is_sentinel(text) else text.strip()
