"""A lane: one library on one device. What it needs from a contestant, and what it says when it is through."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from verify.race import stats
from verify.race.clock import Clock, Timings, repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RAN = "ran"
ABSENT = "absent"
FAILED = "failed"


@dataclass(frozen=True)
class Lane:
    """Its name in the evidence, the module it calculates with and where."""

    name: str
    library: str
    device: str


class Runner(Protocol):
    """A contestant in one lane."""

    def load(self) -> None:
        """Put the data where it is calculated with."""

    def fresh(self) -> Any:  # noqa: ANN401  # each contestant knows what it starts from
        """Return an untrained start."""

    def train(self, start: Any) -> Any:  # noqa: ANN401
        """Do the work that is timed."""

    def quality(self, result: Any) -> dict[str, float]:  # noqa: ANN401
        """Say how good the result is."""


@dataclass(frozen=True)
class Outcome:
    """What a lane gave: numbers if it ran, the reason if it did not, never both."""

    lane: Lane
    status: str
    reason: str | None = None
    timings: Timings | None = None
    transfer: float | None = None
    quality: Mapping[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float | None:
        """The median repeat in seconds."""
        return None if self.timings is None else statistics.median(self.timings.samples)

    def document(self, library_name: str, extra_warnings: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the lane as race.json has it."""
        samples = self.timings.samples if self.timings else ()
        return {
            "name": self.lane.name,
            "library": library_name,
            "device": self.lane.device,
            "status": self.status,
            "reason": self.reason,
            "warmups": list(self.timings.warmups) if self.timings else [],
            "samples": list(samples),
            "transfer": self.transfer,
            "median": self.median,
            "interval": list(stats.interval(samples)) if samples else None,
            "quality": dict(self.quality) or None,
            "warnings": [*(stats.warnings(samples) if samples else ()), *extra_warnings],
        }


def run_lane(
    lane: Lane,
    runner: Callable[[], Runner],
    clock: Clock,
    *,
    copies: bool,
    warmups: int,
    repeats: int,
    progress: Callable[[str], None],
) -> Outcome:
    """Run one lane. A lane that breaks says so with its error and gives no number.

    ``copies`` says whether loading the data moves it to another memory; then it is timed, apart from the
    work, the second time it is done, because the first also starts the device.
    """
    try:
        ready = runner()
        ready.load()
        transfer = clock.time(ready.load)[0] if copies else None
        timings, result = repeat(
            clock, ready.fresh, ready.train, warmups=warmups, repeats=repeats, progress=progress
        )
        quality = ready.quality(result)
    except Exception as error:  # noqa: BLE001  # out of memory, card lost: all end here
        first = (str(error).splitlines() or [""])[0]
        return Outcome(lane, FAILED, reason=f"{type(error).__name__}: {first}".rstrip(": "))
    return Outcome(lane, RAN, timings=timings, transfer=transfer, quality=quality)
