"""The clock. Work on a card is queued: the clock waits for the card before it starts and before it stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Start = TypeVar("Start")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Clock:
    """Time read from ``now``; ``synchronize`` returns when the device has nothing left to do."""

    now: Callable[[], float]
    synchronize: Callable[[], None]

    def time(self, work: Callable[[], Result]) -> tuple[float, Result]:
        """Return how many seconds ``work`` takes until the device has finished it, and its result."""
        self.synchronize()
        start = self.now()
        result = work()
        self.synchronize()
        return self.now() - start, result


@dataclass(frozen=True)
class Timings:
    """Raw seconds. Warm-ups stand apart: the first holds one-time costs (kernel loading, allocation)."""

    warmups: tuple[float, ...]
    samples: tuple[float, ...]


def repeat(
    clock: Clock,
    fresh: Callable[[], Start],
    work: Callable[[Start], Result],
    *,
    warmups: int,
    repeats: int,
    progress: Callable[[str], None],
) -> tuple[Timings, Result]:
    """Time ``work`` from a fresh start each time, after equal warm-ups; also return the last result."""
    if repeats < 1:
        raise ValueError("a race needs at least one repeat")
    seconds = []
    for number in range(1, warmups + repeats + 1):
        warming = number <= warmups
        start = fresh()
        taken, result = clock.time(lambda start=start: work(start))  # type: ignore[misc]
        seconds.append(taken)
        what = f"warm-up {number}/{warmups}" if warming else f"repeat {number - warmups}/{repeats}"
        progress(f"{what}: {taken:.3f} s")
    return Timings(tuple(seconds[:warmups]), tuple(seconds[warmups:])), result
