"""Run a lane: what it needs from a contestant, and in which order things are timed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Optional, Protocol

from verify.race.clock import Clock, NoTimeError, Plan, Timings, repeat
from verify.race.outcome import ABSENT, FAILED, RAN, Lane, Outcome
from verify.race.refused import beyond, failed, no_time, numbers

# What one training's time goes to: (a training, its modelled work, its seconds) to {launch_s, device_s, …}.
Seen = Optional[Mapping[str, Any]]  # noqa: UP045  # evaluated when imported, on Python 3.9 too
Profile = Callable[[Callable[[], Any], Seen, float], Seen]

# A copy is timed so often that its extremes are as good as certain, or as often as fits; the median counts.
TRANSFERS, LEAST_TRANSFERS, TRANSFER_SECONDS = 11, 3, 2.0


class Runner(Protocol):
    """A contestant in one lane."""

    def load(self) -> None:
        """Put the data where it is calculated with; on a card this is the copy in, and done several times."""

    def fresh(self) -> Any:  # noqa: ANN401  # each contestant knows what it starts from
        """Return an untrained start."""

    def train(self, start: Any) -> Any:  # noqa: ANN401
        """Do the work that is timed."""

    def unload(self, result: Any) -> Any:  # noqa: ANN401
        """Copy the result back to the host: the copy out, timed apart on a card."""

    def quality(self, result: Any) -> dict[str, float]:  # noqa: ANN401
        """Say how good the result of ``train`` is."""

    def work(self) -> Mapping[str, Any] | None:
        """Return {flops, bytes, working_set_bytes, launches, from} of one ``train``, None where unknown."""


def run_lane(
    lane: Lane,
    runner: Callable[[], Runner],
    clock: Clock,
    plan: Plan,
    *,
    copies: bool,
    profile: Profile | None = None,
) -> Outcome:
    """Run one lane. A lane that breaks says so with its error and gives no number.

    ``copies`` says whether loading the data moves it to another memory; then it is timed, apart from the
    work, after it was done once, because the first time also starts the device. ``profile`` looks at one more
    training, after all that is timed, and says what its time went to.
    """
    try:
        ready = runner()
        ready.load()
        copied_in = _copied(clock, ready.load) if copies else ()
        timings, ended, result = repeat(clock, ready.fresh, ready.train, plan=plan)
        ready.unload(result)
        copied_out = _copied(clock, lambda: ready.unload(result)) if copies else ()
        quality, no_numbers = numbers(ready.quality(result))
        work = ready.work()
        spent = _look(profile, ready, work, timings)
    except NoTimeError as error:
        return Outcome(lane, ABSENT, reason=no_time(error.seconds, plan))
    except Exception as error:  # noqa: BLE001  # out of memory, card lost: all end here
        return Outcome(lane, FAILED, reason=failed(error))
    return Outcome(
        replace(lane, precision=getattr(ready, "precision", lane.precision)),
        RAN,
        timings=timings,
        ended=ended,
        copied_in=copied_in,
        copied_out=copied_out,
        quality=quality,
        warnings=(*no_numbers, *beyond(timings, ended, plan)),
        work=work,
        time=spent,
    )


def _look(
    profile: Profile | None, ready: Runner, work: Mapping[str, Any] | None, timings: Timings
) -> Mapping[str, Any] | None:
    """Have a training watched: what is timed and nothing else, so its start is made before."""
    if profile is None:
        return None
    try:
        start = ready.fresh()
        return profile(lambda: ready.train(start), work, statistics.median(timings.samples))
    except Exception:  # noqa: BLE001  # what was timed stands without the look behind it
        return None


def _copied(clock: Clock, copy: Callable[[], Any]) -> tuple[float, ...]:
    """Time a copy several times."""
    found: list[float] = []
    while len(found) < LEAST_TRANSFERS or (len(found) < TRANSFERS and sum(found) < TRANSFER_SECONDS):
        found.append(clock.time(copy)[0])
    return tuple(found)
