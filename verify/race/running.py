"""Run every contestant in every lane that can run; compare the results before the times are compared."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

from verify.race import stats
from verify.race.device import clock_for
from verify.race.lanes import ABSENT, RAN, Outcome, run_lane
from verify.race.libraries import CUDA, DISTRIBUTIONS, Libraries, absent_reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from verify.race.contestants import Contestant
    from verify.race.settings import Settings


def run_contestant(
    contestant: Contestant, settings: Settings, libraries: Libraries, progress: Callable[[str], None]
) -> tuple[Outcome, ...]:
    """Run one contestant's lanes one after the other; its data is made once, by the first that needs it."""
    outcomes = []
    made: list[Any] = []

    def data() -> Any:  # noqa: ANN401  # each contestant has its own
        if not made:
            progress(f"{contestant.name}: making the data")
            made.append(contestant.data(settings, libraries))
        return made[0]

    for lane in contestant.lanes:
        reason = absent_reason(lane.library, lane.device, libraries)
        if reason:
            progress(f"{contestant.name}, lane {lane.name}: absent: {reason}")
            outcomes.append(Outcome(lane, ABSENT, reason=reason))
            continue
        here = f"{contestant.name}, lane {lane.name}"
        outcome = run_lane(
            lane,
            lambda lane=lane: contestant.runner(lane, data(), settings, libraries),  # type: ignore[misc]
            clock_for(lane.device, libraries),
            copies=lane.device == CUDA,
            warmups=settings.warmups,
            repeats=settings.repeats,
            progress=lambda text, here=here: progress(f"{here}: {text}"),  # type: ignore[misc]
        )
        if outcome.reason:
            progress(f"{here}: {outcome.status}: {outcome.reason}")
        outcomes.append(outcome)
    return tuple(outcomes)


def judge(contestant: Contestant, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the contestant as race.json has it: its lanes, and the best CPU lane's time over the card's.

    No ratio without both, and none where the lanes found different things: a fast wrong answer has no speed.
    """
    ran = [o for o in outcomes if o.status == RAN]
    warnings: dict[str, tuple[str, ...]] = {}
    for other in ran[1:]:
        text = contestant.disagreement(ran[0].quality, other.quality)
        if text:
            said = f"the result differs from lane {ran[0].lane.name}: {text}; its time is not compared"
            warnings[other.lane.name] = (said,)
    comparable = [o for o in ran if o.lane.name not in warnings and o.timings]
    cpu = [o for o in comparable if o.lane.device != CUDA]
    card = [o for o in comparable if o.lane.device == CUDA]
    ratio = interval = against = None
    if cpu and card:
        best = min(cpu, key=_median)
        ratio = _median(best) / _median(card[0])
        interval = list(stats.ratio_interval(_samples(best), _samples(card[0])))
        against = best.lane.name
    return {
        "name": contestant.name,
        "lanes": [o.document(DISTRIBUTIONS[o.lane.library], warnings.get(o.lane.name, ())) for o in outcomes],
        "ratio": ratio,
        "ratio_interval": interval,
        "ratio_against": against,
    }


def _samples(outcome: Outcome) -> tuple[float, ...]:
    return outcome.timings.samples if outcome.timings else ()


def _median(outcome: Outcome) -> float:
    return statistics.median(_samples(outcome))
