from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest

from tests.unit.race import fakes
from verify.race import cores, running
from verify.race.clock import Clock, Plan
from verify.race.lanes import run_lane
from verify.race.outcome import Lane, Outcome
from verify.race.refused import LaneError, failed
from verify.race.sampler import Sampler
from verify.race.settings import Settings
from verify.race.words import message, text

CARD = fakes.torch("2.13.0", cuda="12.6", available=True)
MIXED = Lane("cuda-mixed", "torch", "cuda", counts=False)


def lane(runner: Any, device: fakes.QueueDevice, *, copies: bool = True, profile: Any = None) -> Outcome:
    return run_lane(
        fakes.CUDA_LANE,
        runner,
        Clock(device.now, device.synchronize),
        Plan(least=3, most=3),
        copies=copies,
        profile=profile,
    )


def test_transfer_and_start_up_are_apart_from_the_work() -> None:
    device = fakes.QueueDevice()
    outcome = lane(lambda: fakes.CountingRunner(device, [40.0, 2.0, 1.0, 3.0]), device)
    document = outcome.document("torch")
    assert document["status"] == "ran"
    assert document["transfer_in"] == pytest.approx(0.5, abs=1e-4)
    assert document["transfer_out"] == pytest.approx(0.25, abs=1e-4)
    assert document["median"] == pytest.approx(2.0, abs=1e-4)
    assert document["total"] == pytest.approx(2.75, abs=1e-4)
    assert document["warmups"] == pytest.approx([40.0], abs=1e-4)
    assert document["interval"] == pytest.approx([1.0, 3.0], abs=1e-4)
    assert (document["confidence"], document["ended"]) == (0.75, "most")
    assert document["quality"] == {"accuracy": 0.9}
    assert document["work"]["launches"] == 10


def test_nothing_is_copied_for_the_cpu() -> None:
    device = fakes.QueueDevice()
    document = lane(lambda: fakes.CountingRunner(device, [1.0]), device, copies=False).document("torch")
    assert (document["transfer_in"], document["transfer_out"]) == (None, None)
    assert document["total"] == document["median"]


def test_what_the_time_went_to_is_looked_at_after_it_was_taken() -> None:
    device = fakes.QueueDevice()
    seen: list[Any] = []

    def profile(work: Any, modelled: Any, seconds: float) -> dict[str, Any]:
        seen.extend([work(), modelled["launches"], seconds])
        return {"launch_s": 0.1, "device_s": 0.2, "from": "profiler"}

    outcome = lane(lambda: fakes.CountingRunner(device, [40.0, 2.0, 1.0, 3.0, 70.0]), device, profile=profile)
    assert seen[:2] == ["launched", 10]
    assert seen[2] == pytest.approx(2.0, abs=1e-4)
    assert outcome.document("torch")["time"] == {"launch_s": 0.1, "device_s": 0.2, "from": "profiler"}
    assert max(outcome.samples) < 4


def test_a_look_that_fails_costs_no_time_that_was_taken() -> None:
    device = fakes.QueueDevice()

    def profile(*_: Any) -> Any:
        raise RuntimeError("the profiler is taken")

    outcome = lane(lambda: fakes.CountingRunner(device, [1.0]), device, profile=profile)
    assert (outcome.status, outcome.time) == ("ran", None)


def test_a_lane_that_breaks_has_a_reason_and_no_number() -> None:
    device = fakes.QueueDevice()

    def broken() -> Any:
        raise RuntimeError(
            "CUDA error: no kernel image is available for execution on the device\nCompile with …"
        )

    document = lane(broken, device).document("torch")
    assert document["status"] == "failed"
    assert (
        text(document["reason"])
        == "RuntimeError: CUDA error: no kernel image is available for execution on the device"
    )
    for key in ("median", "interval", "quality", "confidence", "total", "transfer_in", "ended"):
        assert document[key] is None, key
    assert document["samples"] == []


