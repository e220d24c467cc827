"""Forward compatibility: which cards, on which drivers, run a CUDA that is newer than their driver's."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from verify.compat.table import rows
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.compat.table import Row

DATA_CENTRE = "data centre"


@cache
def _cards() -> tuple[tuple[re.Pattern[str], Row], ...]:
    return tuple((re.compile(row["pattern"].strip()), row) for row in rows("forward", "cards"))


def _card(name: str | None) -> Row | None:
    return next((row for pattern, row in _cards() if pattern.search(name or "")), None)


def kind_of_card(name: str | None) -> str | None:
    """Return what a card of this name is sold as; None where its name does not tell."""
    row = _card(name)
    return str(row["kind"]) if row else None


def forward_compatible(name: str | None) -> bool | None:
    """Whether a card of this name may use the compatibility libraries; None where its name does not tell."""
    row = _card(name)
    return row["allowed"] if row else None


@cache
def _packages() -> Mapping[Version, tuple[int, ...]]:
    return {Version.of(row["package"]): tuple(row["branches"]) for row in rows("forward", "packages")}


def compat_branches(cuda: Version) -> tuple[int, ...]:
    """Return the driver branches that NVIDIA makes the package of this CUDA for."""
    return _packages().get(Version((cuda.major, (*cuda.parts, 0)[1]), cuda.text), ())


def compat_package(driver: Version, cuda: Version) -> str | None:
    """Return the package that brings this CUDA to this driver; None where NVIDIA has none for the pair."""
    name = f"cuda-compat-{cuda.major}-{(*cuda.parts, 0)[1]}"
    return name if driver.major in compat_branches(cuda) else None
