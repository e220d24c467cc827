"""Layer runtime: the toolkit's mode, and which form of asking works: what to write in compose (case D8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.causes import cause
from verify.checks.check import Verdict, failed, not_recorded, passed, warned
from verify.facts.runtime import TOOLKIT_CONFIG
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.container import Run
    from verify.facts.state import State

# From NVIDIA/nvidia-container-toolkit internal/info/auto.go, and "auto".
_MODES = ("auto", "cdi", "jit-cdi", "legacy", "csv")
_SET = "nvidia-ctk config --in-place --set nvidia-container-runtime.mode="
_BETWEEN = (Layer.TOOLKIT, Layer.RUNTIME)
_DEPLOY = "`deploy.resources.reservations.devices` with `capabilities: [gpu]`"
_RUNTIME = "`runtime: nvidia`"


def mode(state: State) -> Verdict:
    """Whether the mode is one that exists and allows the forms that people use, and which of them works."""
    runtime, gpus, named = state.runtime, state.runs.get("run-gpus-all"), state.runs.get("run-runtime")
    if runtime.config_damage:
        return not_recorded(f"the mode: {TOOLKIT_CONFIG} is damaged")
    evidence = (
        *runtime.config_evidence,
        *(line for run in (gpus, named) if run for line in run.evidence[:1]),
    )
    trouble = _trouble(runtime.mode, gpus, named, evidence)
    if trouble is not None:
        return trouble
    if runtime.mode is None and _works(gpus) is None and _works(named) is None:
        return not_recorded(TOOLKIT_CONFIG)
    return _advice(state, gpus, named, evidence)


def _trouble(
    found: str | None, gpus: Run | None, named: Run | None, evidence: tuple[str, ...]
) -> Verdict | None:
    if found is not None and found not in _MODES:
        return failed(
            f'{TOOLKIT_CONFIG}: mode "{found}" does not exist (there are {", ".join(_MODES)}): '
            "every container of the runtime nvidia fails",
            f"{_SET}auto",
            evidence,
        )
    known = cause(gpus.whole) if gpus and not gpus.cards else None
    if known is not None and known.id == "hook-refused":
        how = "works" if _works(named) else "is the form that it allows"
        return failed(
            f"mode {found or 'cdi'} of the toolkit refuses `--gpus`; `--runtime=nvidia` {how}: in compose "
            f"write {_RUNTIME}, not {_DEPLOY}",
            f"{_SET}auto  # then both forms work; or write {_RUNTIME} everywhere",
            evidence,
            _BETWEEN,
        )
    if found == "csv" and _works(named) is False:
        return failed(
            "mode csv is for Jetson boards: here the runtime nvidia gives no card",
            f"{_SET}auto",
            evidence,
            _BETWEEN,
        )
    return None


def _advice(state: State, gpus: Run | None, named: Run | None, evidence: tuple[str, ...]) -> Verdict:
    found = f"mode {state.runtime.mode}" if state.runtime.mode else "the mode was not recorded"
    old = state.runtime.compose is not None and state.runtime.compose.major < 2  # noqa: PLR2004  # v1
    by_gpus, by_runtime = _works(gpus), _works(named)
    if by_gpus and by_runtime is False and state.engine.answers and "nvidia" not in state.engine.runtimes:
        by_runtime = None  # it is not registered: nobody is to use it
    if not (by_gpus or by_runtime) and (state.runtime.mode is None or by_gpus is by_runtime is False):
        return not_recorded("which form works: neither gives a card that we know of, container.run-* say why")
    if old:
        return warned(
            f"{found}; docker compose is {state.runtime.compose}, which refuses {_RUNTIME} in a file of "
            f"version 3.x",
            "install docker-compose-plugin 2 or newer, then: docker compose version",
            evidence,
        )
    if by_gpus and by_runtime is False:
        return _one(f"{found}: only `--gpus` gives cards, `--runtime=nvidia`", _DEPLOY, named, evidence)
    if by_runtime and by_gpus is False:
        return _one(f"{found}: only `--runtime=nvidia` gives cards, `--gpus`", _RUNTIME, gpus, evidence)
    if by_gpus and by_runtime:
        return passed(f"{found}: both forms give cards, in compose {_DEPLOY} and {_RUNTIME}", evidence)
    tried = f"`--gpus` works, in compose {_DEPLOY}" if by_gpus else None
    tried = tried or (f"`--runtime=nvidia` works, in compose {_RUNTIME}" if by_runtime else None)
    return passed(f"{found}: {tried or 'it allows both forms, which were not tried'}", evidence)


def _one(found: str, write: str, broken: Run | None, evidence: tuple[str, ...]) -> Verdict:
    known = cause(broken.whole) if broken else None
    why = known.meaning if known else (broken.said if broken and broken.said else "it gives no card")
    return warned(
        f"{found} does not ({why})",
        f"in compose write {write}; container.run-* says how to mend the other",
        evidence,
    )


def _works(run: Run | None) -> bool | None:
    if run is None or not (run.ran or run.timed_out):
        return None
    return run.gave and not run.refused
