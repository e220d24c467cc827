from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.race import fakes
from verify.race import machine
from verify.race.libraries import Libraries

if TYPE_CHECKING:
    from pathlib import Path


def test_the_first_card_is_named_and_all_are_counted() -> None:
    printed = "NVIDIA A10 (simulated), 550.163.01, 23028\nNVIDIA A10 (simulated), 550.163.01, 23028\n"
    assert machine.card(lambda _: printed) == {
        "name": "NVIDIA A10 (simulated)", "driver": "550.163.01", "memory_mib": 23028, "count": 2,
    }  # fmt: skip


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
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: A CPU @ 2 GHz\n")
    assert machine.cpu(fakes.libraries(fakes.torch("2")), cpuinfo)["model"] == "A CPU @ 2 GHz"
    found = machine.cpu(Libraries(), tmp_path / "none")
    assert found["model"]
    assert found["threads"] is None


def test_versions_are_none_where_nothing_is_there() -> None:
    found = machine.versions(Libraries())
    assert (found["torch"], found["cuda"], found["cudnn"], found["scikit-learn"]) == (None, None, None, None)
    found = machine.versions(fakes.libraries(fakes.torch("2.13.0+cu126", cuda="12.6")))
    assert (found["torch"], found["cuda"], found["cudnn"]) == ("2.13.0+cu126", "12.6", 91002)


def test_simulated_is_the_marker_alone(tmp_path: Path) -> None:
    assert not machine.simulated(tmp_path / "marker")
    (tmp_path / "marker").touch()
    assert machine.simulated(tmp_path / "marker")
