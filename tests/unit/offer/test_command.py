"""The command: its statuses, its refusals, what it compares, and that a password is nowhere."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.offer.derive import OFFERS
from verify import cli
from verify.offer import collect
from verify.offer.command import PASSWORD
from verify.offer.compare import named

SECRET = "Über-geheim:9/x"  # noqa: S105  # no password of anybody's


def ask(*arguments: str) -> int:
    return cli.main(["offer", *arguments])


def file(name: str) -> str:
    return str(OFFERS / f"{name}.json")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--recording", file("full-machine")], 0),
        (["--recording", file("full-machine"), "--for", "train,serve,build,ci"], 0),
        (["--recording", file("without-compose"), "--for", "ci"], 1),
        (["--recording", file("without-compose"), "--for", "train"], 0),
        (["--recording", file("container-without-smi")], 1),
        (["--recording", file("not-tried")], 1),
        (["--compare", file("no-persistent-disk") + ":0.2", file("full-machine") + ":0.9", "--for", "ci"], 0),
        (["--compare", file("no-persistent-disk"), file("vendor-driver"), "--for", "ci"], 1),
    ],
)
def test_the_status_says_whether_the_wanted_use_passes(
    arguments: list[str], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*arguments) == status
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--recording", "/no/such/file"], "cannot read"),
        (["--recording", file("denied"), "--compare", file("denied")], "one of the two"),
        (["--recording", file("denied"), "--host", "u@h"], "reach nothing"),
        (["--compare", file("denied"), "--registry", "r"], "reach nothing"),
        (["--recording", file("denied"), "--for", "mining"], "is no use"),
        (["--username", "me"], "--registry HOST"),
        (["--price", "0"], "is no price"),
        (["--compare", file("denied") + ":0"], "is no price"),
        (["--image", "UPPER/case"], "is not an image"),
        (["--image", "a.example.com/x:1", "--registry", "b.example.com"], "is not where"),
    ],
)
def test_usage_is_two_and_one_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(*arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("name", ["full-machine", "container-without-smi", "older-driver"])
def test_no_line_is_wider_than_the_terminal(
    name: str, width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    ask("--recording", file(name), "--evidence", "--price", "0.4")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= int(width)
    assert "(simulated card)" in "\n".join(lines)


def test_what_several_answers_advise_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    ask("--recording", file("vendor-driver"))
    assert capsys.readouterr().out.count("bootstrap.sh") == 1


def test_json_has_every_answer_and_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    ask("--recording", file("older-driver"), "--json", "--price", "0.72")
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["passes"], found["first_pull"]["money"]) == (1, True, 0.0125)
    assert [answer["number"] for answer in found["answers"]] == [1, 2, 2, 3, 4, 5, 5, 6, 7, 7]
    assert [verdict["use"] for verdict in found["verdicts"]] == ["train", "serve", "build", "ci"]


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    ask("--compare", *arguments, "--json")
    return [offer["name"] for offer in json.loads(capsys.readouterr().out)["offers"]]


def test_the_cheapest_that_passes_is_first(capsys: pytest.CaptureFixture[str]) -> None:
    cheap, dear, none = f"{file('no-persistent-disk')}:0.2", f"{file('full-machine')}:1.2", file("rootless")
    assert compared(capsys, dear, cheap, none) == ["no-persistent-disk", "full-machine", "rootless"]
    builds = compared(capsys, dear, cheap, none, "--for", "build")
    assert builds == ["full-machine", "rootless", "no-persistent-disk"]


def test_a_comparison_names_the_first_and_its_price(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    files = [
        f"{file('no-persistent-disk')}:0.2",
        f"{file('full-machine')}:1.2",
        f"{file('without-compose')}:0.9",
    ]
    assert ask("--compare", *files, "--for", "ci") == 0
    out = capsys.readouterr().out
    assert "first: full-machine at 1.20 EUR an hour, it passes for: CI here" in out
    assert max(map(len, out.splitlines())) <= 80
    assert ask("--compare", *files[:1], "--for", "ci") == 1
    assert "none of them passes for: CI here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a.json:0.40", ("a.json", 0.4)), ("a.json", ("a.json", None)), ("a:b.json", ("a:b.json", None)),
     ("a.json:0,5", ("a.json", 0.5)), ("12:00.json:3", ("12:00.json", 3.0))],
)  # fmt: skip
def test_a_price_stands_behind_the_last_colon(text: str, expected: tuple[str, float | None]) -> None:
    path, price = named(text)
    assert (str(path), price) == expected


# --- what reaches a machine -------------------------------------------------------------------


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """Let the machine be one of the recordings, and the registry's probe say everything that it was told."""
    ran: list[tuple[list[str], str]] = []

    def take(*_: Any, **__: Any) -> str:
        return (OFFERS / "not-tried.json").read_text(encoding="utf-8")

    def run(argv: list[str], text: str, limit: float) -> tuple[str, str, int]:  # noqa: ARG001
        ran.append((argv, text))
        return '...\n{"schema": 1, "steps": {}, "places": []}\n', "", 0

    monkeypatch.setattr(collect, "take", take)
    monkeypatch.setattr(collect, "_ran", run)
    monkeypatch.setenv(PASSWORD, SECRET)
    return ran


