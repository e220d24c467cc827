"""Which driver branches are alive, and which versions of them have known holes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.table import cited, rows
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLOORS: Mapping[int, tuple[Version, str]] = {
    row["branch"]: (Version.of(row["version"]), cited(row)) for row in rows("driver", "security_floors")
}
_ENDS: Mapping[int, tuple[str | None, str]] = {
    row["branch"]: (row["end"], cited(row)) for row in rows("driver", "branches")
}


@dataclass(frozen=True, slots=True)
class Below:
    """The security floor that a driver is below."""

    floor: Version
    source: str


def below_floor(driver: Version) -> Below | None:
    """Return the floor of the driver's branch if the driver is below it; None if not, or if unknown."""
    floor, source = _FLOORS.get(driver.major, (None, ""))
    return Below(floor, source) if floor and driver < floor else None


def has_floor(driver: Version) -> bool:
    """Whether a bulletin names a floor for the driver's branch."""
    return driver.major in _FLOORS


def end_of_life(driver: Version, month: str | None) -> str | None:
    """Say that the branch is past its end in a month (``2026-12``); None if it is alive or unknown."""
    if driver.major not in _ENDS:
        return None
    end, source = _ENDS[driver.major]
    if end is None:
        return f"past its end of life ({source})"
    return f"past its end of life since {end} ({source})" if month and month > end else None


def known_branch(driver: Version) -> bool:
    """Whether the table knows the driver's branch."""
    return driver.major in _ENDS


@dataclass(frozen=True, slots=True)
class Branch:
    """A driver branch: what NVIDIA calls it, and how long it lives."""

    number: int
    kind: str | None
    end: str | None
    ended: bool
    oldest: str
    source: str

    @property
    def life(self) -> str:
        """Say until when it lives, as the source saw it."""
        if self.end is None:
            return "ended"  # which month is in no source
        return f"ended {self.end}" if self.ended else f"lives until {self.end}"


def branches() -> tuple[Branch, ...]:
    """Return every branch of the table, oldest first."""
    return tuple(
        Branch(
            row["branch"],
            row["kind"],
            row["end"],
            # The source was written after the end, or does not list the branch any more.
            row["end"] is None or row["end"] < row["date"],
            row["oldest"],
            cited(row),
        )
        for row in rows("driver", "branches")
    )


def branch(driver: Version) -> Branch | None:
    """Return the driver's branch; None where the table does not have it."""
    return next((found for found in branches() if found.number == driver.major), None)
