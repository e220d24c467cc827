"""Which index of PyTorch's wheels a driver and its cards can run."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from verify.compat.cuda import minimum_driver
from verify.compat.table import rows
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection

    from verify.compat.arch import Capability
    from verify.compat.table import Row

ADDRESS = "https://download.pytorch.org/whl/"


@cache
def _rows() -> tuple[Row, ...]:
    return rows("wheels", "indexes")


def wheel_index(driver: Version | None, cards: Collection[Capability] = ()) -> str | None:
    """Return the address of the best index; None where none serves them.

    The longest-kept index of the newest CUDA that the driver starts comes first: cu126 before cu128, unless a
    card needs the other. A driver that nobody knows rules nothing out.
    """
    served = [row for row in _rows() if _starts(row, driver) and all(_on(row, card) for card in cards)]
    if not served:
        return None
    major = max(row["cuda"] for row in served)
    return ADDRESS + str(next(row["index"] for row in served if row["cuda"] == major))


def _starts(row: Row, driver: Version | None) -> bool:
    minimum = minimum_driver(Version.of(str(row["cuda"])))
    return driver is None or (minimum is not None and driver >= minimum)


def _on(row: Row, card: Capability) -> bool:
    oldest, newest = (Version.of(row[end]).parts for end in ("oldest", "newest"))
    # Machine code runs on newer minor versions of its major one.
    return oldest <= card and (bool(row["ptx"]) or card[0] <= newest[0])
