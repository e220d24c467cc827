from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.helpers import RACE, put, recording, run
from verify import cli, take
from verify.commands import EXAMPLES

RECORDINGS = Path(__file__).parents[2] / "recordings"


def text_of(document: dict[str, Any]) -> str:
    return json.dumps(document)


@pytest.fixture
def host_file(tmp_path: Path) -> Path:
    path = tmp_path / "recording-host.json"
    put(path, recording("host", nvidia_smi={"missing": True}))
    return path


def answer(monkeypatch: pytest.MonkeyPatch, rc: int, out: str = "", err: str = "") -> list[list[str]]:
    """Let every process that a recording starts answer so; return the list of what was started."""
    started: list[list[str]] = []

    def fake(argv: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        started.append(argv)
        return subprocess.CompletedProcess(argv, rc, out, err)

    monkeypatch.setattr(subprocess, "run", fake)
    return started


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["no-such-command"],
        ["report"],
        ["record", "--where", "moon"],
        ["doctor", "--recording"],
        ["record", "--where", "container"],
        ["report", "--from", "/no/such/folder"],
        ["doctor", "--recording", "/no/such/file"],
        ["doctor", "--recording", "a", "--host", "b"],
    ],
)
def test_usage_is_two_and_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gpu-verify: ")
    assert "Traceback" not in captured.err


def test_help_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    assert cli.main(["doctor", "--help"]) == 0
    assert "exit status" in capsys.readouterr().out


def test_the_help_of_every_command_has_an_example_the_statuses_and_no_markup(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert cli.main(["--help"]) == 0
    main = capsys.readouterr().out
    (names,) = re.findall(r"COMMAND\n(.*)\n\noptions", main, re.DOTALL)
    commands = re.findall(r"^    (\w+) ", names, re.MULTILINE)
    assert {"record", "doctor", "race", "report", "compat", "image"} <= set(commands)
    for name in (name for name in commands if name != "race"):  # it has its own parser
        assert cli.main([name, "--help"]) == 0
        said = capsys.readouterr().out
        assert f"\nexample:\n  gpu-verify {name} " in said, (
            f"{name} has no line in EXAMPLES (verify/commands.py)"
        )
        assert "`" not in said
        assert "\n  141  the reader" in said
    assert cli.main(["race", "compare", "--help"]) == 0
    assert "`" not in main + capsys.readouterr().out
    for status in (0, 1, 2, cli.USAGE, cli.INTERNAL, cli.INTERRUPTED, cli.BROKEN_PIPE):
        assert f"\n  {status} " in main


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_example_of_a_command_is_one(command: str) -> None:
    program, *arguments = shlex.split(EXAMPLES[command])
    assert program == "gpu-verify"
    options = cli.parser().parse_args(arguments)
    assert (options.command, callable(options.run)) == (command, True)


def test_own_error_is_three_and_interrupt_is_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: object) -> int:
        raise RuntimeError("oops")

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(take, "record", broken)
    assert cli.main(["record"]) == 3
    assert "oops" in capsys.readouterr().err
    monkeypatch.setattr(take, "record", interrupted)
    assert cli.main(["record"]) == 130


def test_race_is_handed_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["race", "--help"]) == 0
    assert "--repeats" in capsys.readouterr().out


def test_record_here_for_real(tmp_path: Path) -> None:
    out = tmp_path / "new" / "r.json"
    assert cli.main(["record", "--out", str(out)]) == 0
    document = json.loads(out.read_text())
    assert document["where"] == "host"
    assert document["commands"]["uname"]["rc"] == 0
    assert "run-none" not in document["commands"]


def test_record_over_ssh(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    started = answer(monkeypatch, 0, text_of(recording("host")))
    assert cli.main(["record", "--host", "me@lab", "--ssh-config", "cfg", "--image", "a:b"]) == 0
    assert json.loads(capsys.readouterr().out)["where"] == "host"
    assert started[0][0] == "ssh"
    assert started[0][-3:-1] == ["--", "me@lab"]
    assert "cfg" in started[0]
    assert "image=a:b" in started[0][-1]


@pytest.mark.parametrize(
    ("done", "says"),
    [
        ((255, "", "ssh: connect to host lab port 22: No route to host"), "cannot reach lab by SSH"),
        ((127, "", "sh: 1: python3: not found"), "python3: not found"),
        ((0, "Welcome to lab!\n", ""), "it said: Welcome to lab!"),
        ((0, '{"where": "container"}', ""), "no host recording"),
    ],
)
def test_record_that_fails_says_what_the_host_said(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    done: tuple[int, str, str],
    says: str,
) -> None:
    answer(monkeypatch, *done)
    assert cli.main(["record", "--host", "lab"]) == 2
    assert says in capsys.readouterr().err


def test_record_without_ssh_and_over_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(argv: list[str], **_: Any) -> None:
        raise FileNotFoundError(argv[0])

    def slow(argv: list[str], **_: Any) -> None:
        raise subprocess.TimeoutExpired(argv, 90)

    monkeypatch.setattr(subprocess, "run", absent)
    assert cli.main(["record", "--host", "lab"]) == 2
    assert "ssh is not installed" in capsys.readouterr().err
    monkeypatch.setattr(subprocess, "run", slow)
    assert cli.main(["record", "--host", "lab"]) == 2
    assert "within 90 s" in capsys.readouterr().err


def test_doctor_on_a_file_fails_with_one(host_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--recording", str(host_file)]) == 1
    assert "FAIL" in capsys.readouterr().out
    assert cli.main(["doctor", "--recording", str(host_file), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 1
    assert document["simulated"] is True
    assert document["findings"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "[" * 200_000, '"x"', '{"where": "moon"}', '{"schema": 99, "where": "host"}']
)
def test_doctor_on_no_recording(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    assert cli.main(["doctor", "--recording", str(path)]) == 2
    assert "gpu-verify: " in capsys.readouterr().err


def test_doctor_on_a_container_alone_asks_for_no_host(capsys: pytest.CaptureFixture[str]) -> None:
    path = RECORDINGS / "healthy-lab-container.json"
    assert cli.main(["doctor", "--recording", str(path)]) == 0
    out = capsys.readouterr().out
    assert "only a container's recording was given" in out
    assert "run.json" not in out


def test_doctor_wants_one_of_each(host_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--recording", str(host_file), str(host_file)]) == 2
    assert "second host recording" in capsys.readouterr().err


def test_doctor_takes_both_recordings_only_where_the_image_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for rc, count in ((0, 2), (1, 1)):
        started: list[str] = []

        def fake(where: str, *, rc: int = rc, started: list[str] = started, **_: Any) -> str:
            started.append(where)
            return text_of(recording(where, image_inspect={"rc": rc, "stdout": "[]", "stderr": ""}))

        monkeypatch.setattr("verify.take.take", fake)
        cli.main(["doctor", "--host", "lab", "--image", "a:b"])
        assert len(started) == count
    capsys.readouterr()


def test_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "lab" / "run.json", run("lab"))
    put(tmp_path / "lab" / "race.json", RACE)
    assert cli.main(["report", "--from", str(tmp_path)]) == 1
    assert "lab" in capsys.readouterr().out
    assert cli.main(["report", "--from", str(tmp_path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["failed"]) == (1, True)
    assert document["hosts"][0]["host"] == "lab"