def race(
    monkeypatch: pytest.MonkeyPatch,
    seconds: list[float],
    found: Any = None,
    lanes: Any = None,
    **settings: Any,
) -> tuple[tuple[Outcome, ...], Any, list[str]]:
    """Race one contestant whose trainings take so long; return outcomes, course and which lanes were made."""
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    made: list[str] = []

    def runner(lane: Any, data: str, *_: Any) -> fakes.CountingRunner:
        assert data == "data"
        made.append(lane.name)
        return fakes.CountingRunner(device, seconds)

    course = fakes.course(fakes.libraries(found or CARD), device, **settings)
    contestant = fakes.contestant(runner, lanes or (fakes.CPU_LANE, fakes.CUDA_LANE))
    return running.run_contestant(contestant, course)[0], course, made


def test_an_absent_lane_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, course, made = race(monkeypatch, [1.0], fakes.torch("2.13.0+cpu"), repeats=5, budget_s=None)
    assert made == ["cpu"]
    assert [o.status for o in outcomes] == ["ran", "absent"]
    absent = outcomes[1].document("torch")
    assert (absent["median"], absent["samples"], absent["transfer_in"]) == (None, [], None)
    assert absent["reason"]["id"] == "absent-cpu-build"
    said = course.progress.lines
    assert "network, lane cuda: absent: torch 2.13.0+cpu is a CPU build: install a CUDA build of it" in said
    assert any(line.startswith("repeat 5: 1.000 s") for line in said)


def test_a_steady_lane_takes_no_more_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, course, _ = race(monkeypatch, [1.0], budget_s=10_000.0)
    assert [(len(o.samples), o.ended) for o in outcomes] == [(6, "precise")] * 2
    assert course.claims == 0


def test_the_budget_is_kept_and_what_cannot_start_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = (fakes.CPU_LANE, Lane("cpu-torch", "torch", "cpu"))
    outcomes, _, made = race(monkeypatch, [20.0], lanes=lanes, budget_s=200.0)
    first, second = outcomes
    assert (first.status, first.ended) == ("ran", "budget")
    assert len(first.samples) < 3
    assert (second.status, second.reason and second.reason["id"]) == ("absent", "no-budget-share")
    assert made == ["cpu", "cpu-torch"]


def test_a_lane_whose_first_call_takes_all_that_is_left_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    (outcome,), _, _ = race(monkeypatch, [50.0, 1.0], lanes=(fakes.CPU_LANE,), budget_s=170.0)
    assert (outcome.status, outcome.reason and outcome.reason["id"]) == ("absent", "no-budget-share")
    assert outcome.document("torch")["warmups"] == []


def test_an_exact_number_is_made_whatever_the_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, _, _ = race(monkeypatch, [5.0], repeats=9, budget_s=None)
    assert [(len(o.samples), o.ended, len(o.timings.warmups)) for o in outcomes if o.timings] == [
        (9, "most", 1)
    ] * 2


def test_threads_and_digits_are_set_for_a_lane_and_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = fakes.torch("2.13.0", cuda="12.6", available=True)
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    seen: list[Any] = []

    class Looking(fakes.CountingRunner):
        def load(self) -> None:
            seen.append(
                (
                    torch.get_num_threads(),
                    torch.get_float32_matmul_precision(),
                    torch.backends.cudnn.allow_tf32,
                )
            )
            super().load()

    course = fakes.course(fakes.libraries(torch), device, repeats=1, budget_s=None)
    lanes = (fakes.CPU_LANE, fakes.CUDA_LANE, MIXED)
    running.run_contestant(fakes.contestant(lambda *_: Looking(device, [1.0]), lanes), course)
    assert list(dict.fromkeys(seen)) == [(2, "highest", False), (2, "high", True)]
    assert (torch.get_num_threads(), torch.get_float32_matmul_precision()) == (4, "highest")
    assert torch.backends.cudnn.allow_tf32 is True


