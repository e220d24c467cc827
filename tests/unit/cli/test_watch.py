from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.cards import document, xml
from verify import cli, watch
from verify.errors import VerifyError
from verify.manifest import usage_manifest


def looks(monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, Any] | str]) -> list[dict[str, Any]]:
    """Let each look answer so, and the sleep after the last one be interrupted; return what was asked."""
    asked: list[dict[str, Any]] = []

    def take(_where: str, **how: Any) -> str:
        answer = answers[len(asked)]
        asked.append(how)
        if isinstance(answer, str):
            raise VerifyError(answer)
        return json.dumps(answer)

    def sleep(_: float) -> None:
        if len(asked) == len(answers):
            raise KeyboardInterrupt

    monkeypatch.setattr(watch, "take", take)
    monkeypatch.setattr(watch.watch, "__defaults__", (sleep,))
    return asked


def test_each_look_is_one_connection_without_a_container(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = looks(monkeypatch, [document(xml(util="97 %")), document(xml(util="0 %"))])
    assert cli.main(["doctor", "--host", "lab", "--watch", "5"]) == 130
    text = capsys.readouterr().out
    assert "lab, every 5 s; Ctrl-C ends it" in text
    assert text.index("working: 97 %") < text.index("asleep: 0 %")
    assert "\x1b" not in text
    assert [how["host"] for how in asked] == ["lab", "lab"]
    names = [command["name"] for command in asked[0]["content"]["commands"]]
    assert "nvidia-smi-xml" in names
    assert not [name for name in names if name.startswith("run-")]


def test_a_later_look_that_fails_is_said_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks(monkeypatch, [document(xml(util="97 %")), "cannot reach lab", document(xml(util="96 %"))])
    assert cli.main(["doctor", "--host", "lab", "--watch"]) == 130
    text = capsys.readouterr().out
    assert "no answer this time: cannot reach lab" in text
    assert "working: 96 %" in text


def test_a_first_look_that_fails_is_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looks(monkeypatch, ["cannot reach lab"])
    assert cli.main(["doctor", "--host", "lab", "--watch"]) == 2
    assert "cannot reach lab" in capsys.readouterr().err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "x", "1e9"])
def test_a_time_that_is_none(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", f"--watch={seconds}"]) == 2
    assert "give seconds from" in capsys.readouterr().err


@pytest.mark.parametrize(
    "other", [["--recording", "x"], ["--inventory", "x"], ["--json"], ["--image", "a:b"]]
)
def test_watch_goes_alone(other: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--watch", "--host", "lab", *other]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_part_that_is_recorded_is_within_the_whole() -> None:
    part = usage_manifest()
    assert part["where"] == "host"
    assert len(part["commands"]) >= 5


def test_on_a_terminal_ctrl_c_leaves_it_clean(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps(document(xml())))
    (tmp_path / "ssh").write_text(f"#!/bin/sh\ncat >/dev/null; tr -d '\\n' < {answer}\n")
    (tmp_path / "ssh").chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "TERM": "xterm", "COLUMNS": "80"}
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "verify.cli", "doctor", "--host", "lab", "--watch", "0.5"],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        # A run in the background (nohup, &) ignores Ctrl-C, and its children with it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
        env=env,
        start_new_session=True,
    )
    os.close(follower)
    seen = b""
    until = time.monotonic() + 30
    interrupted = False
    while time.monotonic() < until:
        if not select.select([leader], [], [], 1)[0]:
            continue
        try:
            data = os.read(leader, 65536)
        except OSError:  # the other end has gone
            break
        seen += data
        if not data:
            break
        if not interrupted and seen.count(b"97 % busy") >= 2:
            interrupted = True
            process.send_signal(signal.SIGINT)
    try:
        assert process.wait(10) == 130
    finally:
        process.kill()
        os.close(leader)
    assert interrupted
    assert b"\x1b[?25l" in seen  # hidden while it refreshes
    assert seen.rindex(b"\x1b[?25h") > seen.rindex(b"\x1b[?25l")  # and shown again
    assert b"Traceback" not in seen
