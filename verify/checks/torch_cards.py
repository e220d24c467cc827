"""Layer framework, torch against the cards: whether its code runs on them, and on each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, count, failed, not_recorded, passed, warned
from verify.checks.wheel import capabilities, install
from verify.compat.arch import Code, runs, shown
from verify.facts.visible import visible
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State


def arch_list(state: State) -> Verdict:
    """Whether torch holds code for every card: by NVIDIA's rules, not by list membership."""
    found, inside = state.container.framework, state.container.inside
    cards = capabilities(state)
    if not found.arch_list or not cards:
        return not_recorded("torch's arch list and the capability of the cards")
    how = {name: runs(found.arch_list, pair) for name, pair in cards.items()}
    evidence = (
        f"container torch: arch_list {' '.join(found.arch_list)}",
        *(found.evidence if found.devices else (*inside.evidence, *state.container.driver.evidence[-1:])),
    )
    none = [name for name, one in how.items() if one is None]
    if none:
        words = ", ".join(f"{name} has compute capability {shown(cards[name])}" for name in none)
        return failed(
            f"{words}; torch {found.version} has code for {' '.join(found.arch_list)} only: "
            "no kernel image is available",
            f"{install(state)}  # a build that has code for this card",
            evidence,
            (Layer.CARD, Layer.FRAMEWORK),
        )
    by_ptx = [name for name, one in how.items() if one is Code.PTX]
    if by_ptx and (state.container.inside.env or {}).get("CUDA_DISABLE_PTX_JIT") == "1":
        return failed(
            f"torch has only PTX for {', '.join(by_ptx)}, and CUDA_DISABLE_PTX_JIT forbids to compile it",
            "take CUDA_DISABLE_PTX_JIT out of the container's environment",
            evidence,
            (Layer.CARD, Layer.FRAMEWORK),
        )
    older = found.cuda and inside.cuda and inside.cuda < found.cuda
    if by_ptx and older:
        return warned(
            f"torch has only PTX for {', '.join(by_ptx)}, made by CUDA {found.cuda}; the driver's CUDA "
            f"{inside.cuda} is older and may not be able to compile it",
            f"{install(state)}  # or a driver with CUDA {found.cuda}",
            evidence,
        )
    words = ", ".join(f"{name} ({shown(pair)}, {how[name]})" for name, pair in cards.items())
    return passed(f"torch {found.version} has code for {words}", evidence)


def every_card(state: State) -> Verdict:
    """Whether one real kernel ran on each card, each known by its UUID."""
    found = state.container.framework
    if found.version is None or not found.devices:
        return not_recorded("one real kernel on each card")
    bad = [number for number, device in enumerate(found.devices) if device.kernel_ok is False]
    open_ = [number for number, device in enumerate(found.devices) if device.kernel_ok is None]
    if bad or (open_ and any(name.startswith("kernel") for name in found.errors)):
        number = (bad or open_)[0]
        why = found.devices[number].kernel_error or found.errors.get(f"kernel {number}") or "no answer"
        return failed(
            f"of {count(len(found.devices), 'card')} one runs no kernel, {_called(state, number)}: {why}",
            f"nvidia-smi -q -i {found.devices[number].uuid or number}; dmesg | grep -i xid  # on the host",
            found.evidence,
            (Layer.CARD, Layer.FRAMEWORK),
        )
    if open_:
        return not_recorded("one real kernel on each card")
    wanted = _wanted(state)
    if wanted is not None and len(found.devices) < wanted:
        return failed(
            f"torch sees {count(len(found.devices), 'card')}, nvidia-smi in the container lists {wanted}: "
            f"{', '.join(_missing(state)) or 'which is missing, no UUID says'}",
            "nvidia-smi -q in the container, card by card; dmesg | grep -i xid  # on the host",
            (*found.evidence, *state.container.driver.evidence[:1]),
            (Layer.CARD, Layer.FRAMEWORK),
        )
    return passed(
        f"one real kernel ran on each of {count(len(found.devices), 'card')}{_order(state)}", found.evidence
    )


def _wanted(state: State) -> int | None:
    """Code many cards torch ought to see; None where MIG makes that another question."""
    cards = state.container.driver.cards
    if not cards or any(card.mig == "Enabled" for card in cards):
        return None
    value = (state.container.inside.env or {}).get("CUDA_VISIBLE_DEVICES")
    return len(cards) if value is None else visible(value, [card.uuid for card in cards]).count


def _missing(state: State) -> list[str]:
    there = {device.uuid for device in state.container.framework.devices}
    return [f"{card.name} {card.uuid}" for card in state.container.driver.cards if card.uuid not in there]


def _called(state: State, number: int) -> str:
    """Name torch's card by what nvidia-smi calls it: the two may count in another order."""
    device = state.container.framework.devices[number]
    index = smi_index(state, number)
    same = f", nvidia-smi's {index}" if index is not None else ""
    return f"torch's card {number}{same} ({device.name or '?'}, {device.uuid or 'UUID unknown'})"


def smi_index(state: State, number: int) -> int | None:
    """Return what nvidia-smi counts as, by UUID, the card that torch counts as this."""
    devices = state.container.framework.devices
    uuid = devices[number].uuid if number < len(devices) else None
    return next((card.index for card in state.container.driver.cards if uuid and card.uuid == uuid), None)


def _order(state: State) -> str:
    """Say where torch's numbers are not nvidia-smi's: CUDA counts the fastest card first."""
    numbers = range(len(state.container.framework.devices))
    pairs = [(number, smi_index(state, number)) for number in numbers]
    other = [f"torch's {ours} is nvidia-smi's {smi}" for ours, smi in pairs if smi not in (None, ours)]
    return f"; {', '.join(other)} (CUDA_DEVICE_ORDER=PCI_BUS_ID makes them agree)" if other else ""
