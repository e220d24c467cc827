"""What a host may say, and what may be given as one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from verify import cli

RECORDING = json.dumps({"schema": 1, "where": "host"})


@pytest.fixture
def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ssh"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return path


def test_a_greeting_and_text_that_is_not_utf8_are_in_nobodys_way(
    ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ssh.write_text(f"#!/bin/sh\nprintf 'caf\\351\\n' >&2; echo hello; echo '{RECORDING}'\n")
    assert cli.main(["record", "--host", "lab"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(RECORDING)


def test_what_a_host_says_is_short_and_does_not_steer_the_terminal(
    ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ssh.write_text(f"#!/bin/sh\nprintf '\\033[31m{'x' * 5000}'\n")
    assert cli.main(["record", "--host", "lab"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert len(said) < 500


def test_an_answer_that_is_hardly_a_recording_is_judged(
    ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ssh.write_text(f"#!/bin/sh\necho '{RECORDING}'\n")
    assert cli.main(["doctor", "--host", "lab"]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("host", ["", "-oProxyCommand=x", "a b", "a\nb"])
def test_what_cannot_be_a_host_is_refused_before_anything_starts(
    host: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("started"))
    assert cli.main(["record", f"--host={host}"]) == 2
    assert "is not a host" in capsys.readouterr().err


@pytest.mark.parametrize("image", ["--privileged", "-v/:/host", "", "a b"])
@pytest.mark.parametrize("command", ["record", "doctor"])
def test_what_cannot_be_an_image_is_refused_before_anything_starts(
    command: str, image: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("started"))
    assert cli.main([command, f"--image={image}"]) == 2
    said = capsys.readouterr().err
    assert "is not an image" in said
    assert said.count("\n") == 1


def _docker(folder: Path, script: str) -> None:
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / "docker").chmod(0o755)


NOT_THERE = 'echo "docker: … exec: \\"$1\\": executable file not found in \\$PATH: unknown." >&2; exit 127'


def test_an_image_whose_python_is_called_python_is_recorded_too(
    ssh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = json.dumps({"schema": 1, "where": "container"})
    _docker(
        ssh.parent,
        f'case "$*" in *" python3 - "*) set python3; {NOT_THERE};; *) echo \'{recording}\';; esac',
    )
    assert cli.main(["record", "--where", "container", "--image", "an/image"]) == 0
    assert json.loads(capsys.readouterr().out)["where"] == "container"


def test_an_image_without_python_is_said_in_a_sentence(ssh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _docker(
        ssh.parent,
        f'case "$*" in *" python3 - "*) set python3; {NOT_THERE};; *) set python; {NOT_THERE};; esac',
    )
    assert cli.main(["record", "--where", "container", "--image", "an/image"]) == 2
    assert "an/image has neither python3 nor python" in capsys.readouterr().err
