"""A figure that is known within a factor: its two ends, and the likely one between them, by factors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Span:
    """Between ``low`` and ``high``, neither negative. Ends combine the pessimistic way: nothing cancels."""

    low: float
    high: float

    @property
    def likely(self) -> float:
        """Return the middle by factors; half of the top where the bottom is nothing."""
        return math.sqrt(self.low * self.high) if self.low > 0 else self.high / 2

    @property
    def factor(self) -> float | None:
        """Return by which factor either end is off the likely value; None where the bottom is nothing."""
        return math.sqrt(self.high / self.low) if self.low > 0 else None

    def __add__(self, other: Span) -> Span:
        return Span(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Span | float) -> Span:
        by = other if isinstance(other, Span) else Span(other, other)
        return Span(self.low * by.low, self.high * by.high)

    def __truediv__(self, other: Span | float) -> Span:
        by = other if isinstance(other, Span) else Span(other, other)
        return Span(self.low / by.high, self.high / by.low)

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"low": self.low, "likely": self.likely, "high": self.high}


def longest(*spans: Span) -> Span:
    """Return the time of what runs side by side: the slowest decides, at either end."""
    return Span(max(span.low for span in spans), max(span.high for span in spans))


def around(value: float, factor: float) -> Span:
    """Return a value that is known within a factor."""
    return Span(value / factor, value * factor)
