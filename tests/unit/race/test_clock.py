from __future__ import annotations

import pytest

from tests.unit.race.fakes import QueueDevice
from verify.race.clock import Clock, repeat


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


def test_warm_ups_stand_apart_and_starts_are_fresh() -> None:
    device = QueueDevice()
    todo = [30.0, 1.0, 3.0, 2.0]
    said: list[str] = []
    timings, result = repeat(
        Clock(device.now, device.synchronize),
        lambda: device.launch(9.0),
        lambda _: device.launch(todo.pop(0)),
        warmups=1,
        repeats=3,
        progress=said.append,
    )
    assert timings.warmups == pytest.approx((30.0,), abs=1e-4)
    assert timings.samples == pytest.approx((1.0, 3.0, 2.0), abs=1e-4)
    assert result == "launched"
    assert [line.split(":")[0] for line in said] == ["warm-up 1/1", "repeat 1/3", "repeat 2/3", "repeat 3/3"]


def test_no_repeats_is_no_measurement() -> None:
    clock = Clock(lambda: 0.0, lambda: None)
    with pytest.raises(ValueError, match="at least one repeat"):
        repeat(clock, lambda: None, lambda _: None, warmups=1, repeats=0, progress=lambda _: None)
