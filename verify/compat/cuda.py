"""Which driver a program needs that was built for some CUDA, and in which way a driver serves it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from verify.compat.forward import compat_package
from verify.compat.table import rows
from verify.facts.version import Version

_MINIMUM = {row["cuda_major"]: Version.of(row["driver"]) for row in rows("cuda", "minimum_drivers")}
_INDEX = {row["cuda_major"]: row["index"] for row in rows("cuda", "torch_indexes")}


class How(StrEnum):
    """In which way a driver serves a CUDA."""

    RUNS = "runs"
    MINOR = "minor-version compatibility"
    FORWARD = "forward compatibility"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Serves:
    """In which way (None: our tables do not know this CUDA), and why, as a sentence."""

    how: How | None
    why: str

    @property
    def starts(self) -> bool:
        """Whether a program starts, by whichever way."""
        return self.how in (How.RUNS, How.MINOR, How.FORWARD)


def minimum_driver(cuda: Version) -> Version | None:
    """Return the oldest driver that starts a program built for this CUDA; None for an unknown major."""
    return _MINIMUM.get(cuda.major)


def torch_index(driver: Version) -> str | None:
    """Return the newest index of PyTorch wheels that this driver serves; None where it serves none."""
    served = [major for major, minimum in _MINIMUM.items() if driver >= minimum]
    return f"https://download.pytorch.org/whl/{_INDEX[max(served)]}" if served else None


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


def _minor(driver: Version, own: Version | None, cuda: Version, package: str | None) -> str:
    newest = packaged_drivers()[-1][1].major
    least = " at least" if driver.major > newest else ""  # the table ends before this driver
    also = f"; {package} in the image lifts that" if package else ""
    return (
        f"driver {driver} carries{least} CUDA {own or 'of an older release'}; CUDA {cuda} starts on it, "
        f"as every {cuda.major}.x does from {_MINIMUM[cuda.major]} on, but what a program has as PTX only "
        f"{'may fail' if least else 'fails'} (CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222){also}"
    )


def serves(driver: Version, cuda: Version, forward: bool = False) -> Serves:  # noqa: FBT001, FBT002  # public
    """Say in which way a driver serves a CUDA; ``forward``: the cards may use the compatibility libraries."""
    cuda, own, minimum = minor(cuda), carried(driver), minimum_driver(cuda)
    package = compat_package(driver, cuda)
    if own is not None and cuda <= own:
        return Serves(How.RUNS, f"driver {driver} carries CUDA {own} itself, and older ones with it")
    if cuda.major < min(_MINIMUM) and driver >= min(_MINIMUM.values()):
        return Serves(How.RUNS, f"driver {driver} is newer than CUDA {cuda}, and drivers serve what is older")
    if minimum is None:
        known = ", ".join(str(major) for major in _MINIMUM)
        return Serves(None, f"CUDA {cuda} is not in our table (it has {known})")
    if driver >= minimum:
        return Serves(How.MINOR, _minor(driver, own, cuda, package if forward else None))
    if forward and package:
        return Serves(
            How.FORWARD,
            f"CUDA {cuda} needs driver {minimum} or newer, the driver is {driver}; {package} in the image, "
            f"LD_LIBRARY_PATH on it, makes up for that on this card",
        )
    return Serves(How.NO, f"CUDA {cuda} needs driver {minimum} or newer, the driver is {driver}")
