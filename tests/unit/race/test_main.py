from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race import fakes
from verify.race import __main__ as program

if TYPE_CHECKING:
    from pathlib import Path

STATUSES: dict[str, list[str]] = {
    "all": ["ran", "ran"],
    "absent": ["ran", "absent"],
    "failed": ["ran", "failed"],
    "none": ["absent"],
}


def a_race(statuses: list[str]) -> dict[str, Any]:
    lane = {
        "name": "cpu", "library": "torch", "device": "cpu", "reason": "why",
        "warmups": [1.0], "samples": [1.0],
        "transfer": None, "median": 1.0, "interval": [1.0, 1.0], "quality": {"loss": 1.0}, "warnings": [],
    }  # fmt: skip
    lanes = [{**lane, "status": status} for status in statuses]
    return fakes.race([{"name": "network", "lanes": lanes, "ratio": None}])


def test_it_prints_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(program, "run", lambda *_: a_race(["ran"]))
    assert program.main(["--out", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 1


def test_it_writes_both_files_and_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(program, "run", lambda *_: a_race(["ran"]))
    assert program.main(["--out", str(tmp_path / "new" / "folder")]) == 0
    assert sorted(p.name for p in (tmp_path / "new" / "folder").iterdir()) == ["race.json", "race.md"]


@pytest.mark.parametrize(("statuses", "status"), [("all", 0), ("absent", 0), ("failed", 1), ("none", 1)])
def test_exit_status(monkeypatch: pytest.MonkeyPatch, statuses: str, status: int) -> None:
    monkeypatch.setattr(program, "run", lambda *_: a_race(STATUSES[statuses]))
    assert program.main(["--out", "-"]) == status


@pytest.mark.parametrize("argv", [["--repeats", "0"], ["--repeats", "many"], ["--nonsense"]])
def test_usage(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(argv) == 2
    assert capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_refused_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert program.main(["--out", str(tmp_path / "file")]) == 2
    assert "cannot be written to" in capsys.readouterr().err


def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "run", interrupt)
    assert program.main(["--out", "-"]) == 130


def test_a_machine_without_any_library_says_so_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """The controller's own Python has none of them: the whole program, for real."""
    assert program.main(["--out", "-", "--quick"]) == 1
    race = json.loads(capsys.readouterr().out)
    assert race["sentence"].startswith("Nothing was measured: torch is not installed")
    assert {lane["status"] for c in race["contestants"] for lane in c["lanes"]} == {"absent"}
