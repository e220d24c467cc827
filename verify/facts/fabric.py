"""The NVLink fabric: what each card says of it, and the service that sets it up."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.reading import is_sentinel
from verify.facts.smi import xml_cards
from verify.facts.source import cite, cite_command, first_line
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.recording import Recording

UNIT = "fabricmanager-unit"
_PACKAGE = re.compile(r"^(nvidia-fabric-?manager(?:-\d+)?) (\S+) installed", re.MULTILINE)
_COMPLAINT = re.compile(r"don't match with driver version|mismatch|error|fail", re.IGNORECASE)
_NAMED = re.compile(
    r"interface version (?P<own>[\d.]+\d) don't match with driver version (?P<driver>[\d.]+\d)"
)


@dataclass(frozen=True, slots=True)
class FabricState:
    """One card's registration with the fabric; ``state`` and ``status`` in nvidia-smi's words."""

    card: str
    state: str
    status: str | None


@dataclass(frozen=True, slots=True)
class FabricFacts:
    """``states`` is None where nvidia-smi said nothing of a fabric; cards that have none are left out."""

    states: tuple[FabricState, ...] | None
    unit_there: bool | None
    unit_state: str | None
    package: str | None
    version: Version | None
    said: str
    mismatch: tuple[str, str] | None
    evidence: tuple[str, ...]


def fabric_facts(recording: Recording) -> FabricFacts:
    """Read the fabric's state, its service, and its package."""
    smi = recording.command("nvidia-smi-xml")
    states = _states(smi.stdout if smi and not smi.timed_out else "")
    unit, log = recording.command(UNIT), recording.command("fabricmanager-log")
    values = dict(line.split("=", 1) for line in (unit.stdout if unit else "").splitlines() if "=" in line)
    packages = recording.command("driver-packages")
    package = _PACKAGE.search(packages.stdout if packages else "")
    lines = (log.stdout if log else "").splitlines()
    said = next((line.strip() for line in reversed(lines) if _COMPLAINT.search(line)), "")
    named = _NAMED.search(said)
    evidence = [
        cite("nvidia-smi-xml", f"{one.card}: fabric state {one.state}, status {one.status}")
        for one in states or ()
    ]
    if values.get("ActiveState"):
        evidence.append(
            cite(UNIT, f"LoadState={values.get('LoadState')} ActiveState={values['ActiveState']}")
        )
    elif unit:
        evidence.append(cite_command(unit))
    if package:
        evidence.append(cite("driver-packages", package.group(0)))
    if said:
        evidence.append(cite("fabricmanager-log", said))
    load = values.get("LoadState")
    return FabricFacts(
        states=states,
        unit_there=None if load is None else load == "loaded",
        unit_state=values.get("ActiveState"),
        package=package.group(1) if package else None,
        version=Version.parse(package.group(2)) if package else None,
        said=first_line(said),
        mismatch=(named["own"], named["driver"]) if named else None,
        evidence=tuple(evidence),
    )


def _states(text: str) -> tuple[FabricState, ...] | None:
    told = [(bus, values) for bus, values in xml_cards(text) if "fabric/state" in values]
    if not told:
        return None
    return tuple(
        FabricState(bus, values["fabric/state"], values.get("fabric/status"))
        for bus, values in told
        if not is_sentinel(values["fabric/state"])
    )
