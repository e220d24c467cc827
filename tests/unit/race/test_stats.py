from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.race import stats

TIMES = st.lists(st.floats(min_value=1e-3, max_value=1e3), min_size=5, max_size=9)


def test_the_interval_is_fastest_to_slowest() -> None:
    assert stats.interval([3.0, 1.0, 2.0]) == (1.0, 3.0)


@given(TIMES, TIMES)
def test_the_ratio_of_medians_lies_in_its_interval(cpu: list[float], card: list[float]) -> None:
    low, high = stats.ratio_interval(cpu, card)
    ratio = sorted(cpu)[len(cpu) // 2] / sorted(card)[len(card) // 2]
    assert low * 0.999 <= ratio <= high * 1.001


def test_steady_samples_have_no_warning() -> None:
    assert stats.warnings([1.0, 1.01, 0.99, 1.0, 1.02]) == ()


@pytest.mark.parametrize(
    ("samples", "word"),
    [
        ([1.0, 1.0, 1.0], "only 3 repeats"),
        ([1.0, 1.2, 0.8, 1.3, 1.0], "vary by"),
        ([1.0, 1.0, 1.0, 1.0, 1.6], "1 of 5 repeats lies"),
        ([9e-4] * 5, "less than 1 ms"),
    ],
)
def test_doubtful_samples_are_named(samples: list[float], word: str) -> None:
    assert any(word in warning for warning in stats.warnings(samples))
