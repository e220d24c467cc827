"""Layer image: what the image itself demands of driver and card (case D2), before any run is blamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import Verdict, failed, not_applicable, not_recorded, passed, warned
from verify.compat.cuda import minimum_driver, packaged_drivers
from verify.compat.engine import gpus_come_by_cdi
from verify.compat.requirement import DISABLE, PREFIX, Machine, of_environment
from verify.facts.source import cite
from verify.facts.version import Version
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.compat.requirement import Requirement
    from verify.facts.state import State

_BETWEEN = (Layer.DRIVER, Layer.IMAGE)
_SOURCE = "image-inspect"
_LONGEST = 80


def requirement(state: State) -> Verdict:
    """Whether driver and cards meet the demand, and if not, whether anything refuses or stops the image."""
    env = state.image.env
    if not state.image.present or env is None:
        return not_recorded("the environment of the image (docker image inspect)")
    demands = of_environment(env)
    evidence = tuple(cite(_SOURCE, f"{name}={env[name]}") for name in sorted(env) if name.startswith(PREFIX))
    if not demands:
        why = f"it sets {DISABLE}" if evidence else f"no {PREFIX}* in it"
        return not_applicable(
            f"the image demands nothing of the driver: {why}", (*evidence, cite(_SOURCE, why))
        )
    machines = _machines(state)
    unmet = [one for one in demands if any(one.met(machine) is False for machine in machines)]
    evidence = (*evidence, *state.driver.evidence[-1:])
    if unmet:
        return _unmet(state, unmet[0], evidence)
    refused = _refused(state)
    if refused:
        return failed(
            f"the image's demand was refused: {refused}",
            "use an image for an older CUDA, or install a newer driver",
            evidence,
            _BETWEEN,
        )
    if not machines or any(one.met(machine) is None for one in demands for machine in machines):
        return not_recorded(
            "all that the image's demand asks for: CUDA of the driver, driver, brand, capability"
        )
    return passed(f"driver {state.driver.version} meets the image's demand: {_short(demands[0])}", evidence)


def _machines(state: State) -> list[Machine]:
    driver = state.driver
    if not driver.answers:
        return []
    known = len(state.brands) == len(driver.cards)
    brands = state.brands if known else (None,) * len(driver.cards)
    return [
        Machine(driver.cuda, driver.version, Version.parse(card.compute_capability), brand)
        for card, brand in zip(driver.cards, brands, strict=True)
    ]


def _unmet(state: State, demand: Requirement, evidence: tuple[str, ...]) -> Verdict:
    driver, cuda = state.driver, demand.cuda
    offers = (
        f"driver {driver.version or 'of unknown version'} offers CUDA {driver.cuda or 'of unknown version'}"
    )
    needs = f"needs CUDA {cuda}" if cuda else f"demands {_short(demand)}"
    summary = f"the image {needs}, {offers}"
    remedy = _remedy(driver.cuda, cuda)
    minimum = minimum_driver(cuda) if cuda else None
    runs = minimum is not None and driver.version is not None and driver.version >= minimum
    if _refused(state):
        return failed(f"{summary}, and the toolkit refuses it", remedy, evidence, _BETWEEN)
    if not runs:
        also = f", and CUDA {cuda} starts on driver {minimum} or newer only" if minimum else ""
        return failed(f"{summary}{also}", remedy, evidence, _BETWEEN)
    if _checked(state):
        return failed(f"{summary}: --gpus will be refused", remedy, evidence, _BETWEEN)
    return warned(
        f"{summary}; nothing refuses it here, and it starts by minor-version compatibility (from driver "
        f"{minimum} on); what it has as PTX only will fail",
        remedy,
        evidence,
    )


def _remedy(own: Version | None, cuda: Version | None) -> str:
    older = f"use an image for CUDA {own} or older" if own else "use an image for an older CUDA"
    packaged = [driver for known, driver in packaged_drivers() if cuda and known >= cuda]
    newer = f"driver {min(packaged)} or newer" if packaged else "a newer driver"
    return f"{older}; or install {newer}  # {DISABLE}=1 only switches the check off"


def _refused(state: State) -> str | None:
    said = (run.whole for run in state.runs.values() if "unsatisfied condition" in run.whole)
    return next((text[text.index("unsatisfied condition") :].splitlines()[0] for text in said), None)


def _checked(state: State) -> bool:
    """Whether the toolkit's hook looks at the demand when a card is asked for; by CDI nobody does."""
    engine, gave = state.engine, state.runs.get("run-gpus-all")
    if state.runtime.disable_require or (gave is not None and gave.gave):
        return False
    return not gpus_come_by_cdi(engine.version, engine.cdi_devices)


def _short(demand: Requirement) -> str:
    text = demand.text
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
