"""Where a value lies on a picture: logarithmic and even scales, and the marks along them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FEW_DECADES = 2
_ROUND = (1, 2, 5, 10)
_LEAST = 1e-12  # what is faster is no time, and has no logarithm worth a picture


@dataclass(frozen=True)
class Scale:
    """From values to pixels; ``log`` says how."""

    low: float
    high: float
    start: float
    end: float
    log: bool = True

    def at(self, value: float) -> float:
        """Return the pixel of a value; what lies outside is put at the edge."""
        low, high, here = (self._place(v) for v in (self.low, self.high, value))
        share = min(1.0, max(0.0, (here - low) / (high - low)))
        return self.start + share * (self.end - self.start)

    def _place(self, value: float) -> float:
        return math.log10(max(value, _LEAST)) if self.log else value


def log_over(values: Iterable[float], start: float, end: float) -> Scale:
    """Return a scale of whole decades that leaves every value clear of its lower edge."""
    kept = [max(value, _LEAST) for value in values]
    low = math.floor(math.log10(min(kept) / 1.3))
    high = max(low + 1, math.ceil(math.log10(max(kept) * 1.05)))
    return Scale(10.0**low, 10.0**high, start, end)


def log_between(values: Iterable[float], start: float, end: float) -> Scale:
    """Return a scale that begins and ends with the values, with a little room."""
    kept = [max(value, _LEAST) for value in values]
    return Scale(min(kept) / 1.2, max(kept) * 1.2, start, end)


def even(high: float, start: float, end: float) -> Scale:
    """Return an even scale from nothing to ``high``."""
    return Scale(0.0, high or 1.0, start, end, log=False)


def log_marks(scale: Scale, room: float) -> list[float]:
    """Return the values to mark, ``room`` pixels each: decades, 2 and 5 between them where they are few."""
    first, last = math.ceil(math.log10(scale.low) - 1e-9), math.floor(math.log10(scale.high) + 1e-9)
    decades = [10.0**power for power in range(first, last + 1)]
    if last - first <= _FEW_DECADES:
        between = [factor * 10.0**power for power in range(first, last) for factor in _ROUND[1:3]]
        found = _thin(sorted([*decades, *between]), scale, room)
        if found:
            return found
    return _thin(decades, scale, room, whole=True)


def even_marks(scale: Scale, room: float) -> list[float]:
    """Return round values from nothing on, ``room`` pixels each."""
    most = max(1, int(abs(scale.end - scale.start) / room))
    step = _round_up(scale.high / most)
    return [step * k for k in range(int(scale.high / step + 1e-9) + 1)]


def _round_up(value: float) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    return power * next(factor for factor in _ROUND if factor >= value / power - 1e-9)


def _thin(marks: list[float], scale: Scale, room: float, *, whole: bool = False) -> list[float]:
    """Return the marks if each has its room; ``whole``: every second, third … of them until they have."""
    step = 1
    while marks and whole and step < len(marks):
        if abs(scale.at(marks[step]) - scale.at(marks[0])) >= room:
            break
        step += 1
    kept = marks[::step]
    places = [scale.at(mark) for mark in kept]
    near = any(abs(places[k + 1] - places[k]) < room for k in range(len(places) - 1))
    return kept if whole or not near else []
