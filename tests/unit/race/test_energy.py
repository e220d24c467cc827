"""Energy of the timed repeats alone."""

from __future__ import annotations

from typing import Any

import pytest

from verify.race import energy

REPEATS = [(100.0, 102.0), (104.0, 106.0)]  # by the race's clock, and two seconds apart


def point(at: float, watts: float | None) -> list[Any]:
    return [at, None, None, watts, None, None, None]


def record(watts: list[float | None], counted: list[int | None] | None = None) -> dict[str, Any]:
    """Return a record that began at 100 s: a reading each half second."""
    points = [point(k / 2, value) for k, value in enumerate(watts)]
    counts = [[k / 2, value] for k, value in enumerate(counted or [None] * len(watts))]
    return {"began": 100.0, "points": points, "energy_mj": counts}


BUSY = [300.0 if k <= 4 or k >= 8 else 20.0 for k in range(13)]
STEADY: list[float | None] = [100.0] * 13


def test_the_pauses_are_not_in_it() -> None:
    found = energy.timed(record(list(BUSY)), REPEATS)
    assert (found["energy_j"], found["energy_from"]) == (pytest.approx(1200.0), "integrated")
    assert found["power_w_mean"] == pytest.approx(300.0)
    assert (found["timed_s"], found["trainings"]) == (4.0, 2)
    assert found["timed_share"] == pytest.approx(4 / 6)


def test_the_cards_own_counter_goes_first_and_its_pauses_are_left_out_too() -> None:
    counted: list[int | None] = [0, 100, 200, 300, 400, 401, 402, 403, 404, 504, 604, 704, 804]
    found = energy.timed(record(STEADY, [1_000 * c for c in counted if c is not None]), REPEATS)
    assert (found["energy_j"], found["energy_from"]) == (pytest.approx(800.0), "counter")


@pytest.mark.parametrize(
    "counted",
    [[None] * 13, [7_000] * 13, [*range(12), 3], [None, *range(12)]],
    ids=["none", "stands", "back", "hole"],
)
def test_a_counter_that_is_missing_stands_or_goes_back_is_not_used(counted: list[int | None]) -> None:
    found = energy.timed(record(STEADY, counted), REPEATS)
    assert (found["energy_j"], found["energy_from"]) == (pytest.approx(400.0), "integrated")


def test_a_repeat_that_ends_between_two_readings_is_interpolated() -> None:
    watts: list[float | None] = [0.0, 100.0, 200.0]
    found = energy.timed(record(watts), [(100.25, 100.75)])
    # By trapezoids 25 J until 0.5 s and 75 J from there to 1 s.
    assert found["energy_j"] == pytest.approx(12.5 + 37.5)


def test_repeats_too_short_to_be_told_from_their_pauses_have_none() -> None:
    short = [(100.0 + k, 100.5 + k) for k in range(6)]
    found = energy.timed(record(STEADY), short)
    assert (found["energy_j"], found["power_w_mean"]) == (None, None)
    assert found["timed_share"] == pytest.approx(3 / 5.5)
    without_pauses = [(100.0 + k / 2, 100.5 + k / 2) for k in range(12)]
    assert energy.timed(record(STEADY), without_pauses)["energy_j"] == pytest.approx(600.0)


def test_a_hole_in_the_power_gives_no_sum() -> None:
    assert energy.timed(record([*STEADY[:4], None, None, *STEADY[:7]]), REPEATS)["energy_j"] is None


@pytest.mark.parametrize("windows", [[], [(0.0, 2.0)], [(200.0, 202.0)]], ids=["none", "before", "after"])
def test_repeats_that_are_not_in_the_record_have_none(windows: list[tuple[float, float]]) -> None:
    assert energy.timed(record(STEADY), windows)["energy_j"] is None


def test_a_record_that_does_not_say_when_it_began_has_none() -> None:
    assert set(energy.timed({**record(STEADY), "began": None}, REPEATS).values()) == {None}
    assert energy.timed({"began": 0.0, "points": [], "energy_mj": []}, REPEATS)["energy_j"] is None
