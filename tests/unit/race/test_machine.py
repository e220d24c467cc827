from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.unit.race import fakes
from verify.race import machine
from verify.race.libraries import Libraries

if TYPE_CHECKING:
    from pathlib import Path


PEAKS = {
    "peaks": [
        {"name": "Simulated A10", "ids": ["2236"], "float32_tflops": 1.0, "memory_gbs": 2.0, "l2_mib": None,
         "source": "a test", "date": "2026-12-01"},
    ]
}  # fmt: skip
FIELDS = {
    "uuid": "GPU-simulated", "pci.device_id": "0x223610DE", "compute_cap": "8.6", "power.limit": "120.00",
    "power.default_limit": "150.00",
}  # fmt: skip


RACED = "GPU-simulated"


def driver(**fields: str | None) -> machine.Command:
    """Return an nvidia-smi of two cards that knows these fields, and fails for all others."""

    def command(argv: tuple[str, ...]) -> str | None:
        if argv[-1].startswith("--id=") and argv[-1] != f"--id={RACED}":
            return None  # it knows no such card
        if argv[1] == machine.QUERY[1] and argv[-1] == f"--id={RACED}":
            return "NVIDIA A10 (simulated), 550.163.01, 23028\n"
        if argv == machine.QUERY:
            return "NVIDIA A10 (simulated), 550.163.01, 23028\nNVIDIA A10 (simulated), 550.163.01, 23028\n"
        said = {**FIELDS, **fields}.get(argv[1].removeprefix("--query-gpu="))
        return said and f"{said}\n{said}\n"

    return command


@pytest.fixture
def peaks(tmp_path: Path) -> Path:
    table = tmp_path / "peaks.json"
    table.write_text(json.dumps(PEAKS))
    return table


@pytest.mark.parametrize("uuid", [None, "MIG-1"])
def test_of_several_nothing_is_held_against_the_one_that_may_not_be_raced(
    peaks: Path, uuid: str | None
) -> None:
    found = machine.card(driver(), peaks, uuid)
    assert found is not None
    assert (found["name"], found["count"]) == ("NVIDIA A10 (simulated)", 2)
    assert (found["uuid"], found["pci_id"], found["peak"]) == (None, None, None)


def test_a_conclusion_is_drawn_of_the_raced_card_alone(peaks: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def command(argv: tuple[str, ...]) -> str | None:
        asked.append(argv)
        return driver()(argv)

    machine.card(command, peaks, RACED)
    assert {argv[-1] for argv in asked if argv != machine.QUERY} == {f"--id={RACED}"}


def test_the_raced_card_is_named_and_all_are_counted(peaks: Path) -> None:
    assert machine.card(driver(), peaks, RACED) == {
        "name": "NVIDIA A10 (simulated)", "driver": "550.163.01", "memory_mib": 23028, "count": 2,
        "uuid": "GPU-simulated", "pci_id": "10de:2236", "compute_capability": "8.6",
        "power_limit_w": 120.0, "power_default_w": 150.0,
        "peak": {"name": "Simulated A10", "float32_tflops": 1.0, "memory_gbs": 2.0, "l2_mib": None,
                 "source": "a test", "date": "2026-12-01"},
    }  # fmt: skip


def test_what_the_driver_does_not_know_costs_no_other_field(peaks: Path) -> None:
    found = machine.card(driver(compute_cap=None, **{"power.limit": "[N/A]", "uuid": "N/A"}), peaks, RACED)
    assert found is not None
    assert (found["compute_capability"], found["power_limit_w"], found["uuid"]) == (None, None, None)
    assert (found["power_default_w"], found["pci_id"]) == (150.0, "10de:2236")


def test_a_card_without_a_row_has_no_peak(peaks: Path, tmp_path: Path) -> None:
    assert machine.peak("10de:2684", peaks) is None
    assert machine.peak("1002:2236", peaks) is None, "another maker's card"
    assert machine.peak(None, peaks) is None
    assert machine.peak("10de:2236", tmp_path / "none") is None
    peaks.write_text('{"peaks": [{}]}')
    assert machine.peak("10de:2236", peaks) is None
    found = machine.card(driver(**{"pci.device_id": "odd"}), peaks)
    assert found is not None
    assert (found["pci_id"], found["peak"]) == (None, None)


def test_the_table_in_the_package_is_read() -> None:
    found = machine.peak("10de:2684")
    assert found is not None
    assert "4090" in found["name"]
    assert found["source"]


@pytest.mark.parametrize("printed", [None, "", "No devices were found\n"])
def test_no_card_is_none(printed: str | None) -> None:
    assert machine.card(lambda _: printed) is None


def test_memory_that_is_not_said_is_none() -> None:
    found = machine.card(lambda _: "NVIDIA GB10, 580.1, [N/A]\n")
    assert found is not None
    assert found["memory_mib"] is None


def test_a_command_that_is_not_there_or_fails_says_nothing() -> None:
    assert machine.run(("gpu-host-no-such-command",)) is None
    assert machine.run(("false",)) is None
    assert machine.run(("echo", "yes")) == "yes\n"


def test_the_cpu(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n")
    (tmp_path / "proc/meminfo").write_text("MemTotal: 2048 kB\nSwapTotal: 4096 kB\nSwapFree: 1024 kB\n")
    found = machine.cpu(fakes.libraries(fakes.torch("2")), tmp_path)
    assert found["model"] == "A CPU @ 2 GHz"
    assert (found["memory_mib"], found["swap_used_mib"], found["quota_cores"]) == (2, 3, None)
    assert 1 <= found["threads"] <= found["usable_cores"] <= found["cores"]
    found = machine.cpu(Libraries(), tmp_path / "none")
    assert found["model"]
    assert (found["threads"], found["memory_mib"], found["swap_used_mib"]) == (None, None, None)


def test_versions_are_none_where_nothing_is_there() -> None:
    found = machine.versions(Libraries())
    assert (found["torch"], found["cuda"], found["cudnn"], found["scikit-learn"]) == (None, None, None, None)
    assert found["cuml"] is None
    found = machine.versions(fakes.libraries(fakes.torch("2.13.0+cu126", cuda="12.6")))
    assert (found["torch"], found["cuda"], found["cudnn"]) == ("2.13.0+cu126", "12.6", 91002)


def test_simulated_is_the_marker_alone(tmp_path: Path) -> None:
    assert not machine.simulated(tmp_path / "marker")
    (tmp_path / "marker").touch()
    assert machine.simulated(tmp_path / "marker")
