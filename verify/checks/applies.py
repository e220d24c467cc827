"""What cannot exist on this kind of host: a rented offer that is itself a container has no Docker in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, not_applicable
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State

_DOCKERS = frozenset({Layer.ENGINE, Layer.TOOLKIT, Layer.RUNTIME, Layer.IMAGE})


def not_here(state: State, layer: Layer) -> Verdict | None:
    """Say that a layer does not apply, or None where it does: an engine that answers is judged anywhere."""
    kind = state.host.container
    if kind is None or state.engine.answers:
        return None
    if layer in _DOCKERS or (layer is Layer.CONTAINER and not state.container.recorded):
        return not_applicable(
            f"not applicable: this machine is itself a {kind} container, without an engine of its own; "
            "run the image as the offer's image",
            state.host.evidence,
        )
    return None
