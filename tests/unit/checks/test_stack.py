"""The graph of what depends on what."""

from __future__ import annotations

import pytest

from verify.checks.stack import STACK

NEEDS = {check.id: check.needs for check in STACK}


def _below(name: str, seen: tuple[str, ...] = ()) -> set[str]:
    assert name not in seen, f"{name} depends on itself"
    direct = NEEDS[name]
    return set(direct).union(*(_below(need, (*seen, name)) for need in direct))


@pytest.mark.parametrize("name", NEEDS)
def test_every_dependence_exists_and_none_is_circular(name: str) -> None:
    assert _below(name) <= set(NEEDS)


@pytest.mark.parametrize("name", ["engine.installed", "engine.answers"])
def test_a_broken_driver_does_not_break_the_engine(name: str) -> None:
    assert not any(need.startswith(("driver.", "module.", "card.")) for need in _below(name))


@pytest.mark.parametrize("name", [name for name in NEEDS if name.startswith("toolkit.")])
def test_a_stopped_engine_does_not_block_the_toolkit(name: str) -> None:
    assert not any(need.startswith("engine.") for need in _below(name))


def test_a_cpu_build_blocks_the_cuda_lane_and_not_the_cpu_lane() -> None:
    assert "framework.cpu-build" in _below("race.cuda-lane")
    assert "framework.cpu-build" not in _below("race.cpu-lane")


def test_only_the_runtimes_ways_rest_on_its_registration() -> None:
    resting = {name for name in NEEDS if "runtime.in-daemon" in _below(name)}
    assert resting == {"container.run-runtime", "container.run-runtime-first"}
    assert not any("runtime.in-file" in _below(name) for name in NEEDS)
