"""Why the daemon knows nobody who gives cards (case D1): the first of a list that applies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.strangers import STRANGERS
from verify.compat.engine import gpus_by_cdi
from verify.facts.toolkit import HOOK

if TYPE_CHECKING:
    from verify.checks.causes import Cause
    from verify.facts.state import State

_REINSTALL = "apt-get install --reinstall nvidia-container-toolkit && systemctl restart docker"


def no_device_driver(state: State, known: Cause) -> tuple[str, str, tuple[str, ...], tuple[str, ...]]:
    """Return what was found, the next command, what else to cite, and which checks find the same."""
    toolkit, engine = state.toolkit, state.engine
    meaning = f"{known.meaning}: "
    if toolkit.hook is False:
        found = f"{meaning}{HOOK} is not there, though it belongs to the toolkit's packages"
        return found, _REINSTALL, (f"{HOOK}: not there",), known.because
    if toolkit.hook_since and toolkit.daemon_since and toolkit.daemon_since < toolkit.hook_since:
        found = (
            f"{meaning}the toolkit's hook was not there when it started (the daemon started at "
            f"{toolkit.daemon_since}, the hook is there since {toolkit.hook_since})"
        )
        return found, "systemctl restart docker", toolkit.hook_evidence, known.because
    if engine.stranger:
        found = f"{meaning}it is {STRANGERS[engine.stranger][0]}"
        return found, "make site LIMIT=HOST  # role docker_engine says what to do", (), known.because
    because = known.because
    if engine.version and gpus_by_cdi(engine.version):
        # It asks the CDI specification first, and the hook then.
        because = (*because, "toolkit.cdi-spec", "runtime.cdi-enabled")
        if engine.described and not engine.cdi_devices:
            found = f"{meaning}it found no CDI device of NVIDIA's, and no hook when it started"
            remedy = "systemctl restart nvidia-cdi-refresh && nvidia-ctk cdi list && systemctl restart docker"
            return found, remedy, engine.evidence[:1], because
    return (
        f"{meaning}the toolkit's hook was not there when it started, as it seems",
        known.remedy,
        (),
        because,
    )
