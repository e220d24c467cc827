from __future__ import annotations

from typing import Any

import pytest

from tests.unit.race import fakes
from verify.race import running
from verify.race.clock import Clock
from verify.race.lanes import Lane, Outcome, run_lane
from verify.race.running import judge, run_contestant
from verify.race.settings import Settings


def lane(runner: Any, device: fakes.QueueDevice, *, copies: bool = True) -> Outcome:
    return run_lane(
        fakes.CUDA_LANE,
        runner,
        Clock(device.now, device.synchronize),
        copies=copies,
        warmups=1,
        repeats=3,
        progress=lambda _: None,
    )


def test_transfer_and_start_up_are_apart_from_the_work() -> None:
    device = fakes.QueueDevice()
    outcome = lane(lambda: fakes.CountingRunner(device, [40.0, 2.0, 1.0, 3.0]), device)
    assert outcome.status == "ran"
    assert outcome.transfer == pytest.approx(0.5, abs=1e-4)
    assert outcome.median == pytest.approx(2.0, abs=1e-4)
    document = outcome.document("torch")
    assert document["warmups"] == pytest.approx([40.0], abs=1e-4)
    assert document["interval"] == pytest.approx([1.0, 3.0], abs=1e-4)
    assert document["quality"] == {"accuracy": 0.9}


def test_nothing_is_copied_for_the_cpu() -> None:
    device = fakes.QueueDevice()
    outcome = lane(lambda: fakes.CountingRunner(device, [1.0] * 4), device, copies=False)
    assert outcome.transfer is None


def test_a_lane_that_breaks_has_a_reason_and_no_number() -> None:
    device = fakes.QueueDevice()

    def broken() -> Any:
        raise RuntimeError(
            "CUDA error: no kernel image is available for execution on the device\nCompile with …"
        )

    document = lane(broken, device).document("torch")
    assert document["status"] == "failed"
    assert (
        document["reason"]
        == "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    )
    assert (document["median"], document["samples"], document["interval"], document["quality"]) == (
        None,
        [],
        None,
        None,
    )


def test_an_absent_lane_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    made: list[str] = []

    def runner(lane: Any, data: str, *_: Any) -> fakes.CountingRunner:
        assert data == "data"
        made.append(lane.name)
        return fakes.CountingRunner(device, [1.0] * 6)

    found = fakes.libraries(fakes.torch("2.13.0+cpu"))
    said: list[str] = []
    outcomes = run_contestant(fakes.contestant(runner), Settings(), found, said.append)
    assert made == ["cpu"]
    assert [o.status for o in outcomes] == ["ran", "absent"]
    document = judge(fakes.contestant(runner), outcomes)
    absent = document["lanes"][1]
    assert (absent["median"], absent["samples"], absent["transfer"], document["ratio"]) == (
        None,
        [],
        None,
        None,
    )
    assert "CPU build" in absent["reason"]
    assert "network, lane cpu: repeat 5/5: 1.000 s" in said


def test_the_card_is_compared_with_the_best_cpu_lane() -> None:
    other = Lane("cpu-torch", "torch", "cpu")
    outcomes = (
        fakes.ran(fakes.CPU_LANE, 8.0),
        fakes.ran(other, 4.0, 5.0, 6.0),
        fakes.ran(fakes.CUDA_LANE, 1.0, 2.0, 2.5),
    )
    document = judge(fakes.contestant(None, (fakes.CPU_LANE, other, fakes.CUDA_LANE)), outcomes)  # type: ignore[arg-type]
    assert document["ratio"] == pytest.approx(2.5)
    assert document["ratio_against"] == "cpu-torch"
    assert document["ratio_interval"] == pytest.approx([1.6, 6.0])


def test_a_wrong_result_has_no_speed() -> None:
    def disagreement(a: Any, b: Any) -> str | None:
        return None if a == b else f"accuracy {a['accuracy']} against {b['accuracy']}"

    outcomes = (fakes.ran(fakes.CPU_LANE, 4.0), fakes.ran(fakes.CUDA_LANE, 1.0, accuracy=0.1))
    document = judge(fakes.contestant(None, disagreement=disagreement), outcomes)  # type: ignore[arg-type]
    assert document["ratio"] is None
    assert any("accuracy 0.9 against 0.1" in warning for warning in document["lanes"][1]["warnings"])
