"""Layer card: is there an NVIDIA card at all, whatever drives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, failed, not_applicable, not_recorded, passed
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.checks.state import State


def present(state: State) -> Verdict:
    """Look at the bus first; where there is no bus to see, at the device nodes."""
    card = state.card
    if state.host.wsl:
        return not_applicable("not applicable: WSL shows no PCI bus and no /dev/nvidia*", state.host.evidence)
    if card.pci is None and card.nodes is None:
        return not_recorded("the PCI bus and /dev/nvidia*")
    nodes = len(card.nodes or ())
    if card.pci:
        places = ", ".join(f"{c.address} (10de:{(c.device or '?').removeprefix('0x')})" for c in card.pci)
        return passed(
            f"{len(card.pci)} NVIDIA on the PCI bus: {places}; {count(nodes, 'device node')}", card.evidence
        )
    if nodes:
        return passed(f"{count(nodes, 'device node')}, no PCI bus to look at", card.evidence)
    looked = (
        "the PCI bus shows 0 NVIDIA display controllers"
        if card.pci is not None
        else "there is no PCI bus to see"
    )
    return failed(
        f"no NVIDIA card: {looked} and there are 0 nodes /dev/nvidia*",
        "lspci -nn -d 10de:  # empty? Reseat the card, or rent a machine that has one",
        ("/dev/nvidia*: no match",),
    )


CHECKS = (Check("card.present", Layer.CARD, present),)
