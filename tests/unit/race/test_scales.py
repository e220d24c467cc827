"""Where a value lies on a picture, and how a figure is written."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.race.figures import duration, number, span
from verify.race.scales import even, even_marks, log_between, log_marks, log_over

TIMES = st.floats(min_value=1e-9, max_value=1e6)


@given(st.lists(TIMES, min_size=1, max_size=20))
def test_every_value_lies_inside_and_in_order(values: list[float]) -> None:
    scale = log_over(values, 10, 700)
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert places[0] > 10  # even the least has a bar
    assert places[-1] <= 700
    assert scale.low < min(values)
    assert scale.high >= max(values)


@given(st.lists(TIMES, min_size=1, max_size=5), st.floats(min_value=20, max_value=200))
def test_marks_are_inside_and_have_their_room(values: list[float], room: float) -> None:
    scale = log_over(values, 0, 600)
    places = [scale.at(mark) for mark in log_marks(scale, room)]
    assert places
    assert all(b - a >= room - 1e-6 for a, b in pairwise(places))


def test_ten_times_is_as_wide_everywhere() -> None:
    scale = log_over([0.002, 90.0], 0, 500)
    assert (scale.low, scale.high) == (0.001, 100.0)
    assert scale.at(0.01) - scale.at(0.001) == pytest.approx(scale.at(100) - scale.at(10))


def test_a_picture_may_grow_upwards() -> None:
    scale = log_over([0.002, 90.0], 200, 0)
    assert scale.at(90) < scale.at(0.002) <= 200


def test_what_lies_outside_stays_at_the_edge() -> None:
    scale = log_between([64, 4096], 0, 100)
    assert scale.at(1) == 0
    assert scale.at(1e9) == 100


@given(st.floats(min_value=1e-6, max_value=1e5))
def test_even_marks_are_round_and_few(high: float) -> None:
    marks = even_marks(even(high, 0, 600), 70)
    assert marks[0] == 0
    assert len(marks) <= 9
    assert marks[-1] <= high * (1 + 1e-6)
    assert {f"{mark / 10 ** math.floor(math.log10(marks[1])):.6g}" for mark in marks[1:2]} <= {
        "1",
        "2",
        "5",
        "10",
    }


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (2.1, "2.1 s"),
        (0.1045, "104 ms"),
        (4e-6, "4 µs"),
        (3.2e-9, "3.2 ns"),
        (5e-12, "0.005 ns"),
        (1234.5, "1234 s"),
        (0.0, "0 s"),
    ],
)
def test_seconds_in_the_unit_that_fits(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_an_interval_has_one_unit_and_french_a_comma() -> None:
    assert span(0.9, 1.1) == "0.9 \N{EN DASH} 1.1 s"
    assert span(0.0995, 0.1005, "fr") == "99,5 \N{EN DASH} 100 ms"
    assert number(0.25, "fr") == "0,25"


def test_what_is_no_time_is_refused() -> None:
    with pytest.raises(ValueError, match="no time"):
        duration(math.nan)
