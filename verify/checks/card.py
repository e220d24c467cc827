"""Layer card: is there an NVIDIA card at all, does it still answer, and what did it report to the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import (
    Check,
    Verdict,
    count,
    failed,
    not_applicable,
    not_recorded,
    passed,
    warned,
)
from verify.compat.xid import CATALOG, OFF_THE_BUS, meaning
from verify.facts.kernel_log import slot
from verify.facts.trouble import Trouble

if TYPE_CHECKING:
    from verify.facts.kernel_log import KernelLog, Xid
    from verify.facts.state import State

_POWER = "power off and on"
_HARDWARE = "  # hardware: look at riser, power and heat; installing software again will not help"


def present(state: State) -> Verdict:
    """Look at the bus first; where there is no bus to see, at the device nodes."""
    card = state.card
    if state.host.wsl:
        return not_applicable("not applicable: WSL shows no PCI bus and no /dev/nvidia*", state.host.evidence)
    nodes = len(card.nodes or ())
    if state.host.container and card.nodes == ():
        return failed(
            f"this {state.host.container} container was given no card: there are 0 nodes /dev/nvidia*",
            "rent it with a card, or start the container with one (docker run --gpus all …)",
            (*state.host.evidence, "/dev/nvidia*: no match"),
        )
    if card.pci:
        places = ", ".join(f"{c.address} ({c.id})" for c in card.pci)
        return passed(
            f"{len(card.pci)} NVIDIA on the PCI bus: {places}; {count(nodes, 'device node')}", card.evidence
        )
    if nodes:
        return passed(f"{count(nodes, 'device node')}, no PCI bus to look at", card.evidence)
    return _none(state)


def _none(state: State) -> Verdict:
    card = state.card
    if card.pci is None:
        # Without a driver there are no nodes either: that there are none does not tell.
        return not_recorded("the PCI bus")
    fell = "; the kernel log says that one fell off the bus" if state.log.off_bus else ""
    return failed(
        "no NVIDIA card: the PCI bus shows 0 NVIDIA display controllers"
        + ("" if card.nodes is None else " and there are 0 nodes /dev/nvidia*")
        + fell,
        "lspci -nn -d 10de:  # empty? Reseat the card, or rent a machine that has one",
        ("/sys/bus/pci/devices/*/vendor: no 0x10de with class 03", *(line for _, line in state.log.off_bus)),
    )


def lost(state: State) -> Verdict:
    """Whether a card does not answer on the bus any more: by its revision, the kernel log, or nvidia-smi."""
    log, driver = state.log, state.driver
    gone = [(card.address, card.gone) for card in state.card.pci or () if card.gone]
    fell = [(place, line) for place, line in log.off_bus if place not in {slot(at) for at, _ in gone}]
    evidence = tuple(line for _, line in (*gone, *fell))
    served = {slot(card.bus_id) for card in driver.cards if card.bus_id} if driver.answers else set()
    if driver.answers and len(driver.cards) >= len(state.card.pci or ()):
        served |= {place for place, _ in fell}
    back = [place for place, _ in fell if place in served]
    places = [at for at, _ in gone] + [place for place, _ in fell if place not in served]
    if places:
        left = f"; {count(len(driver.cards), 'card')} still in nvidia-smi's list" if driver.cards else ""
        return failed(
            f"{', '.join(places)} has fallen off the bus: it does not answer any more{left}",
            f"{_POWER}{_HARDWARE}",
            (*evidence, *(driver.evidence if driver.cards else ())),
        )
    if driver.trouble is Trouble.LOST:
        left = f"; {count(len(driver.cards), 'card')} still in its list" if driver.cards else ""
        return failed(
            f'a card has fallen off the bus: nvidia-smi says "{driver.said}"{left}',
            f"dmesg | grep -i xid, then {_POWER}{_HARDWARE}",
            driver.evidence,
        )
    if back:
        return warned(
            f"{', '.join(back)} fell off the bus since the last boot, and answers again",
            f"watch it: dmesg | grep -i 'off the bus'; if it comes back, {_POWER}{_HARDWARE}",
            evidence,
        )
    if state.host.wsl:
        return not_applicable("not applicable: WSL shows no PCI bus", state.host.evidence)
    if not log.whole:
        return not_recorded(_log_lacks(log))
    return passed("no card fell off the bus since the last boot", log.silent)


def xid(state: State) -> Verdict:
    """Whether the driver reported an error of a card: what the number means decides."""
    log = state.log
    if not log.recorded:
        return not_recorded(_log_lacks(log))
    seen = [one for one in log.xids if one.number != OFF_THE_BUS]
    if state.host.container:
        # The log is the whole machine's: only the cards that were given are ours.
        ours = {slot(card.bus_id) for card in state.driver.cards if card.bus_id}
        seen = [one for one in seen if one.slot in ours]
    if not seen and not log.whole:
        return not_recorded(_log_lacks(log))
    if not seen:
        return passed("the kernel log has 0 Xids since the last boot", log.silent)
    worst = next((one for one in seen if _serious(one)), seen[0])
    known = meaning(worst.number)
    title = known.title if known else "not in our table"
    others = sorted({one.number for one in seen} - {worst.number})
    also = f"; also Xid {', '.join(map(str, others))}" if others else ""
    summary = f"card {worst.slot} reported Xid {worst.number} ({title}) since the last boot{also}"
    remedy = known.remedy(f"{worst.slot}.0") if known else f"look it up: {CATALOG}"
    evidence = (worst.evidence, *(one.evidence for one in seen if one is not worst))
    if not _serious(worst):
        return warned(summary, remedy, evidence)
    # What a lost card says on its way out explains nothing.
    return failed(summary, remedy, evidence, because=("card.lost",))


def _log_lacks(log: KernelLog) -> str:
    return "the kernel log" + (": a part of it was cut at the size limit" if log.recorded else "")


def _serious(one: Xid) -> bool:
    known = meaning(one.number)
    return known is not None and known.serious


CHECKS = (
    Check("card.present", present),
    Check("card.lost", lost, needs=("card.present",)),
    Check("card.xid", xid, needs=("card.present",)),
)
