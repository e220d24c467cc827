"""NVIDIA's driver as the probe sees it: does it work, origin, packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.module_utils.gpu_host_driver import driver
from plugins.module_utils.gpu_host_installed import packages
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

SMI = "nvidia-smi --query-gpu=driver_version"


def test_a_driver_that_works(tmp_path: Path) -> None:
    commands = {
        SMI: (0, "550.163.01\n550.163.01"),
        "dpkg-query -S /usr/bin/nvidia-smi": (0, "nvidia-smi: /usr/bin/nvidia-smi"),
        "dpkg-query -W": (0, "nvidia-smi\tii \t550.163.01-2\n"),
    }
    found = driver(Machine(tmp_path, {}, commands))
    assert (found["works"], found["version"]) == (True, "550.163.01")
    assert found["origin"] == "package nvidia-smi 550.163.01-2"


def test_a_driver_that_fails_keeps_its_words(tmp_path: Path) -> None:
    says = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    found = driver(
        Machine(
            tmp_path, {"/usr/bin/nvidia-uninstall": ""}, {SMI: (9, says), "dpkg-query": (1, "no path found")}
        )
    )
    assert (found["works"], found["version"], found["says"]) == (False, None, says)
    assert found["origin"] == "NVIDIA's .run installer"


def test_a_driver_that_hangs(tmp_path: Path) -> None:
    found = driver(Machine(tmp_path, {}, {"nvidia-smi never": (0, "")}))
    assert (found["works"], found["says"]) == (False, "/usr/bin/nvidia-smi: no answer within 20 s")


def test_no_driver(tmp_path: Path) -> None:
    found = driver(Machine(tmp_path, {}, {}))
    assert (found["tool"], found["works"], found["origin"], found["dkms"]) == (None, False, None, [])
    assert found["says"] == "nvidia-smi is not installed"


def test_an_origin_behind_a_diversion_and_on_wsl(tmp_path: Path) -> None:
    diverted = "diversion by glx-diversions from: /usr/bin/nvidia-smi\nnvidia-smi: /usr/bin/nvidia-smi"
    commands = {SMI: (0, "1.2"), "dpkg-query -S": (0, diverted), "dpkg-query -W": (0, "")}
    assert driver(Machine(tmp_path, {}, commands))["origin"] == "package nvidia-smi"
    wsl = driver(Machine(tmp_path, {}, {"/usr/lib/wsl/lib/nvidia-smi": (0, "1.2")}))
    assert "Windows" in wsl["origin"]


def test_dkms_is_read_because_apt_does_not_tell(tmp_path: Path) -> None:
    status = "nvidia-current/550.163.01: added\nother/1.0: installed"
    assert driver(Machine(tmp_path, {}, {"dkms status": (0, status)}))["dkms"] == [
        "nvidia-current/550.163.01: added"
    ]


def test_only_whole_packages_count(tmp_path: Path) -> None:
    rows = "a\tii \t1.0-1\nheld\thi \t2.0-1\ngone\trc \t3.0\nhalf\tiF \t4.0\ndpkg-query: nothing matches b"
    machine = Machine(tmp_path, {}, {"dpkg-query -W": (1, rows)})
    assert packages(machine, ["a", "held", "gone", "half", "b"]) == {"a": "1.0-1", "held": "2.0-1"}
    assert packages(Machine(tmp_path, {}, {}), ["a"]) == {}
