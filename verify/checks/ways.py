"""Layer container, the ways of asking: each gives the card, one asked for is one seen, none is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.applies import no_cdi
from verify.checks.causes import cause
from verify.checks.check import Verdict, count, failed, not_applicable, not_recorded, passed, warned
from verify.checks.device_driver import no_device_driver
from verify.checks.runtime import cdi_alone
from verify.compat.engine import has_cdi
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.card import Card
    from verify.facts.container import Run
    from verify.facts.state import State

# The form of asking, as a person would type it.
FORMS = {
    "run-gpus-all": "--gpus all",
    "run-gpus-first": "--gpus '\"device=0\"'",
    "run-runtime": "--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all",
    "run-runtime-first": "--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=0",
    "run-cdi": "--device nvidia.com/gpu=all",
    "run-cdi-first": "--device nvidia.com/gpu=0",
}
_NO_DEFAULT = (
    'take "default-runtime" out of /etc/docker/daemon.json and restart Docker, unless you rely on it'
)
EVERY_CONTAINER = "every container gets every card, also those that did not ask"


def gives_all(name: str, state: State) -> Verdict:
    """Whether a container that asks for all cards sees those of the host."""
    run, refused = _run(name, state)
    if run is None or not run.gave:
        return refused
    host = _uuids(state.driver.cards)
    if not host:
        return not_recorded("the UUIDs of the host's cards")
    seen = _uuids(run.cards)
    if sorted(seen) != sorted(host):
        return failed(
            f"`docker run {FORMS[name]}` sees {count(len(seen), 'card')}, the host has {len(host)}: "
            f"{', '.join(seen)} against {', '.join(host)}",
            f"docker run --rm {FORMS[name]} {_image(state)} nvidia-smi -L  # and the same on the host",
            (*run.evidence, *state.driver.evidence[:1]),
            (Layer.RUNTIME, Layer.CONTAINER),
        )
    return passed(
        f"`docker run {FORMS[name]}` sees the host's {count(len(seen), 'card')}, by UUID",
        run.evidence,
    )


def gives_first(name: str, state: State) -> Verdict:
    """Whether a container that asks for the first card sees it and no other."""
    run, refused = _run(name, state)
    if run is None or not run.gave:
        return refused
    host = [card.uuid for card in state.driver.cards if card.index == 0 and card.uuid]
    if not host:
        return not_recorded("the UUID of the host's first card")
    seen = _uuids(run.cards)
    if len(seen) != 1 or seen != host:
        found = f"sees {count(len(seen), 'card')}" if len(seen) != 1 else "sees another card"
        return failed(
            f"`docker run {FORMS[name]}` asked for 1 card and {found}: {', '.join(seen)}; "
            f"the host's first is {host[0]}",
            f"docker run --rm {FORMS[name]} {_image(state)} nvidia-smi -L  # and: docker info",
            (*run.evidence, *state.driver.evidence[:1]),
            (Layer.RUNTIME, Layer.CONTAINER),
        )
    return passed(f"`docker run {FORMS[name]}` sees 1 card, the host's first: {seen[0]}", run.evidence)


def gives_none(state: State) -> Verdict:
    """Whether a container that does not ask sees nothing."""
    run = state.runs.get("run-none")
    if run is None or not run.ran:
        return _unjudged(state, run, "run-none")
    default = state.engine.default_runtime
    evidence = (*run.evidence, *((f"docker-info: DefaultRuntime: {default}",) if default else ()))
    if run.cards and state.engine.nvidia_is_default:
        return warned(
            f"a container that did not ask sees {count(len(run.cards), 'card')}: runtime "
            f"{state.engine.default_runtime} is the default, so {EVERY_CONTAINER}",
            _NO_DEFAULT,
            evidence,
        )
    if run.cards:
        return failed(
            f"a container that did not ask sees {count(len(run.cards), 'card')}, and the default runtime is "
            f"{state.engine.default_runtime or 'unknown'}",
            "docker info --format '{{json .Runtimes}}'  # which runtime adds cards to every container?",
            evidence,
            (Layer.RUNTIME, Layer.CONTAINER),
        )
    if not run.no_program and run.refused:
        return _broken(state, run, "a container that does not ask for a card")
    if state.engine.nvidia_is_default:
        return warned(
            f"runtime {state.engine.default_runtime} is the default: {EVERY_CONTAINER} "
            "whose image sets NVIDIA_VISIBLE_DEVICES; this image's did not",
            _NO_DEFAULT,
            evidence,
        )
    return passed("a container that does not ask for a card sees 0", evidence)


def _run(name: str, state: State) -> tuple[Run | None, Verdict]:
    """Return the container, or None; the verdict holds where it saw no card."""
    engine, run = state.engine, state.runs.get(name)
    if "cdi" in name and engine.version and not has_cdi(engine.version):
        return None, no_cdi(engine.version)
    if "runtime" in name and cdi_alone(state):
        return None, not_applicable(
            "not applicable: this engine gives cards by CDI, no runtime nvidia is registered"
        )
    if run is None or not (run.ran or run.timed_out):
        return None, not_recorded(name + (f" ({run.said})" if run and run.said else ""))
    return run, _broken(state, run, f"`docker run {FORMS[name]}`")


def _broken(state: State, run: Run, what: str) -> Verdict:
    """Say why a container saw no card, or saw one and failed, by the text of the daemon."""
    fault = f"lists {count(len(run.cards), 'card')} and fails" if run.cards else "gives no card"
    if run.timed_out:
        return failed(f"{what} did not end in time", "journalctl -u docker -n 50; dmesg | tail", run.evidence)
    known = cause(run.whole)
    if known:
        seen: tuple[str, ...] = ()
        meaning, remedy, because = known.meaning, known.remedy, known.because
        if known.id == "no-device-driver":
            meaning, remedy, seen, because = no_device_driver(state, known)
        return failed(
            f"{what} {fault}: {meaning}",
            remedy,
            (*run.evidence, *seen),
            (Layer.RUNTIME, Layer.CONTAINER),
            because,
        )
    if run.no_program:
        return failed(
            f"{what} gives no card: nothing of the driver is in the container (0 cards, no nvidia-smi)",
            "docker info --format '{{json .Runtimes}}'; nvidia-ctk --version; systemctl restart docker",
            run.evidence,
            (Layer.RUNTIME, Layer.CONTAINER),
        )
    said = ": ".join(filter(None, (run.ended, run.said))) or "0 cards"
    return failed(f"{what} {fault} ({said})", "journalctl -u docker -n 20", run.evidence)


def _unjudged(state: State, run: Run | None, name: str) -> Verdict:
    if run is not None and run.timed_out:
        return _broken(state, run, "a container that does not ask for a card")
    return not_recorded(name + (f" ({run.said})" if run and run.said else ""))


def _uuids(cards: tuple[Card, ...]) -> list[str]:
    return [card.uuid for card in cards if card.uuid]


def _image(state: State) -> str:
    return state.image.name or "IMAGE"
