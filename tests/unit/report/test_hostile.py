"""Evidence folders that somebody else wrote."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.unit.report.helpers import RACE, host_report, put, recording, run
from verify.errors import VerifyError
from verify.report.evidence import write
from verify.report.model import Fleet
from verify.report.stack_view import print_doctor
from verify.report.terminal import print_fleet
from verify.text import hang, plain


def test_a_link_to_a_folder_is_replaced_every_time_and_its_goal_stays(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "run.json", run("lab"))
    evidence = tmp_path / "evidence"
    evidence.mkdir()
    (evidence / "lab").symlink_to(tmp_path / "elsewhere")
    for _ in range(3):
        write(evidence)
    assert sorted(path.name for path in evidence.iterdir()) == [
        "README.md",
        "failed.hosts",
        "index.html",
        "lab",
    ]
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    "change",
    [
        {"host": None},
        {"host": 3},
        {"collection": "x"},
        {"expected": "x"},
        {"expected": [[]]},
        {"image_digest": 3},
    ],
)
def test_a_run_of_other_types_is_one_sentence(tmp_path: Path, change: dict[str, Any]) -> None:
    put(tmp_path / "lab" / "run.json", {**run("lab"), **change})
    with pytest.raises(VerifyError, match=r"run\.json"):
        write(tmp_path)


def test_a_race_with_other_numbers_is_one_sentence(tmp_path: Path) -> None:
    race = json.loads(json.dumps(RACE))
    race["contestants"][0]["lanes"][0]["quality"] = {"loss": "low"}
    put(tmp_path / "lab" / "run.json", run("lab"))
    put(tmp_path / "lab" / "race.json", race)
    (host,) = write(tmp_path).hosts
    assert "race again" in host.sentence


def test_a_table_without_its_text_is_written(tmp_path: Path) -> None:
    put(tmp_path / "lab" / "run.json", run("lab"))
    put(tmp_path / "lab" / "recording-container.json", recording("container", nvidia_smi={"rc": 0}))
    write(tmp_path)
    broken = recording("container", nvidia_smi={"rc": 1, "argv": [3], "stdout": None, "stderr": 4})
    put(tmp_path / "lab" / "recording-container.json", broken)
    write(tmp_path)
    assert (tmp_path / "lab" / "nvidia-smi.txt").read_text() == "$ 3    (exit status 1)\n4"


def test_half_a_character_is_written(tmp_path: Path) -> None:
    put(tmp_path / "lab" / "run.json", {**run("lab"), "expected": ["\udcff"]})
    text = {"/etc/os-release": {"text": "ID=debian\nPRETTY_NAME=\udcff\n"}}
    put(tmp_path / "lab" / "recording-host.json", {"schema": 1, "where": "host", "files": text})
    write(tmp_path)
    assert "\\udcff" in (tmp_path / "lab" / "findings.json").read_text()


def test_a_hosts_name_does_not_steer_the_terminal() -> None:
    out = Console(file=io.StringIO(), width=120)
    report = host_report(host="\x1b[31m\udcff", outcome="\x1b[2J")
    print_doctor(report, out)
    print_fleet(Fleet((report,)), out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in text
    text.encode()


@pytest.mark.parametrize(
    "mark",
    [
        "\u202e",
        "\u2066",
        "\u200b",
        "\u200f",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u00ad",
        "\U000e0041",
        "\x9b",
        "\x1b",
    ],
)
def test_what_is_not_seen_does_not_change_what_is(mark: str) -> None:
    assert plain(f"card{mark}0.gpj") == "card\ufffd0.gpj"
    assert hang(f"card{mark}0", 80, 4) == ["card\ufffd0"]


def test_the_scripts_of_people_stay() -> None:
    text = "Prüfung, проверка, 检查, בדיקה, é"
    assert plain(text) == text
