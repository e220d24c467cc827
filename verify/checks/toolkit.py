"""Layer toolkit: four packages of one safe version, and their description of the cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.cdi import cdi_spec
from verify.checks.check import Check, Verdict, failed, not_recorded, passed, warned
from verify.checks.packages import VERSIONS, held, origin
from verify.compat.toolkit import SAFE_FLOOR, SAFE_FLOOR_SOURCE, cves, field_bug
from verify.facts.toolkit import PACKAGES

if TYPE_CHECKING:
    from verify.facts.state import State

_ROLE = "make site LIMIT=HOST  # role nvidia_container_toolkit"


def _install(version: str) -> str:
    return "apt-get install --allow-downgrades " + " ".join(f"{name}={version}" for name in PACKAGES)


def installed(state: State) -> Verdict:
    """Whether all four packages are there."""
    toolkit = state.toolkit
    if toolkit.packages is None:
        return not_recorded(VERSIONS)
    missing = [name for name in PACKAGES if name not in toolkit.packages]
    if missing:
        stuck = [name for name in toolkit.held or () if name in toolkit.packages]
        also = f"; {', '.join(stuck)} is held, which keeps the others out" if stuck else ""
        return failed(
            f"{len(missing)} of the toolkit's 4 packages are not installed: {', '.join(missing)}{also}",
            f"{_ROLE} installs all 4" if not stuck else f"apt-mark unhold {' '.join(stuck)} && {_ROLE}",
            (*toolkit.evidence, *(toolkit.held_evidence if stuck else ())),
            because=("host.package-sources",),  # where apt cannot read its sources, nothing can be installed
        )
    return passed("all 4 packages of the NVIDIA Container Toolkit are installed", toolkit.evidence)


def one_version(state: State) -> Verdict:
    """Whether they are of one version: from 1.18 on they must match exactly."""
    toolkit = state.toolkit
    if not toolkit.packages:
        return not_recorded(VERSIONS)
    versions = sorted(set(toolkit.packages.values()))
    if len(versions) > 1:
        listed = ", ".join(f"{name} {version}" for name, version in toolkit.packages.items())
        newest = max(toolkit.versions.values(), default=None)
        goal = next((v for v in versions if newest and v.startswith(str(newest))), versions[-1])
        stuck = list(toolkit.held or ())
        release = f"apt-mark unhold {' '.join(stuck)} && " if stuck else ""
        also = f"; held: {', '.join(stuck)}" if stuck else ""
        return failed(
            f"the toolkit's packages are of {len(versions)} versions: {listed}{also}",
            f"{release}{_install(goal)}",
            (*toolkit.evidence, *(toolkit.held_evidence if stuck else ())),
        )
    if len(toolkit.packages) < len(PACKAGES):
        return not_recorded(f"{len(toolkit.packages)} of 4 packages are installed, nothing to compare")
    return passed(f"all 4 packages are {versions[0]}", toolkit.evidence)


def safe_version(state: State) -> Verdict:
    """Whether the oldest of them is free of known holes."""
    versions = state.toolkit.versions
    if not versions:
        return not_recorded(VERSIONS)
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
        return not_recorded(VERSIONS)
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


CHECKS = (
    Check("toolkit.installed", installed),
    Check("toolkit.one-version", one_version, needs=("toolkit.installed",)),
    Check("toolkit.safe-version", safe_version, needs=("toolkit.installed",)),
    Check("toolkit.known-fault", known_fault, needs=("toolkit.installed",)),
    Check("toolkit.held", held, needs=("toolkit.installed",)),
    Check("toolkit.origin", origin, needs=("toolkit.installed",)),
    Check("toolkit.cdi-spec", cdi_spec, needs=("toolkit.installed", "driver.answers")),
)
