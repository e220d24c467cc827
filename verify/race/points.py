"""One point of the sweep: an operation of one size on one device, and its copy, timed."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from verify.race import stats

if TYPE_CHECKING:
    from verify.race.clock import Clock
    from verify.race.operations import Operation

SAMPLE_S = 0.005  # the shortest sample: beside it, reading the clock and waiting for an idle card are nothing
WARM_S = 0.05  # clocks rise, libraries choose their kernels for this size
WARM_PART = 4  # no more than this part of a size's share goes to that
MOST_IN_A_SAMPLE = 10_000
UNTIMED = 2  # the first call, and the one by which samples are sized
RUNS_PART = 0.6  # of a size's share, where the copy is to be timed too
LEAST = 3  # samples; a size for which these do not fit its share of the budget is left out
FASTER_STEPS = 10


@dataclass(frozen=True)
class Measured:
    """Seconds of one run, and of its copies."""

    seconds: float
    interval: tuple[float, float]
    confidence: float  # of the interval
    samples: tuple[float, ...]
    copy: tuple[float, ...] = ()


def measured(operation: Operation, clock: Clock, repeats: int, share: float, *, copies: bool) -> Measured:
    """Time one operation of one size, and its copy."""
    began = clock.now()
    number = _in_a_sample(operation, clock, min(WARM_S, share / WARM_PART))
    samples: list[float] = []
    least = min(LEAST, repeats)
    mine = share * RUNS_PART if copies else share
    while len(samples) < repeats and (len(samples) < least or clock.now() - began < mine):
        samples.append(clock.time(lambda: operation.run(number))[0] / number)
    copied: list[float] = []
    if copies:
        clock.time(operation.copy)  # the first allocates
        while len(copied) < repeats and (len(copied) < least or clock.now() - began < share):
            copied.append(clock.time(operation.copy)[0])
    low, high, confidence = stats.interval(samples)
    return Measured(statistics.median(samples), (low, high), confidence, tuple(samples), tuple(copied))


def _in_a_sample(operation: Operation, clock: Clock, warm_s: float) -> int:
    """Warm up, and return how many runs last long enough to be timed."""
    clock.time(lambda: operation.run(1))  # the first call has one-time costs: it says nothing about a run
    number, warm = 1, 0.0
    while True:
        taken = clock.time(partial(operation.run, number))[0]
        warm += taken
        if taken < SAMPLE_S and number < MOST_IN_A_SAMPLE:
            factor = FASTER_STEPS if taken <= 0 else min(FASTER_STEPS, 1.2 * SAMPLE_S / taken)
            number = min(MOST_IN_A_SAMPLE, math.ceil(number * max(factor, 1.1)))
        elif warm >= warm_s or taken <= 0 or number >= MOST_IN_A_SAMPLE:
            return number
