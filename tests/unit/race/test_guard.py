from __future__ import annotations

from typing import Any

import pytest

from tests.unit.race import recorded
from verify.race import guard
from verify.race.shares import shares

PEAK = recorded.document("gaming-card")["card"]["peak"]
MIB = 2**20


def lane(seconds: float = 0.1, **changed: Any) -> dict[str, Any]:
    """A lane at half of the float32 peak and a tenth of the bandwidth."""
    work = {
        "flops": 4.13e12,
        "bytes": 1e10,
        "working_set_bytes": 100 * MIB,
        "launches": None,
        "from": "model",
    }
    work.update(changed.pop("work", {}))
    return {
        "name": "cuda",
        "device": "cuda",
        "precision": "float32",
        "samples": [seconds * 1.02, seconds],
        "work": work,
        "usage": {"clock_mhz": [2490, 2520]},
        **changed,
    }


@pytest.mark.parametrize("name", [name for name in recorded.NAMES if name not in {"no-card", "over-peak"}])
def test_what_was_recorded_as_valid_is_valid(name: str) -> None:
    race = recorded.document(name)
    found = [guard.judge(it, race["card"]["peak"]) for c in race["contestants"] for it in c["lanes"]]
    assert found == [(None, [])] * len(found)


def test_the_impossible_recording_is_refused_with_its_figure() -> None:
    race = recorded.document("over-peak")
    impossible = recorded.lane(race, "network", "cuda")
    reason, _ = guard.judge(impossible, race["card"]["peak"])
    assert reason is not None
    assert reason["id"] == "over-peak"
    assert reason["tflops"] == pytest.approx(impossible["reason"]["tflops"], rel=1e-3)
    assert reason["peak_tflops"] == 82.6


def test_ten_percent_above_the_peak_at_the_table_s_clock_is_the_limit() -> None:
    at_peak = 4.13e12 / 82.6e12
    assert guard.judge(lane(at_peak / 1.09), PEAK) == (None, [])
    reason, _ = guard.judge(lane(at_peak / 1.11), PEAK)
    assert reason is not None
    assert reason["id"] == "over-peak"


def test_a_card_that_ran_above_its_stated_clock_may_do_more() -> None:
    faster = lane(4.13e12 / 82.6e12 / 1.2, usage={"clock_mhz": [2500, 2850]})
    assert guard.judge(faster, PEAK) == (None, [])
    assert guard.judge({**faster, "usage": {"clock_mhz": [2500, 2520]}}, PEAK)[0] is not None


@pytest.mark.parametrize("usage", [None, {"clock_mhz": None}, {"clock_mhz": [None, None]}])
def test_where_no_clock_was_seen_more_is_allowed_but_not_everything(usage: Any) -> None:
    at_peak = 4.13e12 / 82.6e12
    assert guard.judge(lane(at_peak / 1.2, usage=usage), PEAK) == (None, [])
    assert guard.judge(lane(at_peak / 1.3, usage=usage), PEAK)[0] is not None


def test_each_precision_has_its_own_peak() -> None:
    quick = lane(4.13e12 / 82.6e12 / 1.5)
    assert guard.judge({**quick, "precision": "bfloat16"}, PEAK) == (None, [])
    reason, _ = guard.judge({**lane(), "precision": "float64"}, PEAK)
    assert reason is not None
    assert reason["precision"] == "float64"


@pytest.mark.parametrize(
    ("changed", "peak"),
    [
        ({}, None),
        ({}, {}),
        ({"precision": None, "work": {"bytes": None}}, PEAK),
        ({"precision": "float8", "work": {"bytes": None}}, PEAK),
        ({"samples": []}, PEAK),
        ({"work": {"flops": None, "bytes": None}}, PEAK),
        ({"device": "cpu"}, PEAK),
        ({}, {**PEAK, "float32_tflops": None, "memory_gbs": None}),
    ],
)
def test_what_is_not_known_is_not_judged(changed: dict[str, Any], peak: Any) -> None:
    assert guard.judge(lane(1e-6, **changed), peak) == (None, [])


def test_a_repeat_that_took_no_time_is_refused() -> None:
    reason, _ = guard.judge(lane(0.0), PEAK)
    assert reason == {"id": "no-time"}


def test_more_than_the_memory_carries_is_refused_where_the_cache_cannot_explain_it() -> None:
    reason, notes = guard.judge(lane(work={"bytes": 2e11}), PEAK)
    assert reason is not None
    assert (reason["id"], reason["peak_gbs"], notes) == ("over-bandwidth", 1008.0, [])
    assert reason["gbs"] == pytest.approx(2000)


def test_and_is_a_note_where_the_work_lies_in_the_cache() -> None:
    reason, notes = guard.judge(lane(work={"bytes": 2e11, "working_set_bytes": 72 * MIB}), PEAK)
    assert reason is None
    assert recorded.ids(notes) == ["cache-bound"]


def test_and_is_not_judged_where_either_size_is_not_known() -> None:
    assert guard.judge(lane(work={"bytes": 2e11, "working_set_bytes": None}), PEAK) == (None, [])
    assert guard.judge(lane(work={"bytes": 2e11}), {**PEAK, "l2_mib": None}) == (None, [])


@pytest.mark.parametrize(
    ("working_set", "l2_mib", "limit"),
    [(10e6, 6, 900.0), (1e6, 6, None), (None, 6, None), (10e6, None, None)],
    ids=["too large for the cache", "in the cache", "no working set", "no size of the cache"],
)
def test_a_share_of_the_bandwidth_needs_work_that_is_known_not_to_lie_in_the_cache(
    working_set: float | None, l2_mib: float | None, limit: float | None
) -> None:
    peak = {"memory_gbs": 900, "l2_mib": l2_mib}
    assert guard.memory_limit({"working_set_bytes": working_set}, peak) == limit
    lane = {
        "device": "cuda", "median": 1.0, "precision": "float32",
        "work": {"bytes": 450e9, "working_set_bytes": working_set},
    }  # fmt: skip
    assert shares(lane, peak).memory == (0.5 if limit else None)
