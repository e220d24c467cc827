"""Everything that the checks may look at: the facts of one host, read once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.facts.apt_history import DriverUpgrade, driver_upgrade
from verify.facts.brand import brands
from verify.facts.build import BuildFacts, build_facts
from verify.facts.card import CardFacts, card_facts
from verify.facts.container import ImageFacts, Run, image_facts, runs
from verify.facts.daemon_file import DaemonFileFacts, daemon_file_facts
from verify.facts.disk import Store, stores
from verify.facts.driver import DriverFacts, driver_facts
from verify.facts.engine import EngineFacts, engine_facts
from verify.facts.extensions import PackageFacts, package_facts
from verify.facts.fabric import FabricFacts, fabric_facts
from verify.facts.framework import FrameworkFacts, framework_facts
from verify.facts.host import HostFacts, host_facts
from verify.facts.image_python import ImagePython, image_python
from verify.facts.inside import InsideFacts, inside_facts
from verify.facts.kernel_log import KernelLog, kernel_log
from verify.facts.module import ModuleFacts, module_facts
from verify.facts.package_manager import ManagerFacts, manager_facts
from verify.facts.peers import PeerFacts, peer_facts
from verify.facts.race import Lane, lanes
from verify.facts.runtime import RuntimeFacts, runtime_facts
from verify.facts.signing import SigningFacts, signing_facts
from verify.facts.sources import SourcesFacts, sources_facts
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
    inside: InsideFacts
    packages: PackageFacts
    peers: PeerFacts
    simulated: bool
    python: ImagePython
    host_libcuda: bool | None
    """Whether the host has libcuda; None where nobody looked."""


@dataclass(frozen=True, slots=True)
class State:
    """The facts of one host. An absent recording gives facts that say "not recorded" everywhere."""

    recorded: bool
    host: HostFacts
    manager: ManagerFacts
    sources: SourcesFacts
    log: KernelLog
    card: CardFacts
    module: ModuleFacts
    build: BuildFacts
    signing: SigningFacts
    upgrade: DriverUpgrade | None
    fabric: FabricFacts
    driver: DriverFacts
    brands: tuple[str, ...]
    """The cards' brands, as an image's demand may name them; one a card where they are known."""
    engine: EngineFacts
    daemon_file: DaemonFileFacts
    stores: tuple[Store, ...]
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
        manager=manager_facts(seen),
        sources=sources_facts(seen),
        log=kernel_log(seen),
        card=card_facts(seen),
        module=module_facts(seen),
        build=build_facts(seen),
        signing=signing_facts(seen),
        upgrade=driver_upgrade(seen),
        fabric=fabric_facts(seen),
        driver=driver_facts(seen),
        brands=brands(seen),
        engine=engine_facts(seen),
        daemon_file=daemon_file_facts(seen),
        stores=stores(seen, engine_facts(seen)),
        toolkit=toolkit_facts(seen),
        runtime=runtime_facts(seen),
        runs=runs(seen),
        image=image_facts(seen),
        container=_container(seen, inside, recorded=container is not None),
        race=lanes(race) if race is not None else None,
        container_due=container_due,
    )


def _container(host: Recording, inside: Recording, *, recorded: bool) -> ContainerFacts:
    looked = any("libcuda" in pattern for pattern in host.globs)
    return ContainerFacts(
        recorded=recorded,
        driver=driver_facts(inside),
        framework=framework_facts(inside),
        inside=inside_facts(inside),
        packages=package_facts(inside),
        peers=peer_facts(inside),
        simulated=inside.simulated or host.simulated,
        python=image_python(host),
        host_libcuda=bool(inside_facts(host).files) if looked else None,
    )


def _empty(where: Literal["host", "container"]) -> Recording:
    return Recording.from_document({**_NOBODY, "where": where})
