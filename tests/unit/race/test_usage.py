from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from verify.race import usage, words

NAN = [None] * 6
BOTH = ["hw_slowdown", "hw_thermal_slowdown"]


def point(t: float, **values: Any) -> list[Any]:
    names = ("utilisation", "memory", "power", "clock", "temperature", "reasons")
    assert not set(values) - set(names)
    return [t, *(values.get(name) for name in names)]


def record(points: list[list[Any]], **more: Any) -> dict[str, Any]:
    limits = {"power_w": None, "power_default_w": None, "slowdown_c": None}
    base = {"began": 0.0, "points": points, "energy_mj": [], "limits": limits, "others": None,
            "cpu_s": 0.001, "elapsed_s": 1.0, "lost": None}  # fmt: skip
    return {**base, **more}


def said(points: list[list[Any]], **more: Any) -> list[dict[str, Any]]:
    raw = record(points, **more)
    return usage.warnings(usage.usage(raw, 0.1), raw)


def test_all_that_a_card_tells() -> None:
    points = [
        point(0.0, utilisation=0, memory=100.0, power=50.0, clock=300, temperature=40, reasons=1),
        point(0.5, utilisation=90, memory=900.0, power=150.0, clock=1500, temperature=45, reasons=0),
        point(1.0, utilisation=98, memory=800.0, power=150.0, clock=1485, temperature=50, reasons=4),
    ]
    counted = [[0.0, 5_000], [0.5, 56_000], [1.0, 131_000]]
    seen = usage.usage(record(points, energy_mj=counted, others=0, cpu_s=0.004), 0.1, windows=[(0.0, 1.0)])
    assert seen == {
        "interval_s": 0.5,
        "points": [p[:6] for p in points],
        "utilisation": {"median": 90, "max": 98},
        "memory_mib_max": 900.0,
        "temperature_c_max": 50,
        "power_w_mean": 126.0,
        "timed_s": 1.0,
        "timed_share": 1.0,
        "trainings": 1,
        "energy_j": 126.0,
        "energy_from": "counter",
        "throttle": ["sw_power_cap"],
        "clock_mhz": [1485, 1500],
        "others": 0,
        "cost_share": 0.004,
        "limits": {"power_w": None, "power_default_w": None, "slowdown_c": None},
    }


def test_nothing_told_stays_nothing() -> None:
    seen = usage.usage(record([[t, *NAN] for t in (0.0, 0.1, 0.2)]), 0.1)
    told = {name: value for name, value in seen.items() if value is not None}
    assert set(told) == {"interval_s", "points", "cost_share", "limits"}
    assert seen["points"] == [[t, *NAN[:5]] for t in (0.0, 0.1, 0.2)]


@pytest.mark.parametrize("points", [[], [point(0.0, power=10.0)]])
def test_an_integral_needs_two_points(points: list[list[Any]]) -> None:
    seen = usage.usage(record(points, elapsed_s=0.0), 0.25)
    assert (seen["energy_j"], seen["energy_from"], seen["power_w_mean"]) == (None, None, None)
    assert (seen["interval_s"], seen["cost_share"]) == (0.25, None)


def test_points_are_thinned_evenly_with_both_ends() -> None:
    kept = usage.thin(list(range(10_001)))
    assert len(kept) == 600
    assert (kept[0], kept[-1]) == (0, 10_000)
    assert {two - one for one, two in pairwise(kept)} <= {16, 17}
    assert usage.thin(list(range(600))) == list(range(600))


def test_the_highest_reading_is_kept_though_its_point_is_thinned_away() -> None:
    points = [point(float(t), memory=9.0 if t == 1 else 1.0) for t in range(5_000)]
    seen = usage.usage(record(points), 1.0)
    assert seen["memory_mib_max"] == 9.0
    assert 9.0 not in [p[2] for p in seen["points"]]


def test_the_hosts_count_goes_before_nvmls() -> None:
    assert usage.usage(record([], others=3), 0.1, others=1)["others"] == 1
    assert usage.usage(record([], others=3), 0.1, others=0)["others"] == 0
    assert usage.usage(record([], others=3), 0.1)["others"] == 3