def test_nothing_but_what_was_asked_for_is_run(
    machine: list[tuple[list[str], str]], capsys: pytest.CaptureFixture[str]
) -> None:
    ask("--host", "u@h", "--no-tries")
    assert machine == []
    ask("--host", "u@h")
    assert len(machine) == 1
    assert "169.254.169.254" not in machine[0][1]
    ask("--host", "u@h", "--no-tries", "--ask-metadata")
    assert "169.254.169.254" in machine[1][1]
    capsys.readouterr()


def test_the_password_is_in_what_is_piped_and_nowhere_else(
    machine: list[tuple[list[str], str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "offer.json"
    ask("--host", "u@h", "--registry", "r.example.com", "--username", "me", "--out", str(out), "--evidence")
    captured = capsys.readouterr()
    (tries, _), (argv, piped) = machine
    assert json.dumps(SECRET)[1:-1].replace("\\", "\\\\") in piped or SECRET in piped
    everything = captured.out + captured.err + out.read_text(encoding="utf-8") + " ".join([*argv, *tries])
    for secret in (SECRET, json.dumps(SECRET)[1:-1], base64.b64encode(SECRET.encode()).decode()):
        assert secret not in everything


def test_an_empty_password_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(PASSWORD, "")
    assert ask("--registry", "r.example.com", "--username", "me") == 2
    assert "no password came" in capsys.readouterr().err


def test_what_is_kept_can_be_judged_again(
    machine: list[tuple[list[str], str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "offer.json"
    ask("--json", "--out", str(out))
    first = capsys.readouterr().out
    ask("--json", "--recording", str(out))
    assert capsys.readouterr().out == first
    assert machine


def test_a_machine_that_cannot_be_reached_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask("--host", "nobody@no-such-host.invalid") == 2
    assert re.match(r"gpu-verify: cannot reach nobody@no-such-host.invalid by SSH", capsys.readouterr().err)


def test_a_probe_that_says_nothing_is_recorded_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    options = type("Options", (), {"host": None, "ssh_config": None})
    monkeypatch.setattr(collect, "_PYTHON", ["sh", "-c", "cat >/dev/null; echo token=abcdef >&2; exit 3"])
    entry = collect.probe(options, "", 10)  # type: ignore[arg-type]
    assert (entry["rc"], entry["stdout"]) == (3, "")
    assert "abcdef" not in entry["stderr"]


def test_a_probe_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    options = type("Options", (), {"host": None, "ssh_config": None})
    monkeypatch.setattr(collect, "_PYTHON", ["sleep", "60"])
    assert collect.probe(options, "", 0.2)["timed_out"] is True  # type: ignore[arg-type]
