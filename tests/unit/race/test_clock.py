from __future__ import annotations

import contextlib
from typing import Any

import pytest

from tests.unit.race.fakes import QueueDevice
from verify.race.clock import Clock, NoTimeError, Plan, Timings, repeat


def test_the_clock_waits_for_queued_work() -> None:
    device = QueueDevice()
    seconds, result = Clock(device.now, device.synchronize).time(lambda: device.launch(2.0))
    assert seconds == pytest.approx(2.0, abs=1e-4)
    assert result == "launched"


def test_without_waiting_it_would_see_the_launch_alone() -> None:
    """The bug of most published comparisons: shows that the fake card can tell the two clocks apart."""
    device = QueueDevice()
    assert Clock(device.now, lambda: None).time(lambda: device.launch(2.0))[0] < 1e-3


def test_work_queued_before_is_not_counted() -> None:
    device = QueueDevice()
    device.launch(50.0)
    assert Clock(device.now, device.synchronize).time(lambda: device.launch(2.0))[0] == pytest.approx(
        2.0, abs=1e-4
    )


def queued(todo: list[float], plan: Plan) -> tuple[Timings, str, str]:
    device = QueueDevice()
    clock = Clock(device.now, device.synchronize)
    return repeat(
        clock,
        lambda: device.launch(9.0),
        lambda _: device.launch(todo.pop(0) if len(todo) > 1 else todo[0]),
        plan=plan,
    )


def test_warm_ups_stand_apart_and_starts_are_fresh() -> None:
    heard: list[tuple[int, float]] = []
    plan = Plan(least=3, most=3, told=lambda number, seconds, _: heard.append((number, round(seconds, 3))))
    timings, ended, result = queued([30.0, 1.0, 3.0, 2.0], plan)
    assert timings.warmups == pytest.approx((30.0,), abs=1e-4)
    assert timings.samples == pytest.approx((1.0, 3.0, 2.0), abs=1e-4)
    assert (ended, result) == ("most", "launched")
    assert heard == [(1, 1.0), (2, 3.0), (3, 2.0)]


def test_short_warm_ups_go_on_until_the_device_is_warm() -> None:
    timings, _, _ = queued([0.3, 0.1], Plan(warm_s=0.55, least=1, most=1))
    assert timings.warmups == pytest.approx((0.3, 0.1, 0.1, 0.1), abs=1e-4)
    assert len(queued([1e-6], Plan(warm_s=60.0, least=1, most=1))[0].warmups) == 20


def test_it_ends_as_soon_as_the_median_is_known() -> None:
    timings, ended, _ = queued([1.0], Plan())
    assert (len(timings.samples), ended) == (6, "precise")


def test_noise_is_repeated_until_the_share_is_used_or_there_are_enough() -> None:
    noise = [1.0, *[1.0, 2.0] * 200]
    timings, ended, _ = queued(list(noise), Plan(until=150.0))
    assert ended == "budget"
    assert 10 <= len(timings.samples) < 20
    timings, ended, _ = queued(list(noise), Plan())
    assert (len(timings.samples), ended) == (100, "most")


def test_the_fewest_are_made_beyond_the_share() -> None:
    timings, ended, _ = queued([4.0], Plan(until=5.0))
    assert (len(timings.samples), ended) == (3, "budget")


def test_the_last_moment_is_the_end_of_the_fewest_too() -> None:
    timings, ended, _ = queued([4.0], Plan(until=50.0, end=45.0))
    assert (len(timings.samples), ended) == (2, "budget"), "9 s for a start and 4 s for each, the warm-up too"


def test_what_follows_the_repeats_must_fit_as_well() -> None:
    for after, made in ((0.0, 4), (1.0, 3)):
        timings, _, _ = queued([4.0], Plan(until=66.0, least=1, target=0.0, after=after))
        assert len(timings.samples) == made


def test_where_no_repeat_could_end_none_is_begun() -> None:
    with pytest.raises(NoTimeError) as refused:
        queued([30.0, 20.0], Plan(until=50.0, end=50.0))
    assert refused.value.seconds == pytest.approx(15.0, abs=1e-4)
    timings, ended, _ = queued([30.0, 20.0], Plan(until=60.0, end=60.0))
    assert (len(timings.samples), ended) == (1, "budget"), "a first call may take twice as long"


def test_a_median_is_asked_for_at_a_few_numbers_of_repeats_and_not_after_each() -> None:
    steady_from = [1.0, *[1.0, 1.2, 1.0, 0.8, 1.0, 1.0], *[1.0] * 94]
    timings, ended, _ = queued(list(steady_from), Plan())
    assert (len(timings.samples), ended) == (13, "precise")
    assert timings.looks == (6, 9, 13, 20, 30, 45, 67, 100)
    assert queued([1.0], Plan(least=9, most=9))[0].looks == (), "an exact number is looked at once"


def test_when_each_repeat_was_is_kept() -> None:
    timings, _, _ = queued([7.0, 1.0, 2.0], Plan(least=2, most=2))
    # A start takes 9 s: the warm-up ends at 16, then 9 + 1 and 9 + 2.
    assert timings.windows[0] == pytest.approx((25.0, 26.0), abs=1e-3)
    assert timings.windows[1] == pytest.approx((35.0, 37.0), abs=1e-3)


def test_a_repeat_is_told_with_the_interval_so_far_and_watched() -> None:
    heard: list[Any] = []
    watch = contextlib.ExitStack()
    watch.callback(heard.append, "unwatched")
    queued([7.0, 1.0, 2.0], Plan(least=2, most=2, watched=watch, told=lambda *what: heard.append(what)))
    assert [what[0] for what in heard[:2]] == [1, 2]
    assert heard[1][2] == pytest.approx((1.0, 2.0), abs=1e-4)
    assert heard[2:] == ["unwatched"]


def test_no_repeats_is_no_measurement() -> None:
    with pytest.raises(ValueError, match="at least one repeat"):
        queued([1.0], Plan(most=0))
