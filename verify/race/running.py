"""Run a contestant in every lane that can run."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from verify.race import cores, profile, surroundings
from verify.race.clock import Plan
from verify.race.device import clock_for, tf32
from verify.race.few_cores import few_cores
from verify.race.lanes import run_lane
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.outcome import ABSENT, FAILED, RAN, Lane, Outcome
from verify.race.refused import failed, no_time
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from verify.race.clock import Clock
    from verify.race.contestants import Contestant
    from verify.race.course import Course
    from verify.race.lanes import Profile
    from verify.race.settings import Settings

WARM_SECONDS = 0.5  # clocks rise and caches fill; a single short warm-up would not see the end of it
# What follows the repeats, in repeats: the quality of the result, and one more training to count its work.
AFTER = 1.0
PROFILE_FACTOR, PROFILE_SECONDS = 5, 2.0  # a training whose kernels are watched, and reading what was seen


def why_absent(
    contestant: Contestant, lane: Lane, settings: Settings, libraries: Libraries
) -> Message | None:
    """Return why a lane cannot run here; None where it can."""
    if contestant.absent is not None:
        return contestant.absent(lane, settings, libraries)
    return absent_reason(lane.library, lane.device, libraries)


def run_contestant(
    contestant: Contestant, course: Course
) -> tuple[tuple[Outcome, ...], dict[str, Any] | None]:
    """Run one contestant's lanes one after the other, its data made once; also say what a training is."""
    settings, libraries = course.settings, course.libraries
    outcomes: list[Outcome] = []
    made: list[Any] = []
    absent = {lane.name: why_absent(contestant, lane, settings, libraries) for lane in contestant.lanes}
    own = course.begin(sum(1 for reason in absent.values() if reason is None))
    if contestant.begin is not None:
        contestant.begin(own)

    def data() -> Any:  # noqa: ANN401  # each contestant has its own
        if not made:
            course.say(message("progress-data", contestant=contestant.name))
            made.append(contestant.data(settings, libraries))
        return made[0]

    for lane in contestant.lanes:
        reason = absent[lane.name]
        if reason is not None:
            outcome = Outcome(lane, ABSENT, reason=reason)
        else:
            outcome = _run(contestant, lane, data, outcomes, course)
        if outcome.reason:
            here = message("progress-lane", contestant=contestant.name, lane=lane.name)
            said = message(f"race-status-{outcome.status}", reason=outcome.reason)
            course.say(message("progress-ended", lane=here, said=said))
        outcomes.append(outcome)
    training = dict(contestant.training(settings, made[0])) if contestant.training and made else None
    return tuple(outcomes), training


def _run(
    contestant: Contestant, lane: Lane, data: Callable[[], Any], before: list[Outcome], course: Course
) -> Outcome:
    settings, libraries = course.settings, course.libraries
    try:
        made = data()
    except Exception as error:  # noqa: BLE001  # too little memory, a file that is gone
        return Outcome(lane, FAILED, reason=failed(error))
    on_card = lane.device == CUDA
    # Another process waits for the card and copies within its training: this one sees neither.
    ours = on_card and lane.library == "torch"
    clock = clock_for(CUDA if ours else CPU, libraries)
    until, end = course.share()
    ends = plan(settings, clock.now(), until, end, watched=course.sampler if on_card else None,
                told=course.progress.repeat)  # fmt: skip
    expected = _expected(lane, before)
    if end <= 2 * expected:  # a warm-up, and one that is timed
        return Outcome(lane, ABSENT, reason=no_time(expected, ends))
    course.progress.lane(contestant.name, lane.name)
    look = surroundings.look()
    with cores.all_cores(libraries, course.threads), tf32(libraries, allowed=not lane.counts):
        threads = cores.effective(libraries, lane.library)
        outcome = run_lane(
            lane,
            lambda: contestant.runner(lane, made, settings, libraries),
            clock,
            ends,
            copies=ours,
            profile=_profiler(course, clock) if ours else None,
        )
    if outcome.status != RAN:
        return outcome
    outcome = replace(outcome, threads=threads)
    if contestant.threads is not None:
        outcome = replace(outcome, **contestant.threads(lane, made))
    usage, seen = _seen(course, outcome) if on_card else (None, ())
    warnings = [*surroundings.warnings(look, surroundings.look(), cores.count()), *seen, *_few(outcome)]
    return replace(outcome, warnings=(*outcome.warnings, *warnings), usage=usage)


def _few(outcome: Outcome) -> tuple[Message, ...]:
    """Say that a CPU lane had too little of the machine, or took fewer threads than it has cores of its own.

    The first by the rule that the ratio's sentence has, too. The second is somebody's choice, such as
    OMP_NUM_THREADS in a script's environment.
    """
    if outcome.lane.device != CPU:
        return ()
    usable, threads = cores.usable(), outcome.threads
    known = {"threads": threads, "usable_cores": usable, "quota_cores": cores.quota()}
    found = few_cores({**known, "cores": cores.count()})
    if found is None and threads is not None and threads < min(cores.threads(), usable):
        found = float(threads), usable
    return () if found is None else (message("few-threads", threads=found[0], cores=found[1]),)


def plan(settings: Settings, now: float, share: float, end: float, **more: Any) -> Plan:  # noqa: ANN401
    """Return when a lane that begins now stops."""
    exact = settings.repeats
    found = Plan(
        warmups=settings.warmups,
        warm_s=0.0 if exact else WARM_SECONDS,
        least=exact or settings.least,
        most=exact or settings.most,
        target=settings.precision_target,
        until=now + share,
        end=now + end,
        after=AFTER,
        share_s=share if math.isfinite(share) else None,
        budget_s=settings.budget_s,
    )
    return replace(found, **{key: value for key, value in more.items() if value is not None})


def _expected(lane: Lane, before: list[Outcome]) -> float:
    """Return how long a training may take here, from a lane on the same device; 0 where nothing is known."""
    known = [o.median for o in before if o.lane.device == lane.device and o.median is not None]
    return known[-1] if known else 0.0


def _profiler(course: Course, clock: Clock) -> Profile:
    torch = course.libraries["torch"]

    def look(work: Callable[[], Any], modelled: Mapping[str, Any] | None, seconds: float) -> Any:  # noqa: ANN401
        enough = course.own.left() > PROFILE_FACTOR * seconds + PROFILE_SECONDS
        return profile.profiled(torch, clock, work if enough else None, modelled, seconds)

    return look


def _seen(course: Course, outcome: Outcome) -> tuple[dict[str, Any] | None, tuple[Message, ...]]:
    """Return what the sampler saw of the card during the timed repeats; why, where it saw nothing."""
    sampler = course.sampler
    if sampler is None:
        return None, ()
    usage = sampler.usage(outcome.timings.windows if outcome.timings else ())
    cost = sampler.cost()
    if cost is not None:
        course.say(cost)
    blind = [sampler.reason] if usage is None and sampler.reason else []
    return usage, (*sampler.notes, *blind, *sampler.warnings())
