"""What cannot exist on this kind of host: a rented offer that is itself a container has no Docker in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, not_applicable
from verify.compat.engine import CDI_SINCE
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.state import State
    from verify.facts.version import Version

STAND_IN = "not applicable: the card is a stand-in, there is no CUDA behind it"
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


def no_linux_module(state: State) -> Verdict:
    """Say that WSL's card is driven from Windows."""
    return not_applicable(
        "not applicable: under WSL the Windows driver has no Linux module", state.host.evidence
    )


def no_cdi(engine: Version, evidence: tuple[str, ...] = ()) -> Verdict:
    """Say that an engine is from before CDI."""
    return not_applicable(f"engine older than {CDI_SINCE.major} ({engine}): it does not know CDI", evidence)
