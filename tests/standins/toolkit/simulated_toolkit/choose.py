"""Which cards a container asked for. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VARIABLE = "NVIDIA_VISIBLE_DEVICES"


@dataclass(frozen=True, slots=True)
class Card:
    """One card as NVML numbers it; its device node carries the minor number."""

    index: int
    uuid: str
    minor: int

    @property
    def node(self) -> str:
        """Return the card's device node."""
        return f"/dev/nvidia{self.minor}"

    def answers_to(self, word: str) -> bool:
        """Whether a word of NVIDIA_VISIBLE_DEVICES names this card."""
        return word in {str(self.index), self.uuid}


class UnknownDeviceError(Exception):
    """A word that names no card; its text is the word."""


def variable(env: Iterable[str], name: str = VARIABLE) -> str | None:
    """Return a variable of an OCI process: the last one counts, because dockerd appends to the image's."""
    found = None
    for entry in env:
        key, _, value = entry.partition("=")
        if key == name:
            found = value
    return found


def words(value: str | None) -> tuple[str, ...] | None:
    """Split NVIDIA_VISIBLE_DEVICES into words; None where no card and no library is asked for."""
    if value is None or value in {"", "void"}:
        return None
    if value == "none":
        return ()
    return tuple(word.strip().removeprefix("nvidia.com/gpu=") for word in value.split(",") if word.strip())


def chosen(wanted: Sequence[str], cards: Sequence[Card]) -> tuple[Card, ...]:
    """Return the cards that the words name, in NVML's order, each once."""
    if "all" in wanted:
        return tuple(cards)
    for word in wanted:
        if not any(card.answers_to(word) for card in cards):
            raise UnknownDeviceError(word)
    return tuple(card for card in cards if any(card.answers_to(word) for word in wanted))
