"""The time that the whole race may take, and what of it the next lane gets."""

from __future__ import annotations

import math
import re
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS = "seconds (60 or 60s) or minutes (2m)"


class Budget:
    """Seconds, counted from when it is made; ``None`` is no limit."""

    def __init__(self, seconds: float | None, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds = seconds
        self._now = now
        self._start = now()

    def elapsed(self) -> float:
        """Return the seconds since it was made."""
        return self._now() - self._start

    def left(self) -> float:
        """Return what is left; below zero when it is overdrawn."""
        return math.inf if self.seconds is None else self.seconds - self.elapsed()

    def share(self, lanes_left: int) -> float:
        """Return the next lane's part of what is left: what one does not use is dealt to those after it."""
        return max(0.0, self.left()) / max(1, lanes_left)

    def part(self, claims: int, of: int) -> Budget:
        """Return so many claims' part of what is left, as a budget that counts from now."""
        mine = None if self.seconds is None else max(0.0, self.left()) * claims / max(1, claims, of)
        return Budget(mine, self._now)


def seconds_of(text: str) -> float:
    """Read 60, 60s or 2m; anything else is a ValueError that says the forms."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|)", text.strip())
    seconds = float(found.group(1)) * (60 if found.group(2) == "m" else 1) if found else 0.0
    if not 0 < seconds < math.inf:
        raise ValueError(f"{text!r} is no time: give {FORMS}, more than 0")
    return seconds
