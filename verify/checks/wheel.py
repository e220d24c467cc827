"""The command that installs the torch that this driver and these cards run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.compat.cuda import minimum_driver
from verify.compat.torch import INDEX, builds_for
from verify.facts.probe import capability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.facts.state import State

_LONGEST_KEPT = "cu126"


def capabilities(state: State) -> Mapping[str, tuple[int, int]]:
    """Return the compute capability of every kind of card: by torch, else by CUDA, else by nvidia-smi."""
    container = state.container
    for devices in (container.framework.devices, container.inside.devices):
        found = {device.name or "?": device.capability for device in devices if device.capability}
        if found:
            return found
    cards = container.driver.cards or state.driver.cards
    known = ((card.name or "?", capability(card.compute_capability)) for card in cards)
    return {name: pair for name, pair in known if pair}


def install(state: State) -> str:
    """Write ``pip install torch`` with the index for this driver and these cards."""
    torch = state.container.framework
    driver = state.container.driver.version or state.driver.version
    cuda = torch.found_cuda or state.container.inside.cuda
    if driver is None and cuda:
        driver = minimum_driver(cuda)  # it is at least that old one
    machine = torch.machine or "x86_64"
    cards = set(capabilities(state).values())
    fitting = builds_for(driver, cards, machine) or builds_for(driver, (), machine)
    return f"pip install torch --index-url {INDEX}{fitting[0].index if fitting else _LONGEST_KEPT}"