@pytest.mark.parametrize(
    ("usable", "threads", "warned"),
    [(2, 2, (2, 64)), (64, 64, None), (64, 1, (1, 64)), (40, 40, None), (40, 36, (36, 40))],
    ids=["few cores", "all", "few threads", "more than half", "and not all threads of them"],
)
def test_a_lane_on_few_cores_or_threads_says_so(
    monkeypatch: pytest.MonkeyPatch, usable: int, threads: int, warned: tuple[int, int] | None
) -> None:
    monkeypatch.setattr(cores, "count", lambda: 64)
    monkeypatch.setattr(cores, "quota", lambda *_: None)
    monkeypatch.setattr(cores, "usable", lambda *_: usable)
    monkeypatch.setattr(cores, "threads", lambda: usable)
    monkeypatch.setattr(cores, "effective", lambda *_: threads)
    outcomes, _, _ = race(monkeypatch, [1.0], repeats=1, budget_s=None)
    said = [[warning for warning in o.warnings if warning["id"] == "few-threads"] for o in outcomes]
    assert said == [[message("few-threads", threads=warned[0], cores=warned[1])] if warned else [], []]
    assert outcomes[0].document("torch")["threads"] == threads


def test_the_card_is_watched_while_it_is_timed_and_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sampler:
        def __init__(self) -> None:
            self.heard: list[str] = []

        def __enter__(self) -> None:
            self.heard.append("begin")

        def __exit__(self, *_: object) -> None:
            self.heard.append("end")

        reason, notes = None, (message("sampler-foreign", distribution="pynvml", version="11"),)

        def usage(self, windows: Any) -> dict[str, Any]:
            return {"interval_s": 0.1, "windows": len(windows)}

        def warnings(self) -> list[Any]:
            return [message("throttled", reasons=["heat"])]

        def cost(self) -> Any:
            return message("sampler-cost", share=0.03)

    device, sampler = fakes.QueueDevice(), Sampler()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    course = fakes.course(fakes.libraries(CARD), device, repeats=2, budget_s=None)
    course.sampler = sampler
    outcomes, _ = running.run_contestant(
        fakes.contestant(lambda *_: fakes.CountingRunner(device, [1.0])), course
    )
    assert sampler.heard == ["begin", "end"], "the card's lane alone"
    assert (outcomes[0].usage, outcomes[1].usage) == (None, {"interval_s": 0.1, "windows": 2})
    assert message("throttled", reasons=["heat"]) in outcomes[1].warnings
    assert sampler.notes[0] in outcomes[1].warnings
    assert any("watching the card took" in line for line in course.progress.lines)  # type: ignore[attr-defined]


def test_data_that_cannot_be_made_is_the_reason_of_every_lane(monkeypatch: pytest.MonkeyPatch) -> None:
    device = fakes.QueueDevice()

    def data(*_: Any) -> Any:
        raise MemoryError("Unable to allocate 9 TiB")

    contestant = fakes.contestant(lambda *_: None, training=lambda *_: {})
    object.__setattr__(contestant, "data", data)
    outcomes, training = running.run_contestant(contestant, fakes.course(fakes.libraries(CARD), device))
    assert {text(o.reason or {}) for o in outcomes} == {"MemoryError: Unable to allocate 9 TiB"}
    assert training is None
    monkeypatch.undo()


def test_a_contestant_may_know_better_why_a_lane_is_absent() -> None:
    def absent(lane: Lane, *_: Any) -> Any:
        return message("no-cuml-accel") if lane.device == "cuda" else None

    contestant = fakes.contestant(lambda *_: None, absent=absent)
    found = fakes.libraries(None)
    assert running.why_absent(contestant, fakes.CPU_LANE, Settings(), found) is None
    assert running.why_absent(contestant, fakes.CUDA_LANE, Settings(), found) == message("no-cuml-accel")


def raced(device: fakes.QueueDevice, works: dict[str, tuple[int, float]], budget_s: float) -> dict[str, Any]:
    """Race contestants of so many CPU lanes and so many seconds a training, one after the other."""
    course = fakes.course(fakes.libraries(fakes.torch("2.13.0+cpu")), device, budget_s=budget_s)
    course.claims = sum(lanes for lanes, _ in works.values())
    found = {}
    for name, (lanes, seconds) in works.items():
        them = tuple(Lane(f"cpu-{k}", "torch", "cpu") for k in range(lanes))
        made = partial(Quick, device, [seconds])
        found[name] = running.run_contestant(fakes.contestant(lambda *_, made=made: made(), them), course)[0]
    return found


