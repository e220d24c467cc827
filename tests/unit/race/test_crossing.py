from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from verify.race.crossing import ALWAYS, BETWEEN, NEVER, UNKNOWN, break_even

Point = dict[str, Any]
NOTHING = {"size": None, "low": None, "high": None, "said": UNKNOWN, "confidence": None}


def both(
    size: int, cpu: float, card: float, spread: float = 0.01, copy_s: float | None = 0.0, **more: Any
) -> list[Point]:
    """Measure one size of both lanes; ``spread`` is how far the intervals reach, relatively."""
    common = {"size": size, "flops": 1.0, "status": "ran"}
    common |= {"confidence": 0.98, "copy_confidence": 0.98}
    ours = {"lane": "cpu", "seconds": cpu, "interval": [cpu * (1 - spread), cpu * (1 + spread)]}
    theirs = {"lane": "cuda", "seconds": card, "interval": [card * (1 - spread), card * (1 + spread)]}
    return [{**common, **ours, "copy_s": None}, {**common, **theirs, "copy_s": copy_s, **more}]


def curve(*ratios: float, spread: float = 0.01) -> list[Point]:
    """Measure sizes 10, 100, 1000, …; each ratio is CPU time over card time."""
    return list(itertools.chain(*(both(10 ** (k + 1), r, 1.0, spread) for k, r in enumerate(ratios))))


def without(points: list[Point]) -> dict[str, Any]:
    return break_even(points)["without_copy"]


def test_it_is_interpolated_on_logarithmic_scales() -> None:
    """The CPU takes size / 500 of the card's time: a straight line there, and the crossing exactly at 500."""
    found = without([p for size in (10, 100, 1000, 10_000) for p in both(size, size / 500, 1.0)])
    assert found["said"] == BETWEEN
    assert found["size"] == pytest.approx(500)


def test_the_uncertainty_is_that_of_the_times() -> None:
    found = without([p for size in (100, 1000) for p in both(size, size / 500, 1.0, spread=0.1)])
    # The CPU 10 % faster and the card 10 % slower, and the reverse.
    assert found["high"] == pytest.approx(500 * 1.1 / 0.9)
    assert found["low"] == pytest.approx(500 * 0.9 / 1.1)


def test_a_size_at_which_both_are_even_is_the_size() -> None:
    found = without(curve(0.5, 1.0, 2.0, spread=0.0))
    assert (found["size"], found["low"], found["high"]) == pytest.approx((100, 100, 100))


def test_the_copy_moves_the_crossing_up() -> None:
    points = [p for s in (10, 100, 1000, 10_000) for p in both(s, s / 500, 1.0, copy_s=3.0)]
    found = break_even(points)
    assert found["without_copy"]["size"] == pytest.approx(500)
    assert found["with_copy"]["size"] == pytest.approx(2000)


def test_the_copys_own_uncertainty_counts() -> None:
    def at(size: int, interval: list[float] | None) -> list[Point]:
        return both(size, size / 500, 1.0, spread=0.0, copy_s=1.0, copy_interval=interval)

    points = [p for size in (100, 1000, 10_000) for p in at(size, [0.5, 2.0])]
    found = break_even(points)["with_copy"]
    assert (found["low"], found["size"], found["high"]) == pytest.approx((750, 1000, 1500))
    alone = break_even([p for size in (100, 1000, 10_000) for p in at(size, None)])["with_copy"]
    assert (alone["low"], alone["high"]) == pytest.approx((1000, 1000))


def test_a_copy_that_was_not_timed_is_not_nothing() -> None:
    points = [p for size in (100, 1000) for p in both(size, size / 500, 1.0, copy_s=None)]
    found = break_even(points)
    assert found["without_copy"]["said"] == BETWEEN
    assert found["with_copy"] == NOTHING


def test_always_and_never() -> None:
    sure = pytest.approx(1 - 6 * 0.02)
    assert without(curve(2.0, 3.0, 9.0)) == {**NOTHING, "high": 10.0, "said": ALWAYS, "confidence": sure}
    assert without(curve(0.1, 0.2, 0.5)) == {**NOTHING, "low": 1000.0, "said": NEVER, "confidence": sure}


