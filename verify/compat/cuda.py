"""Which driver a program needs that was built for some CUDA, and in which way a driver serves it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from verify.compat.forward import compat_package
from verify.compat.table import rows
from verify.facts.version import Version

_MINIMUM = {row["cuda_major"]: Version.of(row["driver"]) for row in rows("cuda", "minimum_drivers")}


class How(StrEnum):
    """In which way a driver serves a CUDA."""

    RUNS = "runs"
    MINOR = "minor-version compatibility"
    FORWARD = "forward compatibility"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Serves:
    """In which way (None: our tables do not know this CUDA), why, and NVIDIA's package for the pair."""

    how: How | None
    why: str
    package: str | None = None

    @property
    def starts(self) -> bool:
        """Whether a program starts, by whichever way."""
        return self.how in (How.RUNS, How.MINOR, How.FORWARD)


def minimum_driver(cuda: Version) -> Version | None:
    """Return the oldest driver that starts a program built for this CUDA; None for an unknown major."""
    return _MINIMUM.get(cuda.major)


@cache
def packaged_drivers() -> tuple[tuple[Version, Version], ...]:
    """Return each CUDA with the driver that its first release came with, oldest first."""
    return tuple(
        (Version.of(row["cuda"]), Version.of(row["driver"]))
        for row in rows("cuda", "packaged_drivers")
        if row["update"] == 0
    )


def minor(cuda: Version) -> Version:
    """Cut 12.8.1 to 12.8: updates of a toolkit change nothing about the driver that it needs."""
    return Version.of(".".join(str(part) for part in (*cuda.parts, 0)[:2]))


def carried(driver: Version) -> Version | None:
    """Return the CUDA that a driver carries itself; None for one that is older than the table."""
    return max((cuda for cuda, packaged in packaged_drivers() if driver >= packaged), default=None)


def beyond_table(driver: Version) -> bool:
    """Whether the table ends before this driver's branch: then it may carry more than the table knows."""
    return driver.major > packaged_drivers()[-1][1].major


def _why_minor(driver: Version, own: Version | None, cuda: Version, package: str | None) -> str:
    least = " at least" if beyond_table(driver) else ""
    also = "; its cuda-compat package in the image lifts that" if package else ""
    return (
        f"every CUDA {cuda.major}.x starts from driver {_MINIMUM[cuda.major]} on; driver {driver} "
        f"carries{least} {own or 'an older release'}, so what a program has as PTX only "
        f"{'may fail' if least else 'fails'} (CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222){also}"
    )


def serves(driver: Version, cuda: Version, forward: bool = False) -> Serves:  # noqa: FBT001, FBT002  # public
    """Say in which way a driver serves a CUDA; ``forward``: the cards may use the compatibility libraries."""
    cuda, own, minimum = minor(cuda), carried(driver), minimum_driver(cuda)
    package = compat_package(driver, cuda) if forward else None
    if own is not None and cuda <= own:
        least = "at least " if beyond_table(driver) else ""
        return Serves(
            How.RUNS, f"driver {driver} carries {least}CUDA {own} itself, and what is older runs on it"
        )
    if cuda.major < min(_MINIMUM) and driver >= min(_MINIMUM.values()):
        return Serves(How.RUNS, f"driver {driver} is newer than CUDA {cuda}, and what is older runs on it")
    if minimum is None:
        known = ", ".join(str(major) for major in _MINIMUM)
        return Serves(None, f"CUDA {cuda} is not in our table (it has {known})")
    if driver >= minimum:
        return Serves(How.MINOR, _why_minor(driver, own, cuda, package), package)
    needs = f"CUDA {cuda.major} needs driver {minimum} or newer, the driver is {driver}"
    if package:
        makes_up = (
            "its cuda-compat package in the image, LD_LIBRARY_PATH on it, makes up for that on this card"
        )
        return Serves(How.FORWARD, f"{needs}; {makes_up}", package)
    return Serves(How.NO, needs)


@dataclass(frozen=True, slots=True)
class ToolkitCards:
    """The compute capabilities that a toolkit compiles for, from the oldest to the newest."""

    oldest: tuple[int, int]
    newest: tuple[int, int]


@cache
def _toolkits() -> tuple[tuple[Version, Version, ToolkitCards], ...]:
    def pair(text: str) -> tuple[int, int]:
        first, second = Version.of(text).parts[:2]
        return first, second

    return tuple(
        (
            Version.of(row["from"]),
            Version.of(row["to"]),
            ToolkitCards(pair(row["oldest"]), pair(row["newest"])),
        )
        for row in rows("cuda", "toolkit_cards")
    )


def toolkit_cards(cuda: Version) -> ToolkitCards | None:
    """Return the cards of a toolkit; None for one that the table does not have."""
    asked = minor(cuda)
    return next((cards for first, last, cards in _toolkits() if first <= asked <= last), None)


def first_cuda(capability: tuple[int, int]) -> Version | None:
    """Return the first CUDA that knows a card's major capability; None where the table begins later."""
    for number, (first, _, cards) in enumerate(_toolkits()):
        if capability[0] <= cards.newest[0]:
            return first if number else None
    return None


def newest_cuda() -> Version:
    """Return the newest CUDA of the tables."""
    return _toolkits()[-1][1]
