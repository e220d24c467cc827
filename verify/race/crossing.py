"""From which size on the card wins: where two curves of times over sizes cross, and how surely.

The logarithm of CPU time over card time is followed over the logarithm of the size, straight between two
sizes that were measured: times grow by powers of the size, and powers are straight lines there. The same is
done with the times most in the card's favour that the intervals allow, and with those least in its favour:
these two crossings are the uncertainty.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Point = Mapping[str, Any]

BETWEEN, ALWAYS, NEVER, UNKNOWN = "between", "always", "never", "unknown"
RAN = "ran"
LEAST_SIZES = 2


@dataclass(frozen=True)
class BreakEven:
    """The size, and between which it lies; an end that lies beyond the sizes measured is None."""

    size: Optional[float] = None  # noqa: UP045  # Python 3.9
    low: Optional[float] = None  # noqa: UP045
    high: Optional[float] = None  # noqa: UP045
    said: str = UNKNOWN


@dataclass(frozen=True)
class _Lead:
    """Logarithm of CPU time over card time at one size: positive where the card wins."""

    size: float
    least: float
    middle: float
    most: float


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
        return BreakEven(high=sizes[0], said=ALWAYS)
    if all(lead.most < 0 for lead in leads):
        return BreakEven(low=sizes[-1], said=NEVER)
    size = _last(sizes, [lead.middle for lead in leads])
    low = _last(sizes, [lead.most for lead in leads])
    high = _last(sizes, [lead.least for lead in leads])
    return BreakEven(size, low, high, UNKNOWN if None in (size, low, high) else BETWEEN)


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
    cpu = {point["size"]: _times(point, copied=False) for point in points if point["lane"] == "cpu"}
    card = {point["size"]: _times(point, copied=copied) for point in points if point["lane"] == "cuda"}
    leads = []
    for size in sorted(cpu.keys() & card.keys()):
        ours, theirs = cpu[size], card[size]
        if ours is not None and theirs is not None:
            low, middle, high = (math.log(ours[i] / theirs[-1 - i]) for i in range(3))
            leads.append(_Lead(float(size), low, middle, high))
    return leads


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
