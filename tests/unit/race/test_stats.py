from __future__ import annotations

import math
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.race import stats
from verify.race.words import text

if TYPE_CHECKING:
    from collections.abc import Callable

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
    assert 1 - stats._misses(count, rank + 1) < 0.95, "one rank closer would not be sure enough"


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


LOOKS = stats.looks(100)


def coverage(random: Random, sigma: float, enough: Callable[[list[float]], bool]) -> tuple[float, float]:
    """Repeat until it is enough, 3000 times; return how often the interval held, and what it said.

    Times are lognormal, as those of computers are: never negative, slow ones far out. Their median is 1.
    """
    held = said = 0.0
    for _ in range(3_000):
        samples: list[float] = []
        while not samples or not (enough(samples) or len(samples) == LOOKS[-1]):
            samples.append(random.lognormvariate(0.0, sigma))
        low, high, confidence = stats.interval(samples, LOOKS)
        held += low <= 1.0 <= high
        said += confidence
    return held / 3_000, said / 3_000


@pytest.mark.parametrize("sigma", [0.02, 0.04, 0.06, 0.1, 0.2])
def test_stopping_when_it_is_enough_keeps_what_is_promised(sigma: float) -> None:
    random = Random(20261202)  # noqa: S311
    held, said = coverage(random, sigma, lambda samples: stats.precise(samples, 0.05, LOOKS))
    assert said >= 0.95
    assert held >= said


@pytest.mark.parametrize("until", [7, 8, 11, 16, 25])
def test_and_so_does_a_budget_that_ends_between_two_looks(until: int) -> None:
    random = Random(20261202)  # noqa: S311

    def enough(samples: list[float]) -> bool:
        return len(samples) == until or stats.precise(samples, 0.05, LOOKS)

    held, said = coverage(random, 0.05, enough)
    assert held >= said >= 0.95


def test_looking_after_every_repeat_would_not_keep_it() -> None:
    """What is simulated can tell: the plain interval, watched until it is narrow, misses too often."""
    random = Random(20261202)  # noqa: S311
    held = said = 0.0
    for _ in range(3_000):
        samples = [random.lognormvariate(0.0, 0.06)]
        while len(samples) < LOOKS[-1] and not stats.precise(samples, 0.05):
            samples.append(random.lognormvariate(0.0, 0.06))
        low, high, confidence = stats.interval(samples)
        held += low <= 1.0 <= high
        said += confidence
    assert held < said - 0.01 * 3_000


def test_the_chances_of_all_looks_add_up_to_less_than_five_percent() -> None:
    looks = stats.spending(LOOKS)
    assert [number for number, _, _ in looks] == list(LOOKS)
    assert 0.03 < sum(chance for _, _, chance in looks) <= stats.MISSES
    steady = [1.0] * 6
    assert stats.interval(steady, LOOKS)[2] < stats.interval(steady)[2], "all looks are paid for"


def test_confidences_of_several_intervals() -> None:
    assert stats.joint(0.95, 0.95) == pytest.approx(0.9)
    assert stats.joint(0.5, 0.25) == 0.0
    assert stats.quotient((4.0, 6.0, 0.95), [(1.0, 2.0, 0.95), (0.5, 1.0, 1.0)]) == pytest.approx(
        (4.0 / 3.0, 4.0, 0.9)
    )


@given(TIMES, TIMES)
def test_the_ratio_of_medians_lies_in_its_interval(cpu: list[float], card: list[float]) -> None:
    low, high, _ = stats.quotient(stats.interval(cpu), [stats.interval(card)])
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
