"""The evidence that converge left on the controller."""

from __future__ import annotations

import json
from pathlib import Path

import lab
import pytest


@pytest.fixture
def folder(name: str) -> Path:
    return lab.EVIDENCE / name


def test_every_file_is_there(folder: Path) -> None:
    expected = {
        "run.json", "recording-host.json", "recording-container.json", "findings.json", "junit.xml",
        "nvidia-smi.txt", "race.json", "race.md", "race.svg", "race.html", "gpu-host.prom",
    }  # fmt: skip
    assert {path.name for path in folder.iterdir()} == expected


def test_the_one_failure_is_the_expected_one(folder: Path) -> None:
    found = lab.findings(folder)
    assert [f["id"] for f in found if f["status"] == "fail"] == ["framework.cpu-build"]
    assert {f["culprit"] for f in found if f["status"] == "blocked"} == {"framework.cpu-build"}
    assert sum(f["status"] == "pass" for f in found) > 20


def test_simulated_stands_where_a_person_sees_it(folder: Path) -> None:
    assert json.loads((folder / "findings.json").read_text())["simulated"] is True
    assert json.loads((folder / "race.json").read_text())["simulated"] is True
    for path in (
        folder / "nvidia-smi.txt",
        folder / "race.md",
        folder / "race.svg",
        lab.EVIDENCE / "README.md",
    ):
        assert "simulated" in path.read_text().lower(), path


def test_the_race_has_no_number_for_a_card_that_did_not_run(folder: Path) -> None:
    race = json.loads((folder / "race.json").read_text())
    lanes = [lane for contestant in race["contestants"] for lane in contestant["lanes"]]
    cuda = [lane for lane in lanes if lane["name"] == "cuda"]
    assert cuda
    assert {lane["status"] for lane in cuda} == {"absent"}
    assert all(lane["reason"] and not lane["samples"] and lane["median"] is None for lane in cuda)
    assert all(lane["median"] > 0 for lane in lanes if lane["status"] == "ran")


def test_nvidia_smi_in_the_container_showed_both_cards(folder: Path) -> None:
    assert (folder / "nvidia-smi.txt").read_text().count("NVIDIA A10 (simulated)") == 2


def test_the_report_comes_out_byte_for_byte_the_same(folder: Path) -> None:
    before = {path: path.read_bytes() for path in lab.EVIDENCE.rglob("*") if path.is_file()}
    for drawn in ("findings.json", "junit.xml", "nvidia-smi.txt", "race.md", "race.svg", "race.html"):
        (folder / drawn).unlink()
    (lab.EVIDENCE / "README.md").unlink()
    done = lab.gpu_verify("report", "--from", lab.EVIDENCE)
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in lab.EVIDENCE.rglob("*") if path.is_file()} == before


def test_the_host_s_own_name_and_address_are_not_in_the_recordings(
    folder: Path, host: object, name: str
) -> None:
    address = host.check_output("hostname -I").split()[0]  # type: ignore[attr-defined]
    for path in folder.glob("recording-*.json"):
        assert address not in path.read_text()
        assert name not in path.read_text()
