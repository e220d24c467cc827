"""From which size on the card wins: where two curves of times over sizes cross, and how surely.

The logarithm of CPU time over card time is followed over the logarithm of the size, straight between two
sizes that were measured: times grow by powers of the size, and powers are straight lines there. The same is
done with the times most in the card's favour that the intervals allow, and with those least in its favour:
these two crossings are the uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from verify.race.stats import joint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Point = Mapping[str, Any]

BETWEEN, ALWAYS, NEVER, UNKNOWN = "between", "always", "never", "unknown"
RAN = "ran"
LEAST_SIZES = 2
# Five samples reach 0.94, three 0.75: fewer than five are no interval.
LEAST_CONFIDENCE = 0.9


@dataclass(frozen=True)
class BreakEven:
    """The size, and between which it lies; an end that lies beyond the sizes measured is None."""

    size: float | None = None
    low: float | None = None
    high: float | None = None
    said: str = UNKNOWN
    confidence: float | None = None  # that all the intervals hold on which it rests


@dataclass(frozen=True)
class _Lead:
    """Logarithm of CPU time over card time at one size: positive where the card wins."""

    size: float
    least: float
    middle: float
    most: float
    confidences: tuple[float, ...] = (1.0,)  # of the intervals that it is made of


def break_even(points: Sequence[Point]) -> dict[str, dict[str, Any]]:
    """Return from which size the card wins, without the copy and with it; pure, from the points alone."""
    return {
        "without_copy": asdict(crossing(_leads(points, copied=False))),
        "with_copy": asdict(crossing(_leads(points, copied=True))),
    }


def crossing(leads: Sequence[_Lead]) -> BreakEven:
    """Return the last crossing: times are noisy, and a lead that is lost again was none.

    Always and never need an interval clear of a draw at every size. A card that clearly leads at one size and
    clearly trails at a larger one has no size from which on it wins; a crossing one end of which lies beyond
    the sizes that were measured is not between them: both are unknown.
    """
    if len(leads) < LEAST_SIZES or _crosses_back(leads):
        return BreakEven()
    sizes = [lead.size for lead in leads]
    if all(lead.least > 0 for lead in leads):
        return _sure(BreakEven(high=sizes[0], said=ALWAYS), leads)
    if all(lead.most < 0 for lead in leads):
        return _sure(BreakEven(low=sizes[-1], said=NEVER), leads)
    size = _last(sizes, [lead.middle for lead in leads])
    low = _last(sizes, [lead.most for lead in leads])
    high = _last(sizes, [lead.least for lead in leads])
    if size is None or low is None or high is None:
        return BreakEven(size, low, high)
    around = [max((at for at in sizes if at <= low), default=sizes[0])]
    around.append(min((at for at in sizes if at >= high), default=sizes[-1]))
    rests_on = [lead for lead in leads if around[0] <= lead.size <= around[1]]
    return _sure(BreakEven(size, low, high, BETWEEN), rests_on)


def _sure(found: BreakEven, leads: Sequence[_Lead]) -> BreakEven:
    """Return it with its confidence; nothing where an interval that it rests on is none to speak of."""
    confidences = [confidence for lead in leads for confidence in lead.confidences]
    if min(confidences) < LEAST_CONFIDENCE:
        return BreakEven()
    return replace(found, confidence=joint(*confidences))


def _crosses_back(leads: Sequence[_Lead]) -> bool:
    led = False
    for lead in leads:
        if led and lead.most < 0:
            return True
        led = led or lead.least > 0
    return False


def _last(sizes: Sequence[float], curve: Sequence[float]) -> float | None:
    """Return where the curve rises through zero for the last time; None where that lies outside the sizes."""
    below = max((i for i in range(len(curve)) if curve[i] < 0), default=None)
    if below is None or below + 1 == len(curve):
        return None
    share = -curve[below] / (curve[below + 1] - curve[below])
    return math.exp(math.log(sizes[below]) * (1 - share) + math.log(sizes[below + 1]) * share)


def _leads(points: Sequence[Point], *, copied: bool) -> list[_Lead]:
    """Pair what was measured of both at the same size, the smallest first."""
    cpu_points, card_points = (
        {point["size"]: point for point in points if point["lane"] == lane} for lane in ("cpu", "cuda")
    )
    cpu = {size: _times(point, copied=False) for size, point in cpu_points.items()}
    card = {size: _times(point, copied=copied) for size, point in card_points.items()}
    leads = []
    for size in sorted(cpu.keys() & card.keys()):
        ours, theirs = cpu[size], card[size]
        if ours is not None and theirs is not None:
            low, middle, high = (math.log(ours[i] / theirs[-1 - i]) for i in range(3))
            sure = _confidences(cpu_points[size], copied=False)
            sure += _confidences(card_points[size], copied=copied)
            leads.append(_Lead(float(size), low, middle, high, sure))
    return leads


def _confidences(point: Point, *, copied: bool) -> tuple[float, ...]:
    """Return the confidences of a point's intervals; one that is not told is none."""
    keys = ("confidence", "copy_confidence") if copied else ("confidence",)
    return tuple(point.get(key) or 0.0 for key in keys)


def _times(point: Point, *, copied: bool) -> tuple[float, float, float] | None:
    """Return a point's least, median and greatest time; None without any that can be calculated with."""
    if point.get("status") not in {None, RAN} or point["seconds"] is None or not point["interval"]:
        return None
    low, high = point["interval"]
    times = (low, point["seconds"], high)
    if copied:
        if point["copy_s"] is None:
            return None
        shortest, longest = point.get("copy_interval") or (point["copy_s"], point["copy_s"])
        times = (low + shortest, point["seconds"] + point["copy_s"], high + longest)
    return times if times[0] > 0 else None
