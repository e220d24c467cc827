"""The method on a simulated card: what is queued is timed to its end, copies get the blame that is theirs."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race.simulated_device import CPU_LANE, CUDA_LANE, SimulatedDevice, Training
from verify.race.clock import Plan
from verify.race.contestants import Contestant
from verify.race.judging import judge
from verify.race.lanes import run_lane
from verify.race.libraries import CUDA
from verify.race.outcome import INVALID, RAN
from verify.race.settings import settings_for
from verify.race.why import reasons

if TYPE_CHECKING:
    from verify.race.clock import Clock
    from verify.race.outcome import Outcome

PLAN = Plan(least=6, most=6)
CONTESTANT = Contestant("network", (CPU_LANE, CUDA_LANE), lambda *_: None, lambda *_: None, lambda *_: None)  # type: ignore[arg-type]


def lane(training: Training, clock: Clock) -> Outcome:
    copies = training.lane.device == CUDA
    return run_lane(training.lane, lambda: training, clock, PLAN, copies=copies)


def race(device: SimulatedDevice, clock: Clock, **work: Any) -> dict[str, Any]:
    """Race both lanes, the card's by ``clock``; return the contestant as race.json has it."""
    outcomes = [
        lane(Training(device, CPU_LANE, **work), device.clock()),
        lane(Training(device, CUDA_LANE, **work), clock),
    ]
    return judge(CONTESTANT, outcomes, settings_for(6), peak=device.peak())


def why(contestant: dict[str, Any], device: SimulatedDevice) -> list[str]:
    document = {"contestants": [contestant], "card": {"name": "Simulated", "peak": device.peak()}, "cpu": {}}
    return [message["id"] for message in reasons(document)["network"]]


def test_launches_are_timed_to_their_end() -> None:
    device = SimulatedDevice()
    outcome = lane(Training(device, CUDA_LANE, steps=100, flops=1e9), device.clock())
    # A hundred kernels of a millisecond, and the launch that the card waits for before the first of them.
    assert outcome.samples == pytest.approx([0.1 + device.launch_s] * 6)


def test_a_clock_that_does_not_wait_sees_the_launches_alone() -> None:
    device = SimulatedDevice()
    outcome = lane(Training(device, CUDA_LANE, steps=100, flops=1e9), device.careless_clock())
    assert outcome.samples == pytest.approx([100 * device.launch_s] * 6)


def test_small_kernels_take_as_long_as_their_launches() -> None:
    device = SimulatedDevice()
    outcome = lane(Training(device, CUDA_LANE, steps=100, flops=1.0), device.clock())
    assert outcome.samples == pytest.approx([100 * device.launch_s + device.kernel_s] * 6)


def test_the_copy_is_timed_to_its_end_and_apart() -> None:
    device = SimulatedDevice()
    outcome = lane(Training(device, CUDA_LANE, bytes_in=3e9, bytes_out=1e9), device.clock())
    assert statistics.median(outcome.copied_in) == pytest.approx(3.0 + device.launch_s)
    assert statistics.median(outcome.copied_out) == pytest.approx(1.0 + device.launch_s)
    assert outcome.samples == pytest.approx([0.1 + device.launch_s] * 6)


def test_a_copy_bound_run_is_called_copy_bound() -> None:
    device = SimulatedDevice()
    found = race(device, device.clock(), bytes_in=3e8, bytes_out=1e8)
    assert found["ratio"] == pytest.approx(10 / (0.1 + 0.4), rel=1e-3)
    assert "copy-bound" in why(found, device)


def test_one_that_calculates_is_not() -> None:
    device = SimulatedDevice()
    found = race(device, device.clock(), bytes_in=1e6)
    assert not {"copy-bound", "copy-heavy"} & set(why(found, device))


def test_a_copy_that_nobody_waited_for_would_be_missed() -> None:
    """The same run by a clock that does not wait: the copy is blameless, and the arithmetic impossible."""
    device = SimulatedDevice()
    found = race(device, device.careless_clock(), bytes_in=3e8, bytes_out=1e8)
    assert found["lanes"][1]["transfer_in"] == pytest.approx(device.launch_s)
    assert found["lanes"][1]["status"] == INVALID


def test_an_impossible_figure_is_refused() -> None:
    device = SimulatedDevice()
    found = race(device, device.careless_clock())
    card = found["lanes"][1]
    assert (card["status"], card["reason"]["id"]) == (INVALID, "over-peak")
    assert card["reason"]["tflops"] == pytest.approx(100.0)
    assert (found["ratio"], found["ratio_interval"], why(found, device)) == (None, None, [])


def test_the_possible_one_of_the_same_card_is_not() -> None:
    device = SimulatedDevice()
    found = race(device, device.clock())
    assert found["lanes"][1]["status"] == RAN
    assert found["ratio"] == pytest.approx(100, rel=0.02)
