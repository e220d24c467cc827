"""The clock. Work on a card is queued: the clock waits for the card before it starts and before it stops."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from verify.race import stats

Start = TypeVar("Start")
Result = TypeVar("Result")

# How many repeats there are, the last one's seconds, and the interval of them all.
Told = Callable[[int, float, "tuple[float, float] | None"], None]

PRECISE, BUDGET, MOST = "precise", "budget", "most"
MOST_WARMUPS = 20
FIRST_CALLS_SHARE = 0.5  # a first call may take twice as long as those after it


class NoTimeError(Exception):
    """One repeat would not end in time: ``seconds`` is what one is taken to need."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"one repeat takes about {seconds:.3g} s")
        self.seconds = seconds


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
    """Raw seconds. Warm-ups stand apart: the first holds one-time costs (kernel loading, allocation).

    ``windows``: when each timed repeat began and ended, by the clock's ``now``. ``looks``: at which numbers
    of repeats it could have been enough; none where their number was fixed beforehand.
    """

    warmups: tuple[float, ...]
    samples: tuple[float, ...]
    windows: tuple[tuple[float, float], ...] = ()
    looks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """When to stop: enough is known, the share of the budget is used, or so many repeats were made.

    ``until`` and ``end`` are read from the clock's ``now``. No repeat is begun that, by what the last one
    took, would end after ``until``; but for the ``least`` repeats, without which there is no result, the
    border is ``end``, the last moment that the lane may borrow. Where not even one would end before it,
    NoTimeError is raised and none is begun. ``after`` is what follows the repeats (the result's quality, the
    count of its work), in repeats: beyond the least, it must fit too.
    ``watched`` is entered for the timed repeats alone: the card's sampler. ``told`` hears of every repeat.
    """

    warmups: int = 1
    warm_s: float = 0.0
    least: int = 3
    most: int = 100
    target: float = 0.05
    until: float = math.inf
    end: float = math.inf
    after: float = 0.0
    share_s: float | None = None
    budget_s: float | None = None
    watched: Any = field(default_factory=contextlib.nullcontext)
    told: Told | None = None

    @property
    def looks(self) -> tuple[int, ...]:
        """Return at which numbers of repeats it may be enough; none where their number is exact."""
        return () if self.least >= self.most else stats.looks(self.most)

    def ended(self, samples: list[float], now: float, each: float) -> str | None:
        """Return why no further repeat is made, of which one takes ``each`` seconds; None to go on."""
        if len(samples) >= self.most:
            return MOST
        if len(samples) < self.least:
            return None if self.fits(now, each) else BUDGET
        if stats.precise(samples, self.target, self.looks):
            return PRECISE
        return BUDGET if now + each * (1 + self.after) > self.until else None

    def fits(self, now: float, each: float) -> bool:
        """Whether a repeat that begins now ends before the last moment."""
        return now + each <= self.end


def repeat(
    clock: Clock,
    fresh: Callable[[], Start],
    work: Callable[[Start], Result],
    *,
    plan: Plan,
) -> tuple[Timings, str, Result]:
    """Time ``work`` from a fresh start each time, after equal warm-ups; say why it ended; give the result."""
    if plan.most < 1:
        raise ValueError("a race needs at least one repeat")

    def once() -> tuple[float, Result]:
        start = fresh()
        return clock.time(lambda: work(start))

    warmups: list[float] = []
    while len(warmups) < plan.warmups or (sum(warmups) < plan.warm_s and len(warmups) < MOST_WARMUPS):
        warmups.append(once()[0])
    expected = warmups[-1] if len(warmups) > 1 else FIRST_CALLS_SHARE * sum(warmups)
    if not plan.fits(clock.now(), expected):
        raise NoTimeError(expected)
    samples: list[float] = []
    windows: list[tuple[float, float]] = []
    ended = None
    with plan.watched:
        while ended is None:
            began = clock.now()
            taken, result = once()
            samples.append(taken)
            windows.append((clock.now() - taken, clock.now()))
            if plan.told is not None:
                plan.told(len(samples), taken, stats.interval(samples, plan.looks)[:2])
            now = clock.now()
            ended = plan.ended(samples, now, now - began)
    return Timings(tuple(warmups), tuple(samples), tuple(windows), plan.looks), ended, result
