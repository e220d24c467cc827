"""The sweep: the same operation over sizes on both devices, with and without the copy to the card.

One sample repeats the operation until it lasts a few milliseconds, both ends synchronised, as a training loop
repeats it: on a card the launches of the next overlap with the work of the one before. The copy is timed
apart. CPU and card take turns at each size, so that a budget that ends early leaves sizes that both have.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from verify.race import guard, stats
from verify.race.budget import Budget
from verify.race.crossing import break_even
from verify.race.device import clock_for
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.operations import OPERATIONS
from verify.race.outcome import INVALID, RAN
from verify.race.points import LEAST, SAMPLE_S, UNTIMED, Measured, measured
from verify.race.refused import failed
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.progress import Progress
    from verify.race.settings import Settings

    Point = dict[str, Any]

__all__ = ["break_even", "run"]

# Work grown so many times in the same time: the clock did not wait for the work.
FLAT_WORK, FLAT_SECONDS = 1_000.0, 1.2


def run(
    settings: Settings,
    libraries: Libraries,
    budget: Budget,
    progress: Progress,
    *,
    peak: Mapping[str, Any] | None = None,
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
        if expected * (UNTIMED + LEAST) > share:
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
    """Return how long a sample takes at most, from the size before: no slower than its work grows."""
    before = [point for point in points if point["lane"] == lane]
    known = float(before[-1]["seconds"] * flops / before[-1]["flops"]) if before else 0.0
    return max(known, SAMPLE_S)


def _point(size: int, lane: str, flops: float, found: Measured) -> Point:
    low, high, confidence = stats.interval(found.copy) if found.copy else (None, None, None)
    return {
        "size": size,
        "lane": lane,
        "seconds": found.seconds,
        "interval": list(found.interval),
        "confidence": found.confidence,
        "samples": list(found.samples),
        "copy_s": statistics.median(found.copy) if found.copy else None,
        "copy_interval": None if low is None else [low, high],
        "copy_confidence": confidence,
        "flops": flops,
        "status": RAN,
    }
