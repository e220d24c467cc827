"""Layer framework: torch in the container, from its build to the cards among themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, count, failed, not_recorded, passed
from verify.checks.extensions import extensions, pynvml
from verify.checks.peers import peer_to_peer
from verify.checks.torch_build import cpu_build, cuda_driver, cudnn, torch
from verify.checks.torch_cards import arch_list, every_card
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.framework import FrameworkFacts
    from verify.facts.state import State

_BETWEEN = (Layer.CONTAINER, Layer.FRAMEWORK)


def available(state: State) -> Verdict:
    """Whether torch.cuda.is_available() says True."""
    found = state.container.framework
    stuck = found.errors.get("available") or found.errors.get("device_count")
    if found.version is None or (found.available is None and not stuck):
        return not_recorded("torch.cuda.is_available()")
    if not found.available or not found.device_count:
        return _unavailable(state, found, stuck)
    return passed(
        f"torch.cuda.is_available() is True, {count(found.device_count, 'device')}: {', '.join(found.names)}",
        found.evidence,
    )


def _unavailable(state: State, found: FrameworkFacts, stuck: str | None) -> Verdict:
    cards = len(state.container.driver.cards)
    hidden = f"; CUDA_VISIBLE_DEVICES is set to {found.visible!r}" if found.visible is not None else ""
    reason = f"; torch says: {found.reasons[0]}" if found.reasons else ""
    said = (
        f"torch.cuda.is_available() is {found.available}, {count(found.device_count or 0, 'device')}"
        if found.available is not None
        else f"torch.cuda.is_available() gives no answer: {stuck}"
    )
    return failed(
        f"{said}, while nvidia-smi in the container lists {count(cards, 'card')}{hidden}{reason}",
        "take CUDA_VISIBLE_DEVICES out of the container's environment"
        if hidden
        else "python3 -c 'import torch; torch.cuda.init()' in the container  # it says why",
        found.evidence,
        _BETWEEN,
    )


def kernel(state: State) -> Verdict:
    """Whether one real kernel ran and gave the right result: is_available() alone proves nothing."""
    found = state.container.framework
    stuck = next((text for name, text in found.errors.items() if name.startswith("kernel")), None)
    if found.version is None or (found.kernel_ok is None and not stuck):
        return not_recorded("one real kernel")
    if not found.kernel_ok:
        return failed(
            f"a kernel does not run on the card: {stuck or found.kernel_error or 'no reason given'}",
            "python3 -c 'import torch as t; print(t.cuda.get_arch_list(), t.cuda.get_device_capability())' "
            "in the container; dmesg | grep -i xid  # on the host",
            found.evidence,
            _BETWEEN,
        )
    return passed(f"one real kernel ran on the card, result {found.kernel_result}", found.evidence)


CHECKS = (
    Check("framework.torch", torch, needs=("container.recorded",)),
    Check("framework.cpu-build", cpu_build, needs=("framework.torch",)),
    Check("framework.cuda-driver", cuda_driver, needs=("framework.cpu-build", "driver.answers")),
    Check("framework.arch-list", arch_list, needs=("framework.cpu-build", "container.answers")),
    Check("framework.cudnn", cudnn, needs=("framework.cpu-build",)),
    Check(
        "framework.is-available",
        available,
        needs=(
            "framework.cuda-driver",
            "framework.cpu-build",
            "container.answers",
            "container.cuda",
            "container.visible-devices",
        ),
    ),
    Check("framework.kernel", kernel, needs=("framework.is-available", "framework.arch-list")),
    Check("framework.every-card", every_card, needs=("framework.kernel",)),
    Check("framework.extensions", extensions, needs=("framework.torch",)),
    Check("framework.pynvml", pynvml, needs=("container.recorded",)),
    Check("framework.peer-to-peer", peer_to_peer, needs=("framework.every-card",)),
)
