"""What a foreign JSON document holds, by kind: a value of another kind is as if it were not there."""

from __future__ import annotations

import json
import math
from typing import Any


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


def as_whole(value: object) -> int | None:
    """Return a whole number, or None where there is something else: ``true`` is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_truth(value: object) -> bool | None:
    """Return true or false, or None where there is something else."""
    return value if isinstance(value, bool) else None
