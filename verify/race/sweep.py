"""The sweep: the same operation over sizes on both devices, with and without the copy to the card.

One sample repeats the operation until it lasts a few milliseconds, both ends synchronised, as a training loop
repeats it: on a card the launches of the next overlap with the work of the one before. The copy is timed
apart. CPU and card take turns at each size, so that a budget that ends early leaves sizes that both have.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

from verify.race import guard, stats
from verify.race.budget import Budget
from verify.race.crossing import break_even
from verify.race.device import clock_for
from verify.race.lanes import INVALID, RAN, failed
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.operations import OPERATIONS
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.clock import Clock
    from verify.race.operations import Operation
    from verify.race.progress import Progress
    from verify.race.settings import Settings

    Point = dict[str, Any]

__all__ = ["break_even", "run"]

SAMPLE_S = 0.005  # the shortest sample: beside it, reading the clock and waiting for an idle card are nothing
WARM_S = 0.05  # clocks rise, libraries choose their kernels for this size
MOST_IN_A_SAMPLE = 10_000
LEAST = 3  # samples; a size for which these do not fit its share of the budget is left out
FASTER_STEPS = 10
# Work grown so many times in the same time: the clock did not wait for the work.
FLAT_WORK, FLAT_SECONDS = 1_000.0, 1.2


@dataclass(frozen=True)
class _Measured:
    seconds: float
    interval: tuple[float, float]
    samples: tuple[float, ...]
    copy: tuple[float, ...] = ()


def run(
    settings: Settings,
    libraries: Libraries,
    budget: Budget,
    progress: Progress,
    *,
    peak: Optional[Mapping[str, Any]] = None,  # noqa: UP045  # Python 3.9
) -> dict[str, Any]:
    """Measure every operation at every size inside what is left of the budget; return race.json's sweep."""
    reason: Any = absent_reason("torch", CPU, libraries)
    if reason is None and budget.left() <= 0:
        reason = message("no-budget", budget_s=budget.seconds)
    if reason is not None:
        return {"operations": [], "reason": reason}
    no_card: Any = absent_reason("torch", CUDA, libraries)
    lanes = (CPU,) if no_card is not None else (CPU, CUDA)
    operations = []
    for k, kind in enumerate(OPERATIONS):
        share = Budget(None if budget.seconds is None else budget.share(len(OPERATIONS) - k))
        operations.append(_operation(kind, lanes, settings, libraries, budget=share, progress=progress))
    return judged({"operations": operations, "reason": no_card}, peak)


