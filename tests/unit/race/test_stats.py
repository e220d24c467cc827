from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.race import stats
from verify.race.words import text

TIMES = st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=5, max_size=9)


def test_below_six_the_interval_is_fastest_to_slowest_and_says_how_sure_it_is() -> None:
    assert stats.interval([3.0, 1.0, 2.0]) == (1.0, 3.0, 0.75)
    assert stats.interval([3.0]) == (3.0, 3.0, 0.0)
    assert stats.interval([float(n) for n in range(5)])[2] == 0.9375


@pytest.mark.parametrize(
    ("count", "rank"),
    # Ranks of the 95 % interval of a median, from tables of the binomial distribution (Conover, sign test).
    [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (20, 6), (25, 8), (50, 18), (100, 40)],
)
def test_the_ranks_are_those_of_the_tables(count: int, rank: int) -> None:
    low, high, confidence = stats.interval([float(n) for n in range(1, count + 1)])
    assert (low, high) == (rank, count + 1 - rank)
    assert confidence >= 0.95
    closer = stats._confidence(count, rank + 1)
    assert closer < 0.95, "one rank closer would not be sure enough"


@pytest.mark.parametrize("count", [3, 6, 9, 20, 41])
def test_the_interval_holds_the_true_median_as_often_as_it_says(count: int) -> None:
    """Of 2000 draws of a known distribution, the interval misses the median about as often as it admits."""
    random = Random(20261201)  # noqa: S311
    sure = stats.interval([float(n) for n in range(count)])[2]
    hits = 0
    for _ in range(2000):
        low, high, _ = stats.interval([random.expovariate(1.0) for _ in range(count)])
        hits += low <= math.log(2) <= high
    assert hits / 2000 == pytest.approx(sure, abs=0.02)


def test_precise_is_both_ends_near_and_sure() -> None:
    assert stats.precise([1.0, 1.01, 0.99, 1.0, 1.02, 0.98], 0.05)
    assert not stats.precise([1.0, 1.01, 0.99, 1.0, 1.02], 0.05), "five samples are not sure enough"
    assert not stats.precise([1.0, 1.01, 0.99, 1.0, 1.02, 1.1], 0.05)


@given(TIMES, TIMES)
def test_the_ratio_of_medians_lies_in_its_interval(cpu: list[float], card: list[float]) -> None:
    low, high = stats.ratio_interval(cpu, card)
    ratio = sorted(cpu)[len(cpu) // 2] / sorted(card)[len(card) // 2]
    assert low * 0.999 <= ratio <= high * 1.001


def test_steady_samples_have_no_warning() -> None:
    assert stats.warnings([1.0, 1.01, 0.99, 1.0, 1.02, 1.0]) == ()


@pytest.mark.parametrize(
    ("samples", "word", "said"),
    [
        ([1.0, 1.0, 1.0], "few-samples", "only 3 repeats"),
        ([1.0, 1.2, 0.8, 1.3, 1.0, 1.0], "spread", "vary by"),
        ([1.0, 1.0, 1.0, 1.0, 1.0, 1.6], "outliers", "1 of 6 repeats"),
        ([9e-4] * 6, "too-short", "too small to time"),
    ],
)
def test_doubtful_samples_are_named(samples: list[float], word: str, said: str) -> None:
    (found,) = [warning for warning in stats.warnings(samples) if warning["id"] == word]
    assert said in text(found)
