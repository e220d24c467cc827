"""What one card can run by any driver: module, drivers, CUDAs, builds of torch, peaks. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.compat.cuda import first_cuda, newest_cuda, packaged_drivers, toolkit_cards
from verify.compat.table import rows
from verify.compat.torch import Build, builds_for

if TYPE_CHECKING:
    from verify.compat.choice import Card
    from verify.compat.table import Row
    from verify.facts.version import Version


@dataclass(frozen=True, slots=True)
class CardAnswer:
    """Everything that the tables say of one card; None is "our tables do not say"."""

    card: Card
    module: str
    first_cuda: Version | None
    """The first CUDA that knows its generation; None also where that is older than the table."""
    first_driver: Version | None
    last_cuda: Version | None
    """The newest whose compiler and libraries still know it."""
    builds: tuple[Build, ...]
    peaks: tuple[Row, ...]

    @property
    def newest_of_table(self) -> bool:
        """Whether no CUDA of the tables has given it up."""
        return self.last_cuda == newest_cuda()


def card_answer(card: Card, machine: str) -> CardAnswer:
    """Hold one card against the tables, whatever its driver."""
    known = card.architecture.served and bool(card.capabilities)
    firsts = [first_cuda(pair) for pair in card.capabilities]
    first = max((cuda for cuda in firsts if cuda), default=None) if known and None not in firsts else None
    return CardAnswer(
        card,
        _module(card),
        first,
        dict(packaged_drivers()).get(first) if first else None,
        _last_cuda(card) if known else None,
        builds_for(None, card.capabilities, machine) if known else (),
        peaks_of(card),
    )


def peaks_of(card: Card) -> tuple[Row, ...]:
    """Return the rows of the table of peaks that a card may be; none where the table does not have it."""
    return tuple(row for row in rows("peaks", "peaks") if set(row["ids"]) & set(card.devices))


def _module(card: Card) -> str:
    kind = card.architecture
    if kind.open and kind.proprietary:
        return "the open kernel module or the proprietary one"
    if kind.open:
        return "the open kernel module alone: the proprietary one does not drive it"
    if kind.proprietary:
        return "the proprietary kernel module alone: the open one does not drive it"
    return "no kernel module of a branch in our table drives it"


def _last_cuda(card: Card) -> Version | None:
    cudas = (*(cuda for cuda, _ in packaged_drivers()), newest_cuda())
    return max((cuda for cuda in cudas if _knows(cuda, card)), default=None)


def _knows(cuda: Version, card: Card) -> bool:
    found = toolkit_cards(cuda)
    return found is not None and all(pair >= found.oldest for pair in card.capabilities)
