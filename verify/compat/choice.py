"""The card that somebody means: by its PCI id, or by a part of its name that means one kind of card only."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verify.compat.arch import shown
from verify.compat.cards import Architecture, architecture, device_id, name_of, names
from verify.compat.forward import forward_compatible, kind_of_card
from verify.errors import VerifyError

if TYPE_CHECKING:
    from verify.compat.arch import Capability

_MOST = 6  # candidates that a refusal lists
_PREFIX = re.compile(r"^nvidia\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Card:
    """A card as far as its id or name tells: several capabilities where that does not decide."""

    asked: str
    name: str | None
    architecture: Architecture
    capabilities: tuple[Capability, ...]
    kind: str | None
    forward: bool | None
    devices: tuple[str, ...]
    """The ids that are meant, in four hexadecimal digits: several where a name is that of several cards."""
    alike: int = 1

    @property
    def called(self) -> str:
        """Return its name, or what was asked for where that is the name of several."""
        return self.name or self.asked

    @property
    def shown(self) -> str:
        """Name it, with its architecture and capability."""
        numbers = " or ".join(shown(pair) for pair in self.capabilities)
        undecided = ", the id does not decide" if len(self.capabilities) > 1 else ""
        capability = f"compute capability {numbers}{undecided}" if numbers else "compute capability unknown"
        alike = f"{self.alike} cards are called so, " if self.alike > 1 else ""
        return f"{self.called} ({alike}{self.architecture.title}, {capability})"


def card_of(asked: str) -> Card:
    """Find the card that is meant; a sentence where there is none, or more than one kind."""
    text = _PREFIX.sub("", asked.strip())
    matches = _named(text)
    number = device_id(text)
    # 2684 is an id, and 3090 a part of names: what a card is called goes before what it might be numbered.
    if number is not None and (not matches or ":" in text or text.lower().startswith("0x")):
        return _by_id(asked, f"{number:04x}")
    if number is not None and f"{number:04x}" in names():
        raise VerifyError(
            f"--card {asked} is a PCI id ({name_of(text)}) and a part of names ({_list(matches)}): write "
            f"10de:{number:04x}, or more of the name"
        )
    if not matches:
        raise VerifyError(
            f"--card {asked} is no PCI id and in no name of our table: give the id that `lspci -nn` shows "
            "for the card, as in 10de:2684"
        )
    found = [_by_id(asked, device) for device in matches]
    if len({(card.architecture.name, card.capabilities, card.kind) for card in found}) > 1:
        raise VerifyError(
            f"--card {asked} means several kinds of card: {_list(matches)}. Write more of the name, or the id"
        )
    called = set(matches.values())
    # Of several cards that are one to the tables none is put forward.
    return replace(
        found[0],
        name=called.pop() if len(called) == 1 else None,
        devices=tuple(matches),
        alike=len(set(matches.values())),
    )


def _named(text: str) -> dict[str, str]:
    """Return the cards that are called so, whole words before parts of words."""
    if not text:
        return {}
    exact = {i: n for i, n in names().items() if n.lower() in (text.lower(), f"geforce {text}".lower())}
    words = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    return (
        exact
        or {device: name for device, name in names().items() if words.search(name)}
        or {device: name for device, name in names().items() if text.lower() in name.lower()}
    )


def _by_id(asked: str, device: str) -> Card:
    kind = architecture(device)
    name = name_of(device)
    if kind is None:
        raise VerifyError(
            f"--card {asked}: 10de:{device} is in no range of our table, what it runs is not known; on its "
            "machine `nvidia-smi --query-gpu=name,compute_cap --format=csv` says the compute capability"
        )
    return Card(asked, name, kind, kind.capabilities, kind_of_card(name), forward_compatible(name), (device,))


def _list(matches: dict[str, str]) -> str:
    shown_names = [f"{name} (10de:{device})" for device, name in sorted(matches.items())]
    more = f" and {len(shown_names) - _MOST} more" if len(shown_names) > _MOST else ""
    return ", ".join(shown_names[:_MOST]) + more
