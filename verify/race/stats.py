"""Statistics of a few repeats: the median, the interval it lies in, and what to distrust."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
ENOUGH_SAMPLES = 6  # the fewest whose extremes hold the median with 95 % confidence: 1 - 2 / 2**6 = 0.969
STDEV_SHARE = 0.10
OUTLIER_SHARE = 0.50
SHORTEST_SECONDS = 0.001


def interval(samples: Sequence[float]) -> tuple[float, float, float]:
    """Return the interval that holds the true median, and with which confidence it does.

    By order statistics: the median lies below the k-th smallest of n samples only if fewer than k of them
    fell below it: a matter of n coins, whatever the distribution; no formula for normal times can promise
    that. The narrowest pair of ranks with at least 95 % is taken; below six samples there is none, and the
    interval is fastest to slowest with the confidence that it has, 1 - 2 / 2**n.
    """
    ordered = sorted(samples)
    n = len(ordered)
    rank, confidence = 1, _confidence(n, 1)
    while 2 * (rank + 1) <= n and _confidence(n, rank + 1) >= CONFIDENCE:
        rank += 1
        confidence = _confidence(n, rank)
    return ordered[rank - 1], ordered[n - rank], confidence


def _confidence(n: int, rank: int) -> float:
    """Return how surely the median of n samples lies between the rank-th smallest and the rank-th largest."""
    return float(max(0.0, 1 - 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n))


def precise(samples: Sequence[float], target: float) -> bool:
    """Whether the median is known: both ends of its 95 % interval lie within ``target`` of it."""
    low, high, confidence = interval(samples)
    median = statistics.median(samples)
    return confidence >= CONFIDENCE and median - low <= target * median and high - median <= target * median


def ratio_interval(
    cpu: Sequence[float], card: Sequence[float], card_extra: float = 0.0
) -> tuple[float, float]:
    """Return the least and the greatest quotient CPU time / card time that the medians' intervals allow."""
    cpu_low, cpu_high, _ = interval(cpu)
    card_low, card_high, _ = interval(card)
    return cpu_low / (card_high + card_extra), cpu_high / (card_low + card_extra)


def warnings(samples: Sequence[float]) -> tuple[Message, ...]:
    """Say what makes these samples doubtful."""
    found = []
    median = statistics.median(samples)
    if len(samples) < ENOUGH_SAMPLES:
        found.append(message("few-samples", count=len(samples), least=ENOUGH_SAMPLES))
    if len(samples) > 1:
        share = statistics.stdev(samples) / statistics.fmean(samples)
        if share >= STDEV_SHARE:
            found.append(message("spread", share=share))
    outliers = [s for s in samples if abs(s - median) >= OUTLIER_SHARE * median]
    if outliers:
        found.append(message("outliers", count=len(outliers), of=len(samples)))
    if min(samples) < SHORTEST_SECONDS:
        found.append(message("too-short", seconds=min(samples)))
    return tuple(found)
