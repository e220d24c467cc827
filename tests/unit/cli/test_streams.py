"""Where the output goes: a pipe that closes, a disk that is full."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCTOR = [sys.executable, "-m", "verify.cli", "doctor", "--json", "--recording"]


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "recording.json"
    path.write_text(json.dumps({"schema": 1, "where": "host"}))
    return path


@pytest.mark.parametrize("command", [DOCTOR, [*DOCTOR[:4], "--recording"], [*DOCTOR[:3], "compat"]])
def test_a_reader_that_has_seen_enough_gets_no_traceback(command: list[str], recording: Path) -> None:
    what = [] if "compat" in command else [recording]
    with subprocess.Popen([*command, *what], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_full_disk_is_one_sentence(recording: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*DOCTOR, recording], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.startswith("gpu-verify: No space left on device")
    assert "Traceback" not in done.stderr


def test_what_a_terminal_cannot_show_is_no_error(recording: Path) -> None:
    told = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    done = subprocess.run([*DOCTOR[:4], "--recording", recording], capture_output=True, env=told, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.isascii()


@pytest.mark.parametrize("columns", ["0", "²", "x", ""])
def test_a_width_that_is_none(columns: str) -> None:
    told = {**os.environ, "COLUMNS": columns, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [*DOCTOR[:3], "compat", "--cuda", "12.8"], capture_output=True, env=told, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"12.8" in done.stdout


def test_nobody_to_tell(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*DOCTOR, tmp_path / "none"], stderr=full, check=False)
    assert done.returncode == 2
