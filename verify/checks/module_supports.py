"""Layer module: its flavour and its branch can drive the cards that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, failed, not_applicable, not_recorded, passed
from verify.compat.cards import architecture
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.compat.cards import Architecture
    from verify.facts.state import State

_BETWEEN = (Layer.CARD, Layer.MODULE)
_SITE = "then make site LIMIT=HOST, then reboot"
# What the module says of a card that it does not take, and what to do.
_NOT_OPEN = (
    "the open module cannot drive it, it has no GPU System Processor (GSP)",
    f"install the proprietary module of branch 580: nvidia_driver_flavour: proprietary, {_SITE}",
)
_ONLY_OPEN = (
    "only the open module can drive it",
    f"install the open module: nvidia_driver_flavour: open, {_SITE}",
)


def supports(state: State) -> Verdict:
    """Look at what the module said of the cards first, then at what the table says of card and flavour."""
    if state.host.wsl:
        return not_applicable("not applicable: the Windows driver drives the card", state.host.evidence)
    if state.log.refused_cards:
        return _said(state)
    pci = state.card.pci
    if not pci:
        return not_recorded("the PCI bus")
    is_open = state.module.open if state.module.open is not None else state.build.open
    branch = state.module.version.major if state.module.version else None
    known = [(card, kind) for card in pci if (kind := architecture(card.device))]
    for card, kind in known:
        why = _against(kind, branch, is_open=is_open)
        if why:
            return failed(
                f"{card.address} ({card.id}, {kind.title}): {why[0]}",
                why[1],
                (*state.module.evidence[:1], *state.card.evidence),
                _BETWEEN,
            )
    if is_open is None or not known:
        return not_recorded("the module's flavour, or a card that our table has")
    named = ", ".join(f"{card.address} ({kind.title})" for card, kind in known)
    flavour = "open" if is_open else "proprietary"
    return passed(f"the {flavour} module drives {named}", (*state.module.evidence[:1], *state.card.evidence))


def _against(kind: Architecture, branch: int | None, *, is_open: bool | None) -> tuple[str, str] | None:
    if is_open is True and not kind.open:
        return _NOT_OPEN
    if is_open is False and not kind.proprietary and kind.open:
        return _ONLY_OPEN
    if branch and kind.last_branch and branch > kind.last_branch:
        return _too_new(kind.last_branch)
    return None


def _too_new(last: int | None) -> tuple[str, str]:
    return (
        f"the driver ignores it, {last} is the last branch that knows it",
        f'install the proprietary module of branch {last}: nvidia_driver_version: "{last}", {_SITE}',
    )


def _said(state: State) -> Verdict:
    """Say what the module itself said of the cards that it does not take."""
    refused = state.log.refused_cards
    first = refused[0]
    meaning, remedy = {"not-open": _NOT_OPEN, "only-open": _ONLY_OPEN}.get(
        first.reason, _too_new(first.branch)
    )
    where = ", ".join(f"{one.slot}.0 (10de:{one.device})" for one in refused if one.slot) or "a card"
    cards = max(len(state.card.pci or ()), len(refused))
    return failed(
        f"the module takes {cards - len(refused)} of {cards}, not {where}: {meaning}",
        remedy,
        tuple(one.evidence for one in refused),
        _BETWEEN,
    )
