from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race import fakes
from verify.race import RACE_VERSION, table
from verify.race import __main__ as program
from verify.race.markdown import markdown
from verify.race.outcome import Outcome
from verify.race.settings import Settings, settings_for
from verify.race.words import message

if TYPE_CHECKING:
    from pathlib import Path

STATUSES: dict[str, list[str]] = {
    "all": ["ran", "ran"],
    "absent": ["ran", "absent"],
    "failed": ["ran", "failed"],
    "none": ["absent"],
    "invalid": ["ran", "invalid"],
}
WHY = message("failed", error="why")


def a_race(statuses: list[str]) -> dict[str, Any]:
    lanes = [
        (
            fakes.ran(fakes.CPU_LANE, 1.0) if status == "ran" else Outcome(fakes.CPU_LANE, status, WHY)
        ).document("torch")
        for status in statuses
    ]
    contestant = {
        "name": "network", "lanes": lanes, "ratio": None, "ratio_interval": None, "ratio_against": None,
        "ratio_card": None, "training": None,
    }  # fmt: skip
    return fakes.race([contestant])


def raced(monkeypatch: pytest.MonkeyPatch, statuses: list[str]) -> list[Any]:
    """Let the program have raced; return what it is called with."""
    called: list[Any] = []

    def run(*arguments: Any) -> dict[str, Any]:
        called.extend(arguments)
        return a_race(statuses)

    monkeypatch.setattr(program, "run", run)
    return called


def test_it_prints_one_document(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    raced(monkeypatch, ["ran"])
    assert program.main(["--out", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == 2


def test_it_writes_its_files_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raced(monkeypatch, ["ran"])
    folder = tmp_path / "new" / "folder"
    assert program.main(["--out", str(folder)]) == 0
    assert sorted(p.name for p in folder.iterdir()) == ["race.html", "race.json", "race.md", "race.svg"]
    said = capsys.readouterr().out
    assert said == table.text(json.loads((folder / "race.json").read_text()))
    assert said.startswith("The race on this machine\n")
    assert not any(line.startswith(("#", "|")) for line in said.splitlines())


def test_it_writes_french(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    raced(monkeypatch, ["ran"])
    assert program.main(["--out", str(tmp_path), "--lang", "fr"]) == 0
    assert (tmp_path / "race.md").read_text() == markdown(a_race(["ran"]), "fr")
    assert markdown(a_race(["ran"]), "fr") != markdown(a_race(["ran"]))


@pytest.mark.parametrize(
    ("statuses", "status"), [("all", 0), ("absent", 0), ("failed", 1), ("none", 1), ("invalid", 1)]
)
def test_exit_status(monkeypatch: pytest.MonkeyPatch, statuses: str, status: int) -> None:
    raced(monkeypatch, STATUSES[statuses])
    assert program.main(["--out", "-"]) == status


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--repeats", "0"], "--repeats 0: a race needs at least 1"),
        (["--repeats", "many"], "--repeats: invalid int value: 'many'"),
        (["--nonsense"], "unrecognized arguments: --nonsense"),
        (["--budget", "soon"], "--budget: 'soon' is no time: give seconds (60 or 60s) or minutes (2m)"),
        (["--only", "network,fruad"], "--only network,fruad: nothing that is raced is called fruad"),
        (["--only", ","], "--only ,: it names nothing"),
        (["--only", "script"], "--only script: script is raced where --script FILE gives one"),
        (["--network", "transformer"], "--network: invalid choice: 'transformer'"),
        (["--lang", "de"], "--lang: invalid choice: 'de'"),
        (["--price-cpu", "cheap"], "--price-cpu cheap: give an amount per hour"),
        (["--price-gpu", "-1"], "--price-card -1: give an amount per hour"),
        (["--price-card", "nan"], "--price-card nan: give an amount per hour"),
        (["--target", "Class"], "--target Class names a column of --fraud-data FILE, which is not given"),
        (["--fraud-data", "table.csv"], "--fraud-data table.csv needs --target COLUMN"),
        (["--script", "no-such.py"], "--script no-such.py cannot be read (No such file or directory)"),
        (["--others", "-1"], "--others -1: give how many"),
        (["--script", "t.py", "--script-args", "'half"], "--script-args 'half: No closing quotation"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_is_one_sentence(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(argv) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_help_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main(["--help"]) == 0
    assert "--budget" in capsys.readouterr().out


def test_options_become_settings_and_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    called = raced(monkeypatch, ["ran"])
    words = "--out - --budget 2m --network cnn --only network --price-cpu 0.25 --price-gpu 1.5 --currency USD"
    assert program.main(words.split()) == 0
    _, settings, prices = called
    assert (settings.budget_s, settings.network.kind, settings.only, settings.repeats) == (
        120.0,
        "cnn",
        ("network",),
        None,
    )
    assert prices == {"cpu_per_hour": 0.25, "card_per_hour": 1.5, "currency": "USD"}


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    called = raced(monkeypatch, ["ran"])
    assert program.main(["--out", "-"]) == 0
    _, settings, prices = called
    assert settings == settings_for()
    assert (settings.budget_s, settings.least, settings.most) == (60.0, 3, 100)
    assert prices is None


def test_an_exact_number_has_a_budget_only_where_one_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    called = raced(monkeypatch, ["ran"])
    program.main(["--out", "-", "--repeats", "5"])
    program.main(["--out", "-", "--repeats", "5", "--budget", "30"])
    assert [found.budget_s for found in called if isinstance(found, Settings)] == [None, 30.0]


def test_one_price_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    called = raced(monkeypatch, ["ran"])
    program.main(["--out", "-", "--price-card", "0"])
    assert called[2] == {"cpu_per_hour": None, "card_per_hour": 0.0, "currency": "EUR"}


def test_the_script_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    called = raced(monkeypatch, ["ran"])
    (tmp_path / "t.py").write_text("print(1)")
    words = ["--out", "-", "--script", str(tmp_path / "t.py"), "--only", "script"]
    assert program.main([*words, "--script-args", "--rows '1 0'"]) == 0
    assert called[1].only == ()
    assert (called[1].script.file, called[1].script.args) == (str(tmp_path / "t.py"), ("--rows", "1 0"))


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
    assert race["schema"] == 2
    assert set(race["versions"].values()) == {
        RACE_VERSION,
        platform.python_version(),
        race["versions"]["nvidia-ml-py"],
        None,
    }
    assert {lane["status"] for c in race["contestants"] for lane in c["lanes"]} == {"absent"}
