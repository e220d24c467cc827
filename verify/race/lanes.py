"""A lane: one library on one device. What it needs from a contestant, and what it says when it is through."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Optional, Protocol

from verify.race import stats
from verify.race.clock import Clock, NoTimeError, Plan, Timings, repeat
from verify.race.words import Message, message

RAN = "ran"
ABSENT = "absent"
FAILED = "failed"
INVALID = "invalid"

# What one training's time goes to: (a training, its modelled work, its seconds) to {launch_s, device_s, …}.
Seen = Optional[Mapping[str, Any]]  # noqa: UP045  # evaluated when imported, on Python 3.9 too
Profile = Callable[[Callable[[], Any], Seen, float], Seen]

TRANSFERS = 3  # times that a copy is timed; the median of them counts


@dataclass(frozen=True)
class Lane:
    """Its name in the evidence, the module it calculates with, where, and how many digits.

    ``counts`` says whether its time may enter the ratio: mixed precision may not, its arithmetic is another.
    """

    name: str
    library: str
    device: str
    precision: str | None = None
    counts: bool = True


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


@dataclass(frozen=True)
class Outcome:
    """What a lane gave: numbers if it ran, the reason if it did not, never both."""

    lane: Lane
    status: str
    reason: Message | None = None
    timings: Timings | None = None
    ended: str | None = None
    transfer_in: float | None = None
    transfer_out: float | None = None
    quality: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[Message, ...] = ()
    work: Mapping[str, Any] | None = None
    time: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None

    @property
    def samples(self) -> tuple[float, ...]:
        """The raw repeats."""
        return self.timings.samples if self.timings else ()

    @property
    def copies(self) -> float:
        """The seconds that copying in and out takes, once per training."""
        return (self.transfer_in or 0.0) + (self.transfer_out or 0.0)

    @property
    def median(self) -> float | None:
        """The median repeat in seconds."""
        return statistics.median(self.samples) if self.samples else None

    @property
    def total(self) -> float | None:
        """The median repeat with the copies, as a user waits for it."""
        return None if self.median is None else self.median + self.copies

    def document(self, library_name: str, extra_warnings: tuple[Message, ...] = ()) -> dict[str, Any]:
        """Return the lane as race.json has it."""
        low, high, confidence = stats.interval(self.samples) if self.samples else (None, None, None)
        return {
            "name": self.lane.name,
            "library": library_name,
            "device": self.lane.device,
            "precision": self.lane.precision,
            "counts": self.lane.counts,
            "status": self.status,
            "reason": self.reason,
            "warmups": list(self.timings.warmups) if self.timings else [],
            "samples": list(self.samples),
            "median": self.median,
            "interval": None if low is None else [low, high],
            "confidence": confidence,
            "ended": self.ended,
            "transfer_in": self.transfer_in,
            "transfer_out": self.transfer_out,
            "total": self.total,
            "quality": dict(self.quality) or None,
            "warnings": [
                *(stats.warnings(self.samples) if self.samples else ()),
                *self.warnings,
                *extra_warnings,
            ],
            "work": None if self.work is None else dict(self.work),
            "time": None if self.time is None else dict(self.time),
            "usage": None if self.usage is None else dict(self.usage),
        }


def run_lane(
    lane: Lane,
    runner: Callable[[], Runner],
    clock: Clock,
    plan: Plan,
    *,
    copies: bool,
    progress: Callable[[str], None],
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
        copied_in = _median_of(clock, ready.load) if copies else None
        timings, ended, result = repeat(clock, ready.fresh, ready.train, plan=plan, progress=progress)
        ready.unload(result)
        copied_out = _median_of(clock, lambda: ready.unload(result)) if copies else None
        quality, work = ready.quality(result), ready.work()
        spent = _look(profile, ready, work, timings)
    except NoTimeError:
        return Outcome(lane, ABSENT, reason=message("no-budget", budget_s=plan.budget_s))
    except Exception as error:  # noqa: BLE001  # out of memory, card lost: all end here
        return Outcome(lane, FAILED, reason=failed(error))
    return Outcome(
        replace(lane, precision=getattr(ready, "precision", lane.precision)),
        RAN,
        timings=timings,
        ended=ended,
        transfer_in=copied_in,
        transfer_out=copied_out,
        quality=quality,
        work=work,
        time=spent,
    )


def _look(
    profile: Profile | None, ready: Runner, work: Mapping[str, Any] | None, timings: Timings
) -> Mapping[str, Any] | None:
    if profile is None:
        return None
    try:
        return profile(lambda: ready.train(ready.fresh()), work, statistics.median(timings.samples))
    except Exception:  # noqa: BLE001  # what was timed stands without the look behind it
        return None


def failed(error: Exception) -> Message:
    """Return an error as a reason: its kind and its first line."""
    first = (str(error).splitlines() or [""])[0]
    return message("failed", error=f"{type(error).__name__}: {first}".rstrip(": "))


def _median_of(clock: Clock, copy: Callable[[], Any]) -> float:
    return statistics.median(clock.time(copy)[0] for _ in range(TRANSFERS))