def judged(sweep: dict[str, Any], peak: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the sweep with impossible figures marked as invalid, and where its curves cross without them."""
    flat = {lane: flatness(sweep["operations"], lane) for lane in (CPU, CUDA)}
    for operation in sweep["operations"]:
        for point in operation["points"]:
            reason = flat[point["lane"]] or _over_peak(point, operation["precision"], peak)
            if reason is not None:
                point.update(status=INVALID, reason=reason)
        operation["break_even"] = break_even(operation["points"])
    return {**sweep, "reason": sweep["reason"] or flat[CUDA] or flat[CPU]}


def flatness(operations: Sequence[Mapping[str, Any]], lane: str) -> Message | None:
    """Return that a lane's time does not depend on the size: its clock stopped when the work was queued.

    Judged on the matrix product, one launch each: a training step is some dozens of launches, which may well
    take a fast card as long for sixteen rows as for sixteen thousand.
    """
    for operation in operations:
        points = [p for p in operation["points"] if p["lane"] == lane and operation["name"] == "matmul"]
        work, seconds = ([point[key] for point in points] for key in ("flops", "seconds"))
        if points and max(work) >= FLAT_WORK * min(work) and max(seconds) < FLAT_SECONDS * min(seconds):
            return message("flat", work=max(work) / min(work), lane=lane)
    return None


def _over_peak(point: Point, precision: str, peak: Mapping[str, Any] | None) -> Message | None:
    lane = {
        "device": point["lane"],
        "precision": precision,
        "samples": [point["seconds"]],
        "work": {"flops": point["flops"]},
    }
    return guard.judge(lane, peak)[0]


def _operation(
    kind: Any,  # noqa: ANN401  # one of OPERATIONS
    lanes: Sequence[str],
    settings: Settings,
    libraries: Libraries,
    *,
    budget: Budget,
    progress: Progress,
) -> dict[str, Any]:
    sizes = getattr(settings.sweep, kind.NAME)
    todo = [(size, lane) for size in sorted(sizes) for lane in lanes]
    points: list[Point] = []
    left_out: list[Point] = []
    for k, (size, lane) in enumerate(todo):
        progress.lane("sweep", f"{kind.NAME} {size} {lane}")
        share, flops = budget.share(len(todo) - k), kind.flops(size, settings)
        expected = _expected(points, lane, flops)
        if expected * (1 + LEAST) > share or share <= 0:
            reason = message("over-share", seconds=expected, share_s=share)
            left_out.append({"size": size, "lane": lane, "reason": reason})
            continue
        try:
            operation = kind(libraries["torch"], lane, size, settings)
            repeats = settings.repeats or settings.sweep.repeats
            clock = clock_for(lane, libraries)
            found = measured(operation, clock, repeats, share, copies=lane == CUDA)
        except Exception as error:  # noqa: BLE001  # out of memory, card lost: the other sizes still count
            left_out.append({"size": size, "lane": lane, "reason": failed(error)})
            continue
        points.append(_point(size, lane, flops, found))
    return {
        "name": kind.NAME,
        "size_is": kind.SIZE_IS,
        "precision": settings.sweep.dtype,
        "points": points,
        "left_out": left_out,
    }


def _expected(points: Sequence[Point], lane: str, flops: float) -> float:
    """Return how long one run takes at most, from the size before: no slower than its work grows."""
    before = [point for point in points if point["lane"] == lane]
    return float(before[-1]["seconds"] * flops / before[-1]["flops"]) if before else 0.0


def measured(operation: Operation, clock: Clock, repeats: int, share: float, *, copies: bool) -> _Measured:
    """Time one operation of one size, and its copy."""
    began = clock.now()
    number = _in_a_sample(operation, clock)
    samples: list[float] = []
    least = min(LEAST, repeats)
    while len(samples) < repeats and (len(samples) < least or clock.now() - began < share):
        samples.append(clock.time(lambda: operation.run(number))[0] / number)
    copied: list[float] = []
    if copies:
        clock.time(operation.copy)  # the first allocates
        copied = [clock.time(operation.copy)[0] for _ in range(len(samples))]
    low, high, _ = stats.interval(samples)
    return _Measured(statistics.median(samples), (low, high), tuple(samples), tuple(copied))


def _in_a_sample(operation: Operation, clock: Clock) -> int:
    """Warm up, and return how many runs last long enough to be timed."""
    clock.time(lambda: operation.run(1))  # the first call has one-time costs: it says nothing about a run
    number, warm = 1, 0.0
    while True:
        taken = clock.time(partial(operation.run, number))[0]
        warm += taken
        if taken < SAMPLE_S and number < MOST_IN_A_SAMPLE:
            factor = FASTER_STEPS if taken <= 0 else min(FASTER_STEPS, 1.2 * SAMPLE_S / taken)
            number = min(MOST_IN_A_SAMPLE, math.ceil(number * max(factor, 1.1)))
        elif warm >= WARM_S or taken <= 0 or number >= MOST_IN_A_SAMPLE:
            return number


def _point(size: int, lane: str, flops: float, found: _Measured) -> Point:
    copy_interval = list(stats.interval(found.copy)[:2]) if found.copy else None
    return {
        "size": size,
        "lane": lane,
        "seconds": found.seconds,
        "interval": list(found.interval),
        "samples": list(found.samples),
        "copy_s": statistics.median(found.copy) if found.copy else None,
        "copy_interval": copy_interval,
        "flops": flops,
        "status": RAN,
    }
