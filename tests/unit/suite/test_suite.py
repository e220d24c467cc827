"""The judging suite, run as a user runs it: pytest in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.report.helpers import put, recording, run

ROOT = Path(__file__).parents[3]


def suite(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "verify/suite",
        "-p",
        "no:cacheprovider",
        "-q",
        *map(str, arguments),
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    put(tmp_path / "lab" / "run.json", run("lab"))
    put(tmp_path / "lab" / "recording-host.json", recording("host", nvidia_smi={"missing": True}))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--hosts", "ssh://lab"], "give --evidence DIR"),
        (["--evidence", "{evidence}"], "examines the controller itself"),
        (["--evidence", "{evidence}", "--hosts", "local://"], "is the controller"),
        (["--evidence", "{evidence}", "--hosts", "ssh://lab,local"], "is the controller"),
        (["--evidence", "/no/such", "--hosts", "ssh://lab"], "is not a folder"),
    ],
)
def test_refused_before_a_test_runs(evidence: Path, arguments: list[str], says: str) -> None:
    done = suite(*[part.format(evidence=evidence) for part in arguments])
    assert done.returncode == 4
    assert says in done.stderr


def test_findings_are_judged_without_a_connection(evidence: Path) -> None:
    done = suite("--evidence", evidence, "--hosts", "ssh://lab", "-k", "test_finding or test_verdict")
    assert done.returncode == 1
    assert "test_verdict[lab]" in done.stdout
    assert "test_finding[lab-" in done.stdout
    assert "next: " in done.stdout


def test_host_without_a_recording_fails(evidence: Path) -> None:
    done = suite(
        "--evidence", evidence, "--hosts", "ssh://lab,ssh://user@ghost:22", "-k", "ghost and not raw"
    )
    assert done.returncode == 1
    assert "test_finding[ghost-verify.no-recording]" in done.stdout
    assert "test_verdict[ghost]" in done.stdout


def test_raw_look_fails_where_the_host_cannot_be_reached(evidence: Path, tmp_path: Path) -> None:
    config = tmp_path / "ssh_config"
    config.write_text("Host *\n  ProxyCommand false\n")
    done = suite("--evidence", evidence, "--hosts", "ssh://lab", "--ssh-config", config, "-k", "test_raw")
    assert done.returncode == 1
    assert "passed" not in done.stdout


def test_a_host_that_hung_while_it_was_recorded_is_not_asked_again(evidence: Path, tmp_path: Path) -> None:
    put(
        evidence / "lab" / "run.json",
        {**run("lab"), "collection": {"outcome": "timed-out", "detail": "the deadline passed"}},
    )
    asked, config = tmp_path / "asked", tmp_path / "ssh_config"
    config.write_text(f"Host *\n  ProxyCommand touch {asked}\n")
    done = suite("--evidence", evidence, "--hosts", "ssh://lab", "--ssh-config", config, "-k", "test_raw")
    assert done.returncode == 1
    assert "lab was not recorded (timed-out): no second look" in done.stdout
    assert not asked.exists()
