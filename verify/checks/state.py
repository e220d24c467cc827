"""Everything that the checks may look at: the facts of one host, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.facts.card import CardFacts, card_facts
from verify.facts.container import ImageFacts, Run, image_facts, runs
from verify.facts.driver import DriverFacts, driver_facts
from verify.facts.engine import EngineFacts, engine_facts
from verify.facts.framework import FrameworkFacts, framework_facts
from verify.facts.host import HostFacts, host_facts
from verify.facts.module import ModuleFacts, module_facts
from verify.facts.race import Lane, lanes
from verify.facts.runtime import RuntimeFacts, runtime_facts
from verify.facts.toolkit import ToolkitFacts, toolkit_facts
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

_NOBODY = {"schema": 1}


@dataclass(frozen=True, slots=True)
class ContainerFacts:
    """What was seen from inside a container that asked for every card."""

    recorded: bool
    driver: DriverFacts
    framework: FrameworkFacts


@dataclass(frozen=True, slots=True)
class State:
    """The facts of one host. An absent recording gives facts that say "not recorded" everywhere."""

    recorded: bool
    host: HostFacts
    card: CardFacts
    module: ModuleFacts
    driver: DriverFacts
    engine: EngineFacts
    toolkit: ToolkitFacts
    runtime: RuntimeFacts
    runs: Mapping[str, Run]
    image: ImageFacts
    container: ContainerFacts
    race: tuple[Lane, ...] | None
    container_due: bool = True


def state(
    host: Recording | None,
    container: Recording | None,
    race: Mapping[str, Any] | None,
    *,
    container_due: bool = True,
) -> State:
    """Read all facts."""
    seen, inside = host or _empty("host"), container or _empty("container")
    return State(
        recorded=host is not None,
        host=host_facts(seen),
        card=card_facts(seen),
        module=module_facts(seen),
        driver=driver_facts(seen),
        engine=engine_facts(seen),
        toolkit=toolkit_facts(seen),
        runtime=runtime_facts(seen),
        runs=runs(seen),
        image=image_facts(seen),
        container=ContainerFacts(container is not None, driver_facts(inside), framework_facts(inside)),
        race=lanes(race) if race is not None else None,
        container_due=container_due,
    )


def _empty(where: Literal["host", "container"]) -> Recording:
    return Recording.from_document({**_NOBODY, "where": where})
