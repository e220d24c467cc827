"""Run a contestant in every lane that can run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Optional

from verify.race import cores, profile, surroundings
from verify.race.clock import Plan
from verify.race.device import clock_for, tf32
from verify.race.lanes import ABSENT, FAILED, RAN, Lane, Outcome, failed, run_lane
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from verify.race.budget import Budget
    from verify.race.clock import Clock
    from verify.race.contestants import Contestant
    from verify.race.lanes import Profile
    from verify.race.progress import Progress
    from verify.race.settings import Settings

WARM_SECONDS = 0.5  # clocks rise and caches fill; a single short warm-up would not see the end of it
PROFILE_FACTOR, PROFILE_SECONDS = 5, 2.0  # a training whose kernels are watched, and reading what was seen


@dataclass
class Course:
    """What the lanes of one race share: its budget, and how many lanes still have a claim on it."""

    settings: Settings
    libraries: Libraries
    budget: Budget
    progress: Progress
    claims: int
    threads: int = field(default_factory=cores.threads)
    sampler: Optional[Any] = None  # noqa: UP045  # Python 3.9; a sampler.Sampler where there is a card
    lang: str = "en"

    def say(self, what: Message) -> None:
        """Say it in the race's language."""
        self.progress.said(text(what, self.lang))

    def share(self) -> float:
        """Return what the next lane may take of the budget, and take its claim off."""
        share = self.budget.share(self.claims)
        self.claims = max(0, self.claims - 1)
        return share


def why_absent(
    contestant: Contestant, lane: Lane, settings: Settings, libraries: Libraries
) -> Message | None:
    """Return why a lane cannot run here; None where it can."""
    if contestant.absent is not None:
        return contestant.absent(lane, settings, libraries)
    return absent_reason(lane.library, lane.device, libraries)


def run_contestant(
    contestant: Contestant, course: Course
) -> tuple[tuple[Outcome, ...], Optional[dict[str, Any]]]:  # noqa: UP045
    """Run one contestant's lanes one after the other, its data made once; also say what a training is."""
    outcomes: list[Outcome] = []
    made: list[Any] = []

    def data() -> Any:  # noqa: ANN401  # each contestant has its own
        if not made:
            course.say(message("progress-data", contestant=contestant.name))
            made.append(contestant.data(course.settings, course.libraries))
        return made[0]

    for lane in contestant.lanes:
        outcome = _run(contestant, lane, data, outcomes, course)
        if outcome.reason:
            here = message("progress-lane", contestant=contestant.name, lane=lane.name)
            said = message(f"race-status-{outcome.status}", reason=outcome.reason)
            course.say(message("progress-ended", lane=here, said=said))
        outcomes.append(outcome)
    training = dict(contestant.training(course.settings, made[0])) if contestant.training and made else None
    return tuple(outcomes), training


def _run(
    contestant: Contestant, lane: Lane, data: Callable[[], Any], before: list[Outcome], course: Course
) -> Outcome:
    settings, libraries = course.settings, course.libraries
    reason = why_absent(contestant, lane, settings, libraries)
    if reason is not None:
        return Outcome(lane, ABSENT, reason=reason)
    try:
        made = data()
    except Exception as error:  # noqa: BLE001  # too little memory, a file that is gone
        return Outcome(lane, FAILED, reason=failed(error))
    share, left = course.share(), course.budget.left()
    if left <= 2 * _expected(lane, before):
        return Outcome(lane, ABSENT, reason=message("no-budget", budget_s=course.budget.seconds))
    course.progress.lane(contestant.name, lane.name)
    on_card = lane.device == CUDA
    # Another process waits for the card and copies within its training: this one sees neither.
    ours = on_card and lane.library == "torch"
    clock = clock_for(CUDA if ours else CPU, libraries)
    look = surroundings.look()
    with cores.all_cores(libraries, course.threads), tf32(libraries, allowed=not lane.counts):
        outcome = run_lane(
            lane,
            lambda: contestant.runner(lane, made, settings, libraries),
            clock,
            plan(
                settings,
                clock.now(),
                share,
                left,
                watched=course.sampler if on_card else None,
                told=course.progress.repeat,
            ),
            copies=ours,
            progress=course.progress.said,
            profile=_profiler(course, clock) if ours else None,
        )
    if outcome.status != RAN:
        return outcome
    usage, seen = _seen(course) if on_card else (None, ())
    warnings = [*surroundings.warnings(look, surroundings.look(), cores.count()), *seen]
    if lane.device == CPU and cores.usable() < cores.count():
        warnings.append(message("few-threads", threads=cores.usable(), cores=cores.count()))
    return replace(outcome, warnings=(*outcome.warnings, *warnings), usage=usage)


def plan(settings: Settings, now: float, share: float, left: float, **more: Any) -> Plan:  # noqa: ANN401
    """Return when a lane that begins now stops."""
    exact = settings.repeats
    found = Plan(
        warmups=settings.warmups,
        warm_s=0.0 if exact else WARM_SECONDS,
        least=exact or settings.least,
        most=exact or settings.most,
        target=settings.precision_target,
        share=share,
        until=now + share,
        end=now + left,
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
        enough = course.budget.left() > PROFILE_FACTOR * seconds + PROFILE_SECONDS
        return profile.profiled(torch, clock, work if enough else None, modelled)

    return look


def _seen(course: Course) -> tuple[Optional[dict[str, Any]], tuple[Message, ...]]:  # noqa: UP045
    if course.sampler is None:
        return None, ()
    cost = course.sampler.cost()
    if cost is not None:
        course.say(cost)
    return course.sampler.usage(), tuple(course.sampler.warnings())
