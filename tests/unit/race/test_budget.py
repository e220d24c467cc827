from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.race.budget import Budget, seconds_of


class Time:
    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at


def test_what_a_lane_leaves_is_dealt_to_those_after_it() -> None:
    time = Time()
    budget = Budget(60.0, time.now)
    assert budget.share(4) == 15.0
    time.at += 3.0
    assert budget.share(3) == 19.0
    time.at += 57.0
    assert (budget.left(), budget.share(2)) == (0.0, 0.0)
    time.at += 1.0
    assert (budget.left(), budget.share(1)) == (-1.0, 0.0)


@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=12))
def test_lanes_that_keep_their_shares_keep_the_budget(used: list[float]) -> None:
    time = Time()
    budget = Budget(60.0, time.now)
    for index, part in enumerate(used):
        time.at += part * budget.share(len(used) - index)
    assert budget.elapsed() <= 60.0 + 1e-6


def test_without_a_limit_there_is_no_end() -> None:
    budget = Budget(None)
    assert budget.share(3) == budget.left() == math.inf


@pytest.mark.parametrize(
    ("text", "seconds"), [("60", 60.0), ("60s", 60.0), ("2m", 120.0), ("1.5m", 90.0), (" 5 s ", 5.0)]
)
def test_times(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0m", "-3", "1h", "soon", "nan", "inf", "1e3"])
def test_what_is_no_time_says_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match=r"60s.*2m"):
        seconds_of(text)
