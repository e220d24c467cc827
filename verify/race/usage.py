"""What the sampler saw of a lane, from its raw readings: pure, and a value that is missing stays missing.

A record is what the sampler's process sends when a lane ends::

    {began, points: [[t_s, utilisation_pct, memory_mib, power_w, sm_mhz, temperature_c, reasons_mask] …],
     energy_mj: [[t_s, counted] …], limits: {power_w, power_default_w, slowdown_c}, others,
     cpu_s, elapsed_s, lost: null | {seconds, error}}

``began`` is by the race's clock (time.perf_counter), every t_s in seconds from there.

Reasons: the bits of nvmlClocksEventReason* (nvmlClocksThrottleReason* before branch 535), NVIDIA's NVML API
reference, group NvmlClocksEventReasons; board_limit and reliability as nvidia-ml-py 13.615 numbers them.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from verify.race import energy
from verify.race.words import message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.words import Message

MOST_POINTS = 600
COST_LIMIT = 0.02  # of one core
CLOCK_CHANGED = 0.10  # of the highest clock: a few steps of boost are no change
CAPPED = 0.99  # of the default limit: what is a rounding away from it is not capped
OFTEN = 0.05  # of the readings: the hardware's slowdown may show for a moment when clocks change (NVIDIA)

IDLE = 0x1
REASONS = {
    IDLE: "gpu_idle",
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clocks_setting",
    0x200: "board_limit",
    0x400: "reliability",
}
_TIME, _UTILISATION, _MEMORY, _, _CLOCK, _TEMPERATURE, _REASONS = range(7)


def usage(
    record: Mapping[str, Any],
    interval_s: float,
    others: int | None = None,
    windows: Sequence[tuple[float, float]] = (),
) -> dict[str, Any]:
    """Return the lane's usage as race.json has it; ``others`` as the host counted them goes before NVML's.

    ``windows``: when the timed repeats began and ended; energy and mean power are of them alone.
    """
    points = record["points"]
    busy = column(points, _UTILISATION)
    return {
        "interval_s": _interval(points, interval_s),
        "points": [[_rounded(value) for value in point[:_REASONS]] for point in thin(points)],
        "utilisation": {"median": statistics.median(busy), "max": max(busy)} if busy else None,
        "memory_mib_max": max(column(points, _MEMORY), default=None),
        "temperature_c_max": max(column(points, _TEMPERATURE), default=None),
        **energy.timed(record, windows),
        "throttle": throttle(points),
        "clock_mhz": clock(points),
        "others": record["others"] if others is None else others,
        "cost_share": cost_share(record),
        "limits": dict(record["limits"]),
    }


def warnings(seen: Mapping[str, Any], record: Mapping[str, Any]) -> list[Message]:
    """Say what must be known of the card before the lane's times are believed."""
    said = []
    if record["lost"]:
        said.append(message("card-lost", **record["lost"]))
    if seen["others"]:
        said.append(message("others-on-card", count=seen["others"]))
    often = _reasons_seen(record["points"], least=OFTEN)
    if often:
        said.append(message("throttled", reasons=often))
    watts, default = seen["limits"].get("power_w"), seen["limits"].get("power_default_w")
    if watts is not None and default is not None and watts < CAPPED * default:
        said.append(message("power-capped", watts=watts, default_watts=default))
    low, high = seen["clock_mhz"] or (0, 0)
    if high - low > CLOCK_CHANGED * high:
        said.append(message("clock-changed", low_mhz=low, high_mhz=high))
    if seen["cost_share"] is not None and seen["cost_share"] > COST_LIMIT:
        said.append(message("sampler-cost", share=seen["cost_share"]))
    return said


def sampled(seen: Mapping[str, Any], record: Mapping[str, Any]) -> Message | None:
    """Say what watching the card cost, to be printed; None where it cannot be said."""
    if seen["cost_share"] is None:
        return None
    return message(
        "sampled", count=len(record["points"]), interval_s=seen["interval_s"], share=seen["cost_share"]
    )


def throttle(points: Sequence[Sequence[Any]]) -> list[str] | None:
    """Return NVML's names of the reasons seen; idling is no throttling. None where they were never told."""
    return _reasons_seen(points, least=0.0)


def clock(points: Sequence[Sequence[Any]]) -> list[float] | None:
    """Return the lowest and the highest clock while the card worked: an idle card lowers its own."""
    known = [p for p in points if p[_CLOCK] is not None]
    working = [p[_CLOCK] for p in known if p[_UTILISATION] != 0 and not (p[_REASONS] or 0) & IDLE]
    return [min(working), max(working)] if working else None


def cost_share(record: Mapping[str, Any]) -> float | None:
    """Return the CPU seconds of the sampler's process over those that went by."""
    cpu, elapsed = record["cpu_s"], record["elapsed_s"]
    return cpu / elapsed if cpu is not None and elapsed > 0 else None


def thin(points: Sequence[Any], most: int = MOST_POINTS) -> list[Any]:
    """Return at most so many, evenly spaced, the first and the last among them."""
    if len(points) <= most:
        return list(points)
    return [points[round(i * (len(points) - 1) / (most - 1))] for i in range(most)]


def column(points: Sequence[Sequence[Any]], which: int) -> list[float]:
    """Return the values of one kind that are there."""
    return [p[which] for p in points if p[which] is not None]


def _reasons_seen(points: Sequence[Sequence[Any]], least: float) -> list[str] | None:
    masks = [p[_REASONS] for p in points if p[_REASONS] is not None]
    if not masks:
        return None
    names = []
    every = 0
    for mask in masks:
        every |= mask
    unknown = every & ~sum(REASONS)
    for bit, name in [*REASONS.items(), *([(unknown, f"{unknown:#x}")] if unknown else [])]:
        count = sum(1 for mask in masks if mask & bit)
        alone = least > 0 and count == 1 < len(masks) - 1
        if bit != IDLE and count > 0 and count >= least * len(masks) and not alone:
            names.append(name)
    return names


def _interval(points: Sequence[Sequence[Any]], asked: float) -> float:
    """Return the seconds from reading to reading as they were; with one reading, as they were asked for."""
    between = len(points) - 1
    return round((points[-1][_TIME] - points[0][_TIME]) / between, 4) if between > 0 else asked


def _rounded(value: float | None) -> float | None:
    return round(value, 3) if isinstance(value, float) else value
