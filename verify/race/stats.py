"""Statistics of a few repeats: the median, the interval it lies in, and what to distrust."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

STDEV_SHARE = 0.10
OUTLIER_SHARE = 0.50
SHORTEST_SECONDS = 0.001
ENOUGH_SAMPLES = 5


def interval(samples: Sequence[float]) -> tuple[float, float]:
    """Return the fastest and the slowest repeat.

    With five samples the true median lies between them with 94 % confidence, whatever the distribution
    (it misses only if all five fall on one side: 2 / 2**5), which no formula for normal times can promise.
    """
    return min(samples), max(samples)


def ratio_interval(cpu: Sequence[float], card: Sequence[float]) -> tuple[float, float]:
    """Return the least and the greatest quotient CPU time / card time that the samples allow."""
    return min(cpu) / max(card), max(cpu) / min(card)


def warnings(samples: Sequence[float]) -> tuple[str, ...]:
    """Say what makes these samples doubtful, and what to do about it."""
    found = []
    median = statistics.median(samples)
    if len(samples) < ENOUGH_SAMPLES:
        found.append(f"only {len(samples)} repeats: run at least {ENOUGH_SAMPLES} for an interval to trust")
    if len(samples) > 1:
        mean = statistics.fmean(samples)
        share = statistics.stdev(samples) / mean
        if share >= STDEV_SHARE:
            found.append(f"the repeats vary by {share:.0%} of their mean: run it again on a quiet machine")
    outliers = [s for s in samples if abs(s - median) >= OUTLIER_SHARE * median]
    if outliers:
        word = "lies" if len(outliers) == 1 else "lie"
        found.append(
            f"{len(outliers)} of {len(samples)} repeats {word} 50 % or more off the median: see the samples"
        )
    if min(samples) < SHORTEST_SECONDS:
        found.append("the fastest repeat took less than 1 ms: the work is too small to time")
    return tuple(found)
