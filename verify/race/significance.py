"""Whether two sets of repeats differ, by how much, and how surely; with the standard library alone.

Mann-Whitney's U asks only how often a time of one race is above a time of the other: no distribution of times
is assumed, and one slow repeat counts as one. Its p-value is exact for few repeats, ties included: every way
of dealing the pooled ranks to the two races is counted, by dynamic programming. For many it is the normal
approximation with the correction for ties and for continuity. The effect is the median of all quotients
(Hodges and Lehmann's shift, of logarithms), with the interval that the same test would not refuse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist, median
from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.95
# Up to so many pairs everything is counted; beyond, the approximation is good to the digits shown.
EXACT_PAIRS = 900
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Result:
    """A two-sided test that times of ``a`` and ``b`` come from one distribution, and the effect b / a."""

    u: float  # of b: how many pairs have b above a, ties as a half
    p: float
    exact: bool
    ratio: float
    low: float
    high: float
    confidence: Optional[float]  # noqa: UP045  # Python 3.9; of the interval; None for the approximation's


def test(a: Sequence[float], b: Sequence[float]) -> Result:
    """Compare the times of two races."""
    exact = len(a) * len(b) <= EXACT_PAIRS
    u = statistic(a, b)
    p = exact_p(a, b) if exact else normal_p(a, b)
    low, high, confidence = interval(a, b)
    return Result(u, p, exact, effect(a, b), low, high, confidence)


def statistic(a: Sequence[float], b: Sequence[float]) -> float:
    """Return U of ``b``."""
    return sum(1.0 if y > x else 0.5 if y == x else 0.0 for x in a for y in b)


def exact_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the exact two-sided p-value, given the ties that there are: twice the smaller tail."""
    ranks = _doubled_ranks([*a, *b])
    seen = sum(ranks[len(a) :])
    ways = _sums(tuple(ranks), len(b))
    total = math.comb(len(ranks), len(b))
    below = sum(count for found, count in ways.items() if found <= seen)
    above = sum(count for found, count in ways.items() if found >= seen)
    return min(1.0, 2 * min(below, above) / total)


def normal_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the two-sided p-value of the normal approximation; 1 where all times are the same."""
    spread = _spread(a, b)
    if spread == 0:
        return 1.0
    off = abs(statistic(a, b) - len(a) * len(b) / 2) - 0.5
    return min(1.0, 2 * (1 - _NORMAL.cdf(off / spread)))


def least_p(a: int, b: int) -> float:
    """Return the smallest p-value that so many repeats can reach at all."""
    return min(1.0, 2 / math.comb(a + b, b))


def effect(a: Sequence[float], b: Sequence[float]) -> float:
    """Return how many times as long ``b`` takes: the median of all quotients."""
    return math.exp(median(_shifts(a, b)))


def interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float, float | None]:
    """Return the interval of the effect, and its confidence where that is exact.

    The narrowest pair of ordered quotients with at least 95 %; where so few repeats allow none, all of them,
    with the confidence that they have.
    """
    shifts = sorted(_shifts(a, b))
    if len(shifts) <= EXACT_PAIRS:
        rank, confidence = _rank(len(a), len(b))
    else:
        off = _NORMAL.inv_cdf(0.5 + CONFIDENCE / 2) * _spread_without_ties(len(a), len(b))
        rank, confidence = max(1, math.floor(len(shifts) / 2 - off)), None
    return math.exp(shifts[rank - 1]), math.exp(shifts[len(shifts) - rank]), confidence


def holm(values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm): one of many is small by chance."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    corrected, so_far = [0.0] * len(values), 0.0
    for step, index in enumerate(order):
        so_far = max(so_far, min(1.0, (len(values) - step) * values[index]))
        corrected[index] = so_far
    return corrected


def _shifts(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [math.log(y) - math.log(x) for x in a for y in b]


def _rank(a: int, b: int) -> tuple[int, float]:
    """Return the rank whose quotient, counted from either end, bounds the interval, and its confidence."""
    counts, total = _counts(a, b), math.comb(a + b, b)
    rank, tail = 1, counts[0]
    while rank < a * b / 2 and 1 - 2 * (tail + counts[rank]) / total >= CONFIDENCE:
        tail += counts[rank]
        rank += 1
    return rank, max(0.0, 1 - 2 * tail / total)


@lru_cache(maxsize=32)
def _counts(a: int, b: int) -> tuple[int, ...]:
    """Return in how many ways U is 0, 1, ... where there are no ties."""
    ways = _sums(tuple(range(1, a + b + 1)), b)
    least = b * (b + 1) // 2
    return tuple(ways.get(least + u, 0) for u in range(a * b + 1))


def _sums(ranks: tuple[int, ...], taken: int) -> dict[int, int]:
    """Return in how many ways so many of the ranks have each sum."""
    ways: list[dict[int, int]] = [{0: 1}, *({} for _ in range(taken))]
    for rank in ranks:
        for number in range(taken, 0, -1):
            into = ways[number]
            for found, count in ways[number - 1].items():
                into[found + rank] = into.get(found + rank, 0) + count
    return ways[taken]


def _doubled_ranks(values: Sequence[float]) -> list[int]:
    """Return twice each value's rank, equal values sharing the middle of theirs: whole numbers."""
    ordered = sorted(values)
    first = {value: index for index, value in reversed(list(enumerate(ordered)))}
    last = {value: index for index, value in enumerate(ordered)}
    return [first[value] + last[value] + 2 for value in values]


def _spread_without_ties(a: int, b: int) -> float:
    return math.sqrt(a * b * (a + b + 1) / 12)


def _spread(a: Sequence[float], b: Sequence[float]) -> float:
    pooled = [*a, *b]
    n, tied = len(pooled), sum(c**3 - c for c in (pooled.count(value) for value in set(pooled)))
    return math.sqrt(len(a) * len(b) / 12 * (n + 1 - tied / (n * (n - 1))))
