from __future__ import annotations

import pytest

from tests.unit.checks.cases import CPU_BUILD, Machine, document
from verify.checks import CHECK_IDS, EXPECTED_MISSING, NO_RECORDING, exit_status
from verify.findings import Layer, Status


def test_a_lab_host_passes_everything() -> None:
    found = Machine("lab").judge()
    assert {f.status for f in found.values() if f.id != "framework.peer-to-peer"} == {Status.PASS}
    assert found["framework.peer-to-peer"].summary == "not applicable: one card, nobody to hand data to"
    assert exit_status(found.values()) == 0


def test_a_simulated_host_fails_only_what_is_expected() -> None:
    found = Machine("simulated").judge()
    failing = [f for f in found.values() if f.status is Status.FAIL]
    assert [(f.id, f.expected) for f in failing] == [(CPU_BUILD, True)]
    blocked = {f.id for f in found.values() if f.status is Status.BLOCKED}
    assert blocked == {
        "framework.arch-list",
        "framework.cuda-driver",
        "framework.cudnn",
        "framework.every-card",
        "framework.is-available",
        "framework.peer-to-peer",
        "framework.kernel",
        "race.cuda-lane",
    }
    assert all(found[name].expected and found[name].culprit == CPU_BUILD for name in blocked)
    assert found["race.cpu-lane"].status is Status.PASS
    assert exit_status(found.values()) == 0


@pytest.mark.parametrize("kind", ["lab", "simulated"])
def test_every_check_is_there_in_stack_order(kind: str) -> None:
    found = Machine(kind).judge()
    assert tuple(found) == tuple(name for name in CHECK_IDS if name not in (NO_RECORDING, EXPECTED_MISSING))
    layers = [f.layer for f in found.values()]
    assert layers == sorted(layers, key=list(Layer).index)
    assert set(layers) == set(Layer)
    assert all(name.split(".")[0] == f.layer for name, f in found.items())


def test_an_engine_without_cdi_is_skipped_not_failed() -> None:
    machine = Machine("simulated")
    machine.host = document("engine-older-than-25")
    found = machine.judge()
    for name in ("toolkit.cdi-spec", "runtime.cdi-enabled", "container.run-cdi", "container.run-cdi-first"):
        assert found[name].status is Status.SKIP
        assert found[name].summary.startswith("engine older than 25")
    assert exit_status(found.values()) == 0


def test_an_engine_that_gives_cards_by_cdi_needs_no_runtime() -> None:
    machine = Machine("lab")
    machine.host = document("cdi-without-runtime")
    found = machine.judge()
    assert found["runtime.in-daemon"].status is Status.PASS
    assert "3 CDI devices" in found["runtime.in-daemon"].summary
    for name in ("runtime.in-file", "container.run-runtime", "container.run-runtime-first"):
        assert found[name].status is Status.SKIP
    assert exit_status(found.values()) == 0


def test_nvidia_as_default_runtime_is_a_warning_even_where_this_image_saw_nothing() -> None:
    machine = Machine("lab")
    machine.info(DefaultRuntime="nvidia")
    finding = machine.judge()["container.run-none"]
    assert finding.status is Status.WARN
    assert "every container gets every card" in finding.summary


def test_wsl_has_no_module_and_that_is_no_failure() -> None:
    machine = Machine("lab")
    machine.files["/proc/sys/kernel/osrelease"]["text"] = "5.15.153.1-microsoft-standard-WSL2\n"
    for path in ("/proc/driver/nvidia/version", "/sys/module/nvidia/version", "/proc/modules"):
        machine.files[path] = {"missing": True}
    found = machine.judge()
    assert found["module.loaded"].status is Status.SKIP
    assert found["driver.version-mismatch"].status is Status.SKIP
    assert found["driver.answers"].status is Status.PASS
    assert found["container.run-gpus-all"].status is Status.PASS
