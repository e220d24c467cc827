"""The four things that are broken by hand: the layer is named, what rests on it is blocked, nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.unit.checks.cases import CPU_BUILD, Machine, document
from verify.checks import exit_status
from verify.findings import Layer, Status

CDI_AND_GPUS = {
    "container.run-gpus-all",
    "container.run-gpus-first",
    "container.run-cdi",
    "container.run-cdi-first",
}


@dataclass(frozen=True)
class Break:
    recording: str
    layer: Layer
    culprits: frozenset[str]
    judged: frozenset[str]
    """Layers that must not be touched at all."""


BREAKS = (
    Break(
        "engine-stopped",
        Layer.ENGINE,
        frozenset({"engine.answers"}),
        frozenset({Layer.HOST, Layer.CARD, Layer.MODULE, Layer.DRIVER, Layer.TOOLKIT}),
    ),
    Break(
        "engine-stopped-socket-listens",
        Layer.ENGINE,
        frozenset({"engine.answers"}),
        frozenset({Layer.HOST, Layer.CARD, Layer.MODULE, Layer.DRIVER, Layer.TOOLKIT}),
    ),
    Break(
        "runtime-unregistered",
        Layer.RUNTIME,
        frozenset({"runtime.in-file", "runtime.in-daemon"}),
        frozenset(
            {Layer.HOST, Layer.CARD, Layer.MODULE, Layer.DRIVER, Layer.ENGINE, Layer.TOOLKIT, Layer.IMAGE}
        ),
    ),
    Break(
        "driver-library-emptied",
        Layer.DRIVER,
        frozenset({"driver.answers"}),
        frozenset({Layer.HOST, Layer.CARD, Layer.MODULE, Layer.ENGINE, Layer.RUNTIME}),
    ),
    Break(
        "toolkit-skew",
        Layer.TOOLKIT,
        frozenset({"toolkit.one-version"}),
        frozenset(
            {Layer.HOST, Layer.CARD, Layer.MODULE, Layer.DRIVER, Layer.ENGINE, Layer.RUNTIME, Layer.IMAGE}
        ),
    ),
)


@pytest.mark.parametrize("case", BREAKS, ids=lambda case: case.recording)
def test_the_layer_is_named_and_nothing_else_fails(case: Break) -> None:
    machine = Machine("simulated")
    machine.host = document(case.recording)
    if case.layer in (Layer.ENGINE, Layer.DRIVER):
        machine.container = machine.race = None
    found = machine.judge()
    failed = {f.id for f in found.values() if f.status is Status.FAIL and not f.expected}
    assert failed == case.culprits
    assert {found[name].layer for name in failed} == {case.layer}
    blocked = {f.id: f.culprit for f in found.values() if f.status is Status.BLOCKED}
    assert set(blocked.values()) <= case.culprits | {CPU_BUILD}
    assert case.culprits & set(blocked.values())
    assert {found[name].layer for name in blocked}.isdisjoint(case.judged)
    assert exit_status(found.values()) == 1


def test_without_the_runtime_the_other_ways_still_pass() -> None:
    machine = Machine("simulated")
    machine.host = document("runtime-unregistered")
    found = machine.judge()
    blocked = {f.id for f in found.values() if f.status is Status.BLOCKED and f.culprit != CPU_BUILD}
    assert blocked == {"container.run-runtime", "container.run-runtime-first"}
    assert {found[name].status for name in CDI_AND_GPUS} == {Status.PASS}
