"""A lane and what it gave: one library on one device, its times, its result and what is doubtful about it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verify.race import stats

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race.clock import Timings
    from verify.race.words import Message

RAN = "ran"
ABSENT = "absent"
FAILED = "failed"
INVALID = "invalid"


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


@dataclass(frozen=True)
class Outcome:
    """What a lane gave: numbers if it ran, the reason if it did not, never both."""

    lane: Lane
    status: str
    reason: Message | None = None
    timings: Timings | None = None
    ended: str | None = None
    copied_in: tuple[float, ...] = ()
    copied_out: tuple[float, ...] = ()
    threads: int | None = None
    threads_environment: Mapping[str, str] | None = None
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
    def looks(self) -> tuple[int, ...]:
        """At which numbers of repeats it could have been enough."""
        return self.timings.looks if self.timings else ()

    @property
    def copies(self) -> float:
        """The seconds that copying in and out takes, once per training."""
        return sum(statistics.median(copied) for copied in (self.copied_in, self.copied_out) if copied)

    @property
    def median(self) -> float | None:
        """The median repeat in seconds."""
        return statistics.median(self.samples) if self.samples else None

    @property
    def total(self) -> float | None:
        """The median repeat with the copies, as a user waits for it."""
        return None if self.median is None else self.median + self.copies

    @property
    def intervals(self) -> list[tuple[float, float, float]]:
        """The intervals, each with its confidence, of the times that together are its total."""
        times = [(self.samples, self.looks), (self.copied_in, ()), (self.copied_out, ())]
        return [stats.interval(samples, looks) for samples, looks in times if samples]

    def document(self, library_name: str, extra_warnings: tuple[Message, ...] = ()) -> dict[str, Any]:
        """Return the lane as race.json has it."""
        low, high, confidence = (None,) * 3
        if self.samples:
            low, high, confidence = stats.interval(self.samples, self.looks)
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
            "looks": [number for number in self.looks if number <= len(self.samples)] or None,
            "transfer_in": statistics.median(self.copied_in) if self.copied_in else None,
            "transfer_out": statistics.median(self.copied_out) if self.copied_out else None,
            "transfer_in_interval": _ends(self.copied_in),
            "transfer_out_interval": _ends(self.copied_out),
            "threads": self.threads,
            "threads_environment": self.threads_environment and dict(self.threads_environment),
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


def _ends(copied: tuple[float, ...]) -> list[float] | None:
    return list(stats.interval(copied)[:2]) if copied else None
