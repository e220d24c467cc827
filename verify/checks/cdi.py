"""Layer toolkit: the CDI specification describes these cards, for this driver and this engine (case D6)."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from verify.checks.applies import no_cdi
from verify.checks.check import Verdict, count, failed, not_recorded, passed, warned
from verify.compat.engine import has_cdi
from verify.compat.toolkit import schema_needs
from verify.facts.cdi import CDI_KIND
from verify.facts.source import cite
from verify.findings import Layer

if TYPE_CHECKING:
    from verify.facts.cdi import CdiSpec
    from verify.facts.state import State
    from verify.facts.toolkit import ToolkitFacts
    from verify.facts.version import Version

_AGAIN = "systemctl restart nvidia-cdi-refresh"
_GENERATE = "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml && nvidia-ctk cdi list"
_OTHERS_READ = 0o044


def cdi_spec(state: State) -> Verdict:
    """Whether a CDI specification describes the cards, and names nothing that is gone."""
    toolkit, engine = state.toolkit, state.engine.version
    if engine and not has_cdi(engine):
        return no_cdi(engine, state.engine.evidence[:1])
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
    for spec in named:
        verdict = _stale(state, spec) or _unread(state, spec)
        if verdict is not None:
            return verdict
    unseen = "" if all(spec.looked for spec in named) else "; whether its files are there was not recorded"
    return _twice(named, toolkit) or passed(
        f"{named[0].path} describes {len(named[0].devices)} devices: {', '.join(named[0].devices)}{unseen}",
        toolkit.spec_evidence,
    )


def _stale(state: State, spec: CdiSpec) -> Verdict | None:
    """Say where it was made for another driver, or names files that are gone."""
    loaded = state.module.version or state.driver.version
    evidence = (*state.toolkit.spec_evidence, *state.module.evidence[:1])
    between = (Layer.DRIVER, Layer.TOOLKIT)
    if spec.driver and loaded and not _agree(spec.driver, loaded):
        return failed(
            f"{spec.path} was made for driver {spec.driver}, the driver is {loaded}: regenerate it",
            _regenerate(spec),
            (cite(spec.path, f"hostPath: {spec.library}"), *evidence),
            between,
        )
    if spec.gone:
        return failed(
            f"{spec.path} names {count(len(spec.gone), 'file')} of the host not there: "
            f"{', '.join(spec.gone[:3])}",
            _regenerate(spec),
            (*(cite(path, "not there") for path in spec.gone[:3]), *evidence),
            between,
        )
    return None


def _agree(one: Version, other: Version) -> bool:
    return one.starts_with(other) or other.starts_with(one)


def _regenerate(spec: CdiSpec) -> str:
    if spec.path.startswith("/var/run/cdi/"):
        return f"{_AGAIN} && nvidia-ctk cdi list"
    return f"nvidia-ctk cdi generate --output={spec.path} && nvidia-ctk cdi list"


def _unread(state: State, spec: CdiSpec) -> Verdict | None:
    """Say where this engine cannot read it: a newer schema, or the rights of the file."""
    engine = state.engine
    needs = schema_needs(spec.schema) if spec.schema else None
    if needs and engine.version and engine.version < needs.docker:
        return failed(
            f"{spec.path} is of CDI schema {spec.schema}, which Docker reads from {needs.docker} on; this "
            f"engine is {engine.version}",
            f"nvidia-ctk cdi generate --feature-flag {needs.flag} --output={spec.path}  # or a newer engine",
            (cite(spec.path, f"cdiVersion: {spec.schema}"), *engine.evidence[:1]),
            (Layer.ENGINE, Layer.TOOLKIT),
        )
    if spec.mode is None or int(spec.mode, 8) & _OTHERS_READ:
        return None
    found = f"{spec.path} has mode {spec.mode}: only root may read it"
    evidence = (cite(spec.path, f"mode {spec.mode}"),)
    if engine.rootless:
        return failed(f"{found}, and Docker is rootless", f"chmod 644 {spec.path}", evidence)
    return warned(f"{found}; Podman and rootless Docker find no card", f"chmod 644 {spec.path}", evidence)


def _twice(specs: list[CdiSpec], toolkit: ToolkitFacts) -> Verdict | None:
    """Say that two folders describe one card: the later of the engine's folders wins."""
    for one, other in combinations(specs, 2):
        both = sorted(set(one.devices) & set(other.devices))
        if both:
            return warned(
                f"{one.path} and {other.path} both describe {CDI_KIND}={both[0]}: the one in /var/run/cdi is "
                "used, the other is forgotten and goes stale",
                f"rm {min(one.path, other.path)} && nvidia-ctk cdi list",
                toolkit.spec_evidence,
            )
    return None


def no_spec(toolkit: ToolkitFacts) -> Verdict:
    """Say what there is where no file describes a card."""
    if toolkit.unreadable_specs:
        return failed(
            f"{toolkit.unreadable_specs[0]} is not a readable CDI specification",
            _GENERATE,
            toolkit.spec_evidence,
        )
    if toolkit.unread_specs:
        return not_recorded(f"the text of {toolkit.unread_specs[0]}")
    return failed("0 CDI specifications describe an NVIDIA card", _GENERATE, toolkit.spec_evidence)


def twin_specs(specs: list[CdiSpec]) -> tuple[str, str, str] | None:
    """Return two files of one folder for the same device, and that device: CDI drops what it finds twice."""
    for one, other in combinations(specs, 2):
        both = sorted(set(one.devices) & set(other.devices))
        if both and one.folder == other.folder:
            return one.path, other.path, f"{CDI_KIND}={both[0]}"
    return None
