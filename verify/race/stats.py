"""Statistics of a few repeats: the median, the interval it lies in, and what to distrust."""

from __future__ import annotations

import math
import statistics
from functools import lru_cache
from typing import TYPE_CHECKING

from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
# Of all looks together, a little less than 1 - CONFIDENCE: two lanes and two copies leave a ratio 90 %.
MISSES = 0.0475
LOOKS = (6, 9, 13, 20, 30, 45, 67)
SPENT_A_LOOK = 0.25
ENOUGH_SAMPLES = 6  # the fewest whose extremes hold the median with 95 % confidence: 1 - 2 / 2**6 = 0.969
STDEV_SHARE = 0.10
OUTLIER_SHARE = 0.50
SHORTEST_SECONDS = 0.001


def interval(samples: Sequence[float], looks: Sequence[int] = ()) -> tuple[float, float, float]:
    """Return the interval that holds the true median, and with which confidence it does.

    By order statistics: the median lies below the k-th smallest of n samples only if fewer than k of them
    fell below it: a matter of n coins, whatever the distribution; no formula for normal times can promise
    that. The narrowest pair of ranks with at least 95 % is taken; below six samples there is none, and the
    interval is fastest to slowest with the confidence that it has, 1 - 2 / 2**n.

    ``looks`` are the numbers of samples at which it may have been enough. Whoever looks often and stops when
    the interval is narrow catches the lucky ones: the chances of all looks to miss add up, and the confidence
    is what is left after all of them, those that were never taken included. Without looks the number of
    samples was fixed beforehand.
    """
    ordered = sorted(samples)
    n = len(ordered)
    planned = spending(tuple(looks))
    spent = sum(chance for number, _, chance in planned if number < n)
    rank = _rank(n, MISSES - spent if looks else 1 - CONFIDENCE)
    every = sum(chance for _, _, chance in planned)
    return ordered[rank - 1], ordered[n - rank], max(0.0, 1 - max(every, spent + _misses(n, rank)))


def looks(most: int) -> tuple[int, ...]:
    """Return at which numbers of samples a lane of at most so many is looked at."""
    return (*(number for number in LOOKS if number < most), most)


@lru_cache(maxsize=32)
def spending(looks: tuple[int, ...]) -> tuple[tuple[int, int, float], ...]:
    """Return for each look its number of samples, the rank of its interval and its chance to miss.

    The first takes what it needs, the later ones a part of what is left of MISSES.
    """
    found: list[tuple[int, int, float]] = []
    for number in looks:
        left = MISSES - sum(chance for _, _, chance in found)
        rank = _rank(number, left * SPENT_A_LOOK if found else left)
        found.append((number, rank, _misses(number, rank)))
    return tuple(found)


def _rank(n: int, allowed: float) -> int:
    """Return the greatest rank whose interval misses the median with no more than the allowed chance."""
    rank = 1
    while 2 * (rank + 1) <= n and _misses(n, rank + 1) <= allowed:
        rank += 1
    return rank


def _misses(n: int, rank: int) -> float:
    """Return the chance that the median of n samples is not between the rank-th smallest and largest."""
    return float(min(1.0, 2 * sum(math.comb(n, k) for k in range(rank)) / 2**n))


def precise(samples: Sequence[float], target: float, looks: Sequence[int] = ()) -> bool:
    """Whether the median is known: both ends of its 95 % interval lie within ``target`` of it.

    With ``looks`` it is only asked at these numbers of samples.
    """
    if looks and len(samples) not in looks:
        return False
    low, high, confidence = interval(samples, looks)
    median = statistics.median(samples)
    return confidence >= CONFIDENCE and median - low <= target * median and high - median <= target * median


def joint(*confidences: float) -> float:
    """Return how surely all of several intervals hold at once (Bonferroni: their chances to miss add up)."""
    return max(0.0, 1 - sum(1 - confidence for confidence in confidences))


def quotient(
    over: tuple[float, float, float], under: Sequence[tuple[float, float, float]]
) -> tuple[float, float, float]:
    """Return between what one time over the sum of others lies, and how surely: each (low, high, confidence).

    A time that nothing is known of but its value is (value, value, 1.0).
    """
    least, most = (sum(part[end] for part in under) for end in (0, 1))
    return over[0] / most, over[1] / least, joint(over[2], *(part[2] for part in under))


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
