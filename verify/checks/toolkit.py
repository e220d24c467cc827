"""Layer toolkit: four packages of one safe version, and their description of the cards."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from verify.checks.check import Check, Verdict, failed, not_applicable, not_recorded, passed, warned
from verify.compat.engine import has_cdi
from verify.compat.toolkit import SAFE_FLOOR, SAFE_FLOOR_SOURCE, cves, field_bug
from verify.facts.toolkit import CDI_KIND, PACKAGES
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.checks.state import State
    from verify.facts.toolkit import CdiSpec, ToolkitFacts

_ROLE = "make site LIMIT=HOST  # role nvidia_container_toolkit"


def _install(version: str) -> str:
    return "apt-get install --allow-downgrades " + " ".join(f"{name}={version}" for name in PACKAGES)


def installed(state: State) -> Verdict:
    """Whether all four packages are there."""
    toolkit = state.toolkit
    if toolkit.packages is None:
        return not_recorded("the versions of the toolkit's four packages")
    missing = [name for name in PACKAGES if name not in toolkit.packages]
    if missing:
        return failed(
            f"{len(missing)} of the toolkit's 4 packages are not installed: {', '.join(missing)}",
            f"{_ROLE} installs all 4",
            toolkit.evidence,
        )
    return passed("all 4 packages of the NVIDIA Container Toolkit are installed", toolkit.evidence)


def one_version(state: State) -> Verdict:
    """Whether they are of one version: from 1.18 on they must match exactly."""
    toolkit = state.toolkit
    if not toolkit.packages:
        return not_recorded("the versions of the toolkit's four packages")
    versions = sorted(set(toolkit.packages.values()))
    if len(versions) > 1:
        listed = ", ".join(f"{name} {version}" for name, version in toolkit.packages.items())
        newest = max(toolkit.versions.values(), default=None)
        goal = next((v for v in versions if newest and v.startswith(str(newest))), versions[-1])
        return failed(
            f"the toolkit's packages are of {len(versions)} versions: {listed}",
            _install(goal),
            toolkit.evidence,
        )
    if len(toolkit.packages) < len(PACKAGES):
        return not_recorded(f"{len(toolkit.packages)} of 4 packages are installed, nothing to compare")
    return passed(f"all 4 packages are {versions[0]}", toolkit.evidence)


def safe_version(state: State) -> Verdict:
    """Whether the oldest of them is free of known holes."""
    versions = state.toolkit.versions
    if not versions:
        return not_recorded("the versions of the toolkit's four packages")
    oldest = min(versions.values())
    if oldest < SAFE_FLOOR:
        names = ", ".join(cves(oldest)) or "known holes"
        return failed(
            f"the toolkit is {oldest}, below the lowest safe version {SAFE_FLOOR}: {names}",
            f"{_ROLE} installs {SAFE_FLOOR} or newer",
            state.toolkit.evidence,
        )
    return passed(
        f"{oldest} is not below the lowest safe version {SAFE_FLOOR} ({SAFE_FLOOR_SOURCE})",
        state.toolkit.evidence,
    )


def known_fault(state: State) -> Verdict:
    """Whether the version is safe and yet known to break something: a warning."""
    versions = sorted(set(state.toolkit.versions.values()))
    if not versions:
        return not_recorded("the versions of the toolkit's four packages")
    for version in versions:
        bug = field_bug(version)
        if bug:
            return warned(
                f"toolkit {version}: {bug.summary} ({bug.source})",
                f"install {bug.fixed} or newer; until then: nvidia-ctk system create-device-nodes "
                "--control-devices --load-kernel-modules && systemctl restart nvidia-cdi-refresh",
                state.toolkit.evidence,
            )
    return passed(f"no fault in the field is known of {versions[-1]}", state.toolkit.evidence)


def cdi_spec(state: State) -> Verdict:
    """Whether a CDI specification describes the cards."""
    toolkit, engine = state.toolkit, state.engine.version
    if engine and not has_cdi(engine):
        return not_applicable(
            f"engine older than 25 ({engine}): it does not know CDI", state.engine.evidence[:1]
        )
    if toolkit.specs is None:
        return not_recorded("/etc/cdi and /var/run/cdi")
    named = [spec for spec in toolkit.specs if spec.devices]
    if not named:
        return no_spec(toolkit)
    twins = twin_specs(named)
    if twins:
        return failed(
            f"{twins[0]} and {twins[1]} both describe {twins[2]}: an engine then takes neither",
            f"mv {twins[1]} {twins[1]}.aside && nvidia-ctk cdi list",
            toolkit.spec_evidence,
        )
    names = ", ".join(named[0].devices)
    return passed(
        f"{named[0].path} describes {len(named[0].devices)} devices: {names}", toolkit.spec_evidence
    )


def no_spec(toolkit: ToolkitFacts) -> Verdict:
    """Say what there is where no file describes a card."""
    remedy = "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml && nvidia-ctk cdi list"
    if toolkit.unreadable_specs:
        return failed(
            f"{toolkit.unreadable_specs[0]} is not a readable CDI specification",
            remedy,
            toolkit.spec_evidence,
        )
    if toolkit.unread_specs:
        return not_recorded(f"the text of {toolkit.unread_specs[0]}")
    return failed("0 CDI specifications describe an NVIDIA card", remedy, toolkit.spec_evidence)


def twin_specs(specs: list[CdiSpec]) -> tuple[str, str, str] | None:
    """Return two files of one folder for the same device, and that device: CDI drops what it finds twice."""
    for one, other in combinations(specs, 2):
        both = sorted(set(one.devices) & set(other.devices))
        if both and one.path.rpartition("/")[0] == other.path.rpartition("/")[0]:
            return one.path, other.path, f"{CDI_KIND}={both[0]}"
    return None


CHECKS = (
    Check("toolkit.installed", Layer.TOOLKIT, installed),
    Check("toolkit.one-version", Layer.TOOLKIT, one_version, needs=("toolkit.installed",)),
    Check("toolkit.safe-version", Layer.TOOLKIT, safe_version, needs=("toolkit.installed",)),
    Check("toolkit.known-fault", Layer.TOOLKIT, known_fault, needs=("toolkit.installed",)),
    Check("toolkit.cdi-spec", Layer.TOOLKIT, cdi_spec, needs=("toolkit.installed", "driver.answers")),
)
