"""How much energy the timed repeats of a lane took, without the pauses in which the next start is made.

From the readings alone, pure. A reading is of the whole card, whoever used it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Curve = list[tuple[float, float]]

COUNTER, INTEGRATED = "counter", "integrated"
WHOLE = 0.95  # of the time that must have been seen for a sum over it
# A pause between repeats that are shorter than two readings apart cannot be told from them.
READINGS = 2
_TIME, _POWER = 0, 3


def timed(record: Mapping[str, Any], windows: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """Return {energy_j, energy_from, power_w_mean, timed_s, timed_share, trainings} of the repeats.

    ``windows`` are their begins and ends by the race's clock, in which the record says when it began. From
    the card's own counter (millijoules since the driver was loaded), unless it is missing, stood still or
    went back; then from the power over time, unless a part of that is missing. All None where the repeats
    cannot be found in the record, or are too short and too far apart to be told from the pauses.
    """
    found: dict[str, Any] = dict.fromkeys(
        ("energy_j", "energy_from", "power_w_mean", "timed_s", "timed_share", "trainings")
    )
    began = record.get("began")
    if began is None or not windows:
        return found
    repeats = [(begin - began, end - began) for begin, end in windows]
    seconds = sum(end - begin for begin, end in repeats)
    span = repeats[-1][1] - repeats[0][0]
    if span <= 0 or seconds <= 0:
        return found
    found.update(timed_s=seconds, timed_share=seconds / span, trainings=len(repeats))
    points = record["points"]
    apart = (points[-1][_TIME] - points[0][_TIME]) / (len(points) - 1) if len(points) > 1 else span
    if seconds < WHOLE * span and min(end - begin for begin, end in repeats) < READINGS * apart:
        return found
    for curve, source in ((counted(record["energy_mj"]), COUNTER), (summed(points), INTEGRATED)):
        if curve and _seen(curve, repeats) >= WHOLE * seconds:
            joules = sum(_at(curve, end) - _at(curve, begin) for begin, end in repeats)
            return {**found, "energy_j": joules, "energy_from": source, "power_w_mean": joules / seconds}
    return found


def counted(readings: Sequence[Sequence[Any]]) -> Curve | None:
    """Return the counter's joules over time; None where it is missing, stood still or went back."""
    known = [(at, mj / 1000) for at, mj in readings if mj is not None]
    whole = len(known) == len(readings) > 1
    if not whole or known[-1][1] <= known[0][1]:
        return None
    back = any(two[1] < one[1] for one, two in zip(known, known[1:]))  # noqa: B905, RUF007  # Python 3.9
    return None if back else known


def summed(points: Sequence[Sequence[Any]]) -> Curve | None:
    """Return the joules over time by trapezoids; None where too much of the power is missing."""
    if len(points) < READINGS:
        return None
    curve, joules, seconds = [(points[0][_TIME], 0.0)], 0.0, 0.0
    for one, two in zip(points, points[1:]):  # noqa: B905, RUF007  # Python 3.9
        step = two[_TIME] - one[_TIME]
        if one[_POWER] is not None and two[_POWER] is not None:
            joules += step * (one[_POWER] + two[_POWER]) / 2
            seconds += step
        curve.append((two[_TIME], joules))
    span = points[-1][_TIME] - points[0][_TIME]
    return curve if span > 0 and seconds >= WHOLE * span else None


def _seen(curve: Curve, repeats: Sequence[tuple[float, float]]) -> float:
    """Return how many seconds of the repeats lie between the first and the last reading."""
    first, last = curve[0][0], curve[-1][0]
    return sum(max(0.0, min(end, last) - max(begin, first)) for begin, end in repeats)


def _at(curve: Curve, moment: float) -> float:
    """Return the joules at a moment, straight between two readings."""
    after = bisect_right(curve, (moment, float("inf")))
    if after == 0:
        return curve[0][1]
    if after == len(curve):
        return curve[-1][1]
    (t0, j0), (t1, j1) = curve[after - 1], curve[after]
    return j0 + (j1 - j0) * (moment - t0) / (t1 - t0)
