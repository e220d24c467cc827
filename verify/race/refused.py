"""Why a lane gives no number, or fewer than it should: what broke, what did not fit, what is no number."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from verify.race.clock import BUDGET
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race.clock import Plan, Timings


class LaneError(RuntimeError):
    """A lane gives no number; the text is a whole sentence for whoever reads the report."""


def failed(error: Exception) -> Message:
    """Return an error as a reason: its own sentence, or its kind and its first line."""
    first = (str(error).splitlines() or [""])[0]
    kind = "" if isinstance(error, LaneError) and first else type(error).__name__
    return message("failed", error=f"{kind}: {first}".strip(": "))


def numbers(quality: Mapping[str, float]) -> tuple[dict[str, float], tuple[Message, ...]]:
    """Return what of a result is a number, and a warning that names the rest: JSON has no NaN."""
    found = {name: value for name, value in quality.items() if math.isfinite(value)}
    lost = [name for name in quality if name not in found]
    return found, (message("no-number", names=lost),) if lost else ()


def no_time(seconds: float, plan: Plan) -> Message:
    """Return that a lane was not begun, or not timed: one repeat would not fit."""
    if not seconds or plan.share_s is None or plan.budget_s is None:
        return message("no-budget", budget_s=plan.budget_s)
    return message("no-budget-share", seconds=seconds, share_s=plan.share_s, budget_s=plan.budget_s)


def beyond(timings: Timings, ended: str, plan: Plan) -> tuple[Message, ...]:
    """Say that the least repeats did not fit the lane's share: it borrowed time, or made fewer."""
    count = len(timings.samples)
    fit = sum(1 for _, done in timings.windows if done <= plan.until)
    if ended != BUDGET or plan.share_s is None or fit >= plan.least or count > plan.least:
        return ()
    return (
        message(
            "no-budget-least",
            count=count,
            fit=fit,
            least=plan.least,
            seconds=statistics.median(timings.samples),
            share_s=plan.share_s,
        ),
    )
