"""The facts of an offer: what a host's recording says, and what the tries on it came to. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.container_kind import ContainerKind, container_kind
from verify.facts.inside import InsideFacts, inside_facts
from verify.facts.probe import last_object
from verify.facts.source import cite
from verify.facts.state import State, state
from verify.image.host import Host, host
from verify.json_values import as_list, as_object, as_text
from verify.offer.machine import Machine, machine
from verify.offer.manifest import METADATA, REGISTRY, TRIES
from verify.offer.places import Place, places
from verify.offer.registry import RegistryFacts, registry_facts
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.image.manifest import Image
    from verify.recording import CommandEntry


@dataclass(frozen=True, slots=True)
class Tries:
    """What was tried. ``why_not``: why Docker was not; None where it was, or where nothing was tried."""

    recorded: bool
    interrupted: bool
    why_not: str | None
    steps: Recording
    left: tuple[str, ...]

    def step(self, name: str) -> CommandEntry | None:
        """Return a step that really ran; None where it was not tried, or not to its end."""
        entry = self.steps.command(name)
        return entry if entry and entry.ran else None

    def ok(self, name: str) -> bool:
        """Whether a step was tried and ended well."""
        entry = self.step(name)
        return entry is not None and entry.ok


@dataclass(frozen=True, slots=True)
class OfferFacts:
    """Everything that the questions look at."""

    state: State
    container: ContainerKind | None
    """The kind of container that this is; None on a machine, a simulated one too."""
    host: Host
    inside: InsideFacts
    tries: Tries
    places: tuple[Place, ...]
    machine: Machine
    registry: RegistryFacts | None
    compose: CommandEntry | None
    image: Image | None
    """As its registry described it to this machine; None where none was asked for, or none came."""
    metadata: Mapping[str, object] | None
    simulated: bool


def offer_facts(recording: Recording) -> OfferFacts:
    """Read a recording that ``gpu-verify offer`` took; another host's recording answers less."""
    answer, _ = last_object(recording.command(TRIES))
    asked, _ = last_object(recording.command(METADATA))
    registry, image = registry_facts(last_object(recording.command(REGISTRY))[0])
    seen = state(recording, None, None)
    return OfferFacts(
        state=seen,
        container=container_kind(_real(recording)),
        host=host(recording),
        inside=inside_facts(recording),
        tries=_tries(answer, simulated=recording.simulated),
        places=places(answer),
        machine=machine(recording),
        registry=registry,
        compose=recording.command("compose-version"),
        image=image,
        metadata=asked or None,
        simulated=recording.simulated,
    )


def _real(recording: Recording) -> Recording:
    """Return a simulated card's recording as another: the machine around the card is a real one."""
    return Recording.from_document({**recording.document, "simulated": False})


def _tries(answer: Mapping[str, object], *, simulated: bool) -> Tries:
    steps = {name: one for name, one in as_object(answer.get("steps")).items() if isinstance(one, dict)}
    document = {"schema": 1, "where": "host", "simulated": simulated, "commands": steps}
    return Tries(
        recorded=bool(answer),
        interrupted=answer.get("interrupted") is True,
        why_not=as_text(answer.get("docker")),
        steps=Recording.from_document(document),
        left=tuple(str(one) for one in as_list(answer.get("left"))),
    )


def cite_step(entry: CommandEntry, line: str | None = None) -> str:
    """Cite a step of the tries: the line given, else how it ended and the last thing it said."""
    told = entry.stdout if entry.ok and entry.stdout.strip() else entry.said
    said = [text.strip() for text in told.splitlines() if text.strip()]
    words = line if line is not None else entry.ended + (f": {said[-1]}" if said else "")
    return cite(TRIES, f"{entry.name} {words}")