def test_a_quiet_card_has_nothing_said_of_it() -> None:
    points = [
        point(t / 10, utilisation=95, clock=1500 - t % 3 * 15, reasons=0, power=90.0) for t in range(50)
    ]
    assert said(points, others=0, limits={"power_w": 150.0, "power_default_w": 150.0}) == []


def test_others_and_a_lost_card_are_said() -> None:
    lost = {"seconds": 2.5, "error": "NVMLError_GpuIsLost: GPU is lost"}
    assert said([], others=2, lost=lost) == [
        {"id": "card-lost", **lost}, {"id": "others-on-card", "count": 2},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("masks", "names", "warned"),
    [
        ([0x1] * 10, [], []),
        ([0x20] * 10, ["sw_thermal_slowdown"], ["sw_thermal_slowdown"]),
        ([0x48, 0x48, *[0x0] * 18], BOTH, BOTH),
        ([0x8, *[0x0] * 9], ["hw_slowdown"], []),  # for a moment, as when clocks change
        ([0x8, 0x8, *[0x0] * 98], ["hw_slowdown"], []),
        ([0x8, 0x0], ["hw_slowdown"], ["hw_slowdown"]),  # half of what was seen
        ([0x1000] * 3, ["0x1000"], ["0x1000"]),
    ],
)  # fmt: skip
def test_throttling_is_named_and_warned_of_where_it_lasted(
    masks: list[int], names: list[str], warned: list[str]
) -> None:
    points = [point(float(t), reasons=mask) for t, mask in enumerate(masks)]
    assert usage.throttle(points) == names
    assert [m["reasons"] for m in said(points) if m["id"] == "throttled"] == ([warned] if warned else [])


def test_reasons_that_were_not_told_are_not_none_seen() -> None:
    assert usage.throttle([point(0.0)]) is None
    assert usage.throttle([point(0.0), point(1.0, reasons=0)]) == []


@pytest.mark.parametrize(("watts", "default", "capped"), [
    (100.0, 150.0, True), (149.5, 150.0, False), (170.0, 150.0, False),
    (None, 150.0, False), (100.0, None, False),
])  # fmt: skip
def test_a_power_limit_below_the_default_is_said(
    watts: float | None, default: float | None, *, capped: bool
) -> None:
    expected = [{"id": "power-capped", "watts": watts, "default_watts": default}] if capped else []
    assert said([], limits={"power_w": watts, "power_default_w": default}) == expected


def test_a_clock_that_changed_under_load_is_said() -> None:
    fell = [point(t, utilisation=99, clock=1800 if t < 5 else 1200, reasons=0) for t in range(10)]
    assert said(fell) == [{"id": "clock-changed", "low_mhz": 1200, "high_mhz": 1800}]
    idle = [point(0, utilisation=0, clock=210), point(1, utilisation=99, clock=1800, reasons=0)]
    assert said(idle) == []
    marked = [point(0, clock=210, reasons=0x1), point(1, clock=1800, reasons=0)]
    assert said(marked) == []
    assert usage.clock([point(0, utilisation=0, clock=210)]) is None


def test_the_samplers_cost_is_said_above_its_limit_and_always_printed() -> None:
    assert said([], cpu_s=0.021) == [{"id": "sampler-cost", "share": 0.021}]
    assert said([], cpu_s=0.019) == []
    raw = record([point(0.0), point(0.1)], cpu_s=0.019)
    text = usage.sampled(usage.usage(raw, 0.1), raw)
    assert text is not None
    assert "1.90%" in words.text(text)
    raw = record([], cpu_s=None)
    assert usage.sampled(usage.usage(raw, 0.1), raw) is None


def test_the_reasons_are_the_recorders() -> None:
    from verify.facts import throttle  # noqa: PLC0415

    for bit, name in usage.REASONS.items():
        assert throttle.from_mask(f"{bit:#x}") in ((name,), (f"{bit:#x}",))
