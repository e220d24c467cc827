"""Bytes, times and prices as people say them."""

from __future__ import annotations

_STEPS = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_MINUTE, _HOUR = 60, 3600


def size(amount: int) -> str:
    """Write a number of bytes in the units of ``docker images``."""
    for step, unit in _STEPS:
        if amount >= step:
            number = amount / step
            return f"{number:.1f} {unit}" if number < 100 else f"{number:.0f} {unit}"  # noqa: PLR2004  # three digits
    return f"{amount} bytes"


def duration(seconds: float) -> str:
    """Write a time."""
    if seconds < 1:
        return "under a second"
    whole = round(seconds)
    if whole < 2 * _MINUTE:
        return f"{whole} s"
    if whole < 2 * _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE} min"


def money(amount: float, currency: str) -> str:
    """Write a price; what is next to nothing is not written as nothing."""
    smallest = 0.01
    return f"under {smallest} {currency}" if 0 < amount < smallest else f"{amount:.2f} {currency}"
