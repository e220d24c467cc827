"""What a card is, by its PCI id: architecture, compute capability."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from verify.compat.table import rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from verify.compat.arch import Capability
    from verify.compat.table import Row

_DEVICE = re.compile(r"^(?:(?:0x)?10de:)?(?:0x)?([0-9a-f]{4})$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Architecture:
    """One of NVIDIA's architectures; of a card's, the capabilities are those that its id leaves open."""

    name: str
    title: str
    open: bool
    proprietary: bool
    served: bool
    last_branch: int | None
    capabilities: tuple[Capability, ...]


def device_id(text: str | None) -> int | None:
    """Read ``0x2684``, ``2684``, ``10de:2684`` or lspci's ``[10de:2684]``; None for no PCI id of NVIDIA's."""
    found = _DEVICE.match((text or "").strip().removeprefix("[").removesuffix("]"))
    return int(found.group(1), 16) if found else None


def capabilities(texts: Iterable[str]) -> tuple[Capability, ...]:
    """Read ``8.6`` as (8, 6)."""
    pairs = (text.split(".") for text in texts)
    return tuple((int(major), int(minor)) for major, minor in pairs)


@cache
def architectures() -> Mapping[str, Architecture]:
    """Return every architecture by its name, oldest first."""
    known = {row["architecture"]: capabilities(row["capabilities"]) for row in rows("cards", "capabilities")}
    return {
        row["name"]: Architecture(
            row["name"],
            row["title"],
            row["open"],
            row["proprietary"],
            row["served"],
            row["last_branch"],
            known.get(row["name"], ()),
        )
        for row in rows("cards", "architectures")
    }


@cache
def jetsons() -> frozenset[Capability]:
    """Return the capabilities that Jetson boards alone have."""
    return frozenset(capabilities(row["jetson"] for row in rows("cards", "capabilities") if "jetson" in row))


@cache
def _ranges() -> tuple[tuple[int, int, Row], ...]:
    return tuple((int(row["first"], 16), int(row["last"], 16), row) for row in rows("cards", "devices"))


def architecture(device: str | None) -> Architecture | None:
    """Return a card's architecture; None where no range of the table holds its id.

    Several capabilities mean that the id does not decide between them; none that the table does not say.
    """
    number = device_id(device)
    row = next((row for first, last, row in _ranges() if number and first <= number <= last), None)
    if row is None:
        return None
    return replace(architectures()[row["architecture"]], capabilities=capabilities(row["capabilities"]))


@cache
def names() -> Mapping[str, str]:
    """Return what cards are called, by their id in four hexadecimal digits."""
    return {device: name for row in rows("card_names", "names") for device, name in row["cards"].items()}


def name_of(device: str | None) -> str | None:
    """Return what a card with this id is called; None where the table does not say."""
    number = device_id(device)
    return None if number is None else names().get(f"{number:04x}")