def test_intervals_of_three_samples_are_none_to_rest_a_crossing_on() -> None:
    """Three samples' extremes hold the median three times of four."""
    points = curve(0.1, 0.5, 2.0, 30.0)
    assert without(points)["said"] == BETWEEN
    assert without(points)["confidence"] == pytest.approx(1 - 4 * 0.02), "of both lanes at the two sizes"
    points[0]["confidence"] = points[-1]["confidence"] = 0.75
    assert without(points)["said"] == BETWEEN, "they lie beyond the sizes between which it crosses"
    points[4]["confidence"] = 0.75
    assert without(points) == NOTHING
    del points[4]["confidence"]
    assert without(points) == NOTHING, "one that is not told is none"


def test_the_copys_confidence_counts_where_the_copy_does() -> None:
    points = [p for s in (10, 100, 1000, 10_000) for p in both(s, s / 500, 1.0, copy_s=3.0)]
    for point in points:
        point["copy_confidence"] = 0.75
    found = break_even(points)
    assert found["without_copy"]["said"] == BETWEEN
    assert found["with_copy"] == NOTHING


def test_a_draw_at_an_end_is_neither_always_nor_never() -> None:
    """The smallest size is a draw: the crossing lies below some size, and that is all that is known."""
    found = without(curve(1.02, 3.0, 9.0, spread=0.05))
    assert (found["said"], found["size"], found["low"]) == (UNKNOWN, None, None)
    assert 10 < found["high"] < 100
    found = without(curve(0.1, 0.2, 0.98, spread=0.05))
    assert (found["said"], found["size"], found["high"]) == (UNKNOWN, None, None)
    assert 100 < found["low"] < 1000


def test_noise_inside_the_intervals_takes_the_last_crossing() -> None:
    found = without(curve(0.2, 1.03, 0.97, 4.0, spread=0.05))
    assert found["said"] == BETWEEN
    assert 1000 < found["size"] < 10_000
    assert 10 < found["low"] < found["size"] < found["high"] < 10_000


@pytest.mark.parametrize("ratios", [(0.2, 2.0, 0.5, 4.0), (2.0, 0.5), (0.5, 2.0, 1.0, 0.5), (2.0, 0.5, 2.0)])
def test_back_and_forth_beyond_the_intervals_is_not_known(ratios: tuple[float, ...]) -> None:
    assert without(curve(*ratios)) == NOTHING


def test_one_size_or_one_lane_says_nothing() -> None:
    points = curve(0.5, 2.0)
    for few in (points[:2], [p for p in points if p["lane"] == "cpu"], []):
        assert without(few)["said"] == UNKNOWN


def test_what_did_not_run_or_is_not_valid_does_not_count() -> None:
    points = curve(0.1, 0.5, 2.0, 30.0)
    points[-1]["status"] = "invalid"
    points[1]["status"] = "failed"
    points[1]["seconds"] = points[1]["interval"] = None
    assert without(points) == without(points[2:6])


def test_the_order_of_the_points_does_not_matter() -> None:
    points = curve(0.2, 0.7, 1.8, 4.0)
    shuffled = random.Random(1).sample(points, len(points))  # noqa: S311
    assert without(shuffled) == without(points)


def test_the_size_lies_in_its_uncertainty_whatever_the_times() -> None:
    chance = random.Random(5)  # noqa: S311  # no secret
    said = set()
    for _ in range(500):
        ratios = [chance.uniform(0.8, 1.25) * (0.4 + 0.3 * k) for k in range(chance.randint(2, 6))]
        found = without(curve(*ratios, spread=chance.uniform(0.0, 0.2)))
        said.add(found["said"])
        if found["said"] == BETWEEN:
            assert found["low"] <= found["size"] * (1 + 1e-9)
            assert found["size"] <= found["high"] * (1 + 1e-9)
    assert {BETWEEN, UNKNOWN} <= said
