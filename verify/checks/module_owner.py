"""Layer module: nobody else's driver holds the card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.findings import Layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.facts.card import PciCard
    from verify.facts.state import State

_OURS = "nvidia"
# Drivers that keep a card for a virtual machine.
KEEPERS = frozenset({"vfio-pci", "pci-stub", "pciback", "xen-pciback"})
_BETWEEN = (Layer.CARD, Layer.MODULE)
_BLACKLIST = (
    "printf 'blacklist {driver}\\noptions {driver} modeset=0\\n' > /etc/modprobe.d/no-{driver}.conf && "
    "update-initramfs -u && reboot  # RHEL: dracut --force"
)


def owner(state: State) -> Verdict:
    """Which driver the kernel has bound to each card."""
    if state.host.wsl:
        return not_applicable("not applicable: WSL shows no PCI bus", state.host.evidence)
    pci = state.card.pci or ()
    kept = [one for one in pci if one.driver in KEEPERS]
    taken = [one for one in pci if one.driver and one.driver != _OURS and one.driver not in KEEPERS]
    if taken:
        driver = next((one.driver for one in taken if one.driver == "nouveau"), taken[0].driver) or ""
        return _foreign(state, f"{_named(taken)}, so nvidia cannot have it", driver, _lines(taken))
    if kept:
        return _kept(kept, len(pci))
    bound = [one for one in pci if one.driver]
    if not bound and not state.module.loaded and (state.module.nouveau or state.log.taken):
        summary = (
            "nouveau is loaded, the nvidia module is not"
            if state.module.nouveau
            else ("another driver took the card before the nvidia module came")
        )
        return _foreign(state, summary, "nouveau", state.module.evidence if state.module.nouveau else ())
    if not (pci and state.card.drivers_looked):
        return not_recorded("which driver holds the card")
    summary = f"{len(bound)} of {count(len(pci), 'card')} held by nvidia, 0 by another driver"
    return passed(summary, _lines(bound) or state.card.evidence)


def _foreign(state: State, summary: str, driver: str, evidence: tuple[str, ...]) -> Verdict:
    said = (state.log.taken,) if state.log.taken else ()
    return failed(summary, _BLACKLIST.format(driver=driver), (*evidence, *said), _BETWEEN)


def _kept(kept: Sequence[PciCard], cards: int) -> Verdict:
    give_back = f"take {kept[0].id} out of {kept[0].driver}'s options in /etc/modprobe.d, update-initramfs -u"
    if len(kept) == cards:
        return failed(
            f"{_named(kept)}: kept for a virtual machine, none is left for this host",
            f"{give_back}, then reboot; or look inside the virtual machine",
            _lines(kept),
            _BETWEEN,
        )
    return warned(
        f"{_named(kept)}: kept for a virtual machine; {count(cards - len(kept), 'card')} left",
        f"nothing, if that is meant; else {give_back}, then reboot",
        _lines(kept),
    )


def _named(cards: Sequence[PciCard]) -> str:
    return ", ".join(f"{one.driver} holds the card {one.address}" for one in cards)


def _lines(cards: Sequence[PciCard]) -> tuple[str, ...]:
    return tuple(f"/sys/bus/pci/devices/{one.address}/driver: {one.driver}" for one in cards)
