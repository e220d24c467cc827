"""Figures on axes, beside bars and in the live line: short, and seconds never become minutes.

A scale's marks are seconds and parts of them, so that they can be compared; sentences and tables say a time
as a person would, which is in phrases.py.
"""

from __future__ import annotations

import math

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_WHOLE_FROM = 1000  # above this three digits would be written as a power of ten


def number(value: float, lang: str = "en", digits: int = 3) -> str:
    """Write a number with as many digits as mean something; not as a power of ten where it can be read."""
    said = f"{value:.0f}" if _WHOLE_FROM <= abs(value) < 1e12 else f"{value:.{digits}g}"  # noqa: PLR2004
    return said.replace(".", ",") if lang == "fr" else said


def duration(seconds: float, lang: str = "en") -> str:
    """Write seconds as s, ms, µs or ns."""
    factor, unit = _unit(seconds)
    return f"{number(seconds / factor, lang)} {unit}"


def span(low: float, high: float, lang: str = "en") -> str:
    """Write two times as an interval, in one unit."""
    factor, unit = _unit(high)
    return f"{number(low / factor, lang)} \N{EN DASH} {number(high / factor, lang)} {unit}"


def _unit(seconds: float) -> tuple[float, str]:
    """Return the largest unit of which there is at least one."""
    if not math.isfinite(seconds):
        raise ValueError(f"{seconds} is no time")
    return next((unit for unit in _UNITS if abs(seconds) >= unit[0]), _UNITS[-1] if seconds else _UNITS[0])