class Quick(fakes.CountingRunner):
    """One whose start costs nothing."""

    def fresh(self) -> str:
        return "fresh"

    def load(self) -> None:
        pass

    def unload(self, result: str) -> str:
        return result


def test_a_slow_contestant_takes_nothing_from_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which the network takes 11 s a training, in a race of 60 s."""
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    found = raced(device, {"network": (1, 11.0), "fraud": (2, 1.0), "sweep": (2, 0.5)}, 60.0)
    (slow,) = found["network"]
    assert slow.status == "absent", "its share is 12 s: a warm-up, and no more"
    assert slow.reason is not None
    assert slow.reason["id"] == "no-budget-share"
    assert slow.reason["share_s"] == pytest.approx(12.0)
    assert "--budget" in text(slow.reason)
    for name in ("fraud", "sweep"):
        assert {(o.status, o.ended) for o in found[name]} == {("ran", "precise")}
    assert device.now() <= 60.0


@pytest.mark.parametrize("seconds", [0.5, 2.0, 3.0, 4.0, 7.0, 13.0])
def test_the_budget_is_for_the_whole_race(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """However slow the machine: what is overdrawn is a warm-up at most, of which nothing was known."""
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    found = raced(device, {"network": (1, seconds), "fraud": (2, seconds), "script": (1, seconds)}, 60.0)
    assert device.now() <= 60.0 + seconds
    for outcome in (o for outcomes in found.values() for o in outcomes):
        said = [warning["id"] for warning in outcome.warnings]
        short = outcome.status != "ran" or len(outcome.samples) < 6
        spoken = outcome.reason is not None or outcome.ended == "budget"
        assert spoken == short, "nothing is made smaller without a word"
        if outcome.status == "ran" and len(outcome.samples) < 3:
            assert "no-budget-least" in said


def test_a_lane_borrows_for_the_least_repeats_from_its_own_contestant_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    found = raced(device, {"network": (2, 5.9), "fraud": (2, 1.0)}, 80.0)
    first, second = found["network"]
    # 40 s for the contestant, 20 s for its first lane: a warm-up and two repeats, and 10 s it may borrow.
    assert len(first.samples) == 3
    (said,) = [warning for warning in first.warnings if warning["id"] == "no-budget-least"]
    assert (said["count"], said["fit"], said["least"]) == (3, 2, 3)
    assert second.status == "absent" or len(second.samples) <= 2
    assert {o.ended for o in found["fraud"]} == {"precise"}


def test_what_a_contestant_leaves_goes_to_those_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    found = raced(device, {"network": (1, 0.1), "fraud": (1, 8.0)}, 60.0)
    assert [len(o.samples) for o in found["fraud"]] == [5], "58 s less a warm-up, and one for what follows"


def test_a_card_that_could_not_be_watched_says_why_in_its_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    device = fakes.QueueDevice()
    monkeypatch.setattr(running, "clock_for", lambda *_: Clock(device.now, device.synchronize))
    course = fakes.course(fakes.libraries(CARD), device, repeats=2, budget_s=None)
    course.sampler = Sampler(0.01)
    course.sampler.reason = message("sampler-no-pynvml")
    outcomes, _ = running.run_contestant(
        fakes.contestant(lambda *_: fakes.CountingRunner(device, [1.0])), course
    )
    said = [[warning["id"] for warning in o.warnings if "sampler" in warning["id"]] for o in outcomes]
    assert said == [[], ["sampler-no-pynvml"]]
    assert outcomes[1].usage is None


def test_what_is_no_number_is_named_and_left_out() -> None:
    class Ran(fakes.CountingRunner):
        def quality(self, result: str) -> dict[str, float]:
            return {**super().quality(result), "loss": math.nan}

    device = fakes.QueueDevice()
    outcome = lane(lambda: Ran(device, [1.0]), device)
    assert outcome.quality == {"accuracy": 0.9}
    assert message("no-number", names=["loss"]) in outcome.warnings


def test_an_error_that_is_a_sentence_is_said_without_its_class() -> None:
    assert text(failed(LaneError("the script did not end"))) == "the script did not end"
    assert text(failed(ValueError("no such column"))) == "ValueError: no such column"
    assert text(failed(LaneError())) == "LaneError"
