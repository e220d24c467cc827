"""Judging as the role has it: one start of Python that completes, runs the suite and publishes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.collect.test_collect import given
from verify import collect

ROOT = Path(__file__).parents[3]
# Nothing listens there: what the suite looks at by itself fails at once.
CLOSED = "Host *\n  HostName 127.0.0.1\n  Port 1\n  BatchMode yes\n"


def judged(evidence: Path, hosts: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "verify.collect", "judge", "--evidence", str(evidence)],
        input=json.dumps({"hosts": hosts, "ssh_config": CLOSED}),
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    collect.start(tmp_path, {"hosts": ["a", "b"]})
    collect.stage(tmp_path, given())
    return tmp_path


def test_what_fails_is_published_all_the_same(evidence: Path) -> None:
    said = judged(evidence, ["ssh://a", "ssh://b"])
    assert said["suite"]["rc"] == 1
    assert any("test_verdict[b]" in line for line in said["suite"]["lines"])
    assert any("test_nothing_is_left_behind[ssh://a]" in line for line in said["suite"]["lines"])
    assert said["hosts"] == ["a", "b"]
    assert said["failed"]
    assert (evidence / "a" / "findings.json").is_file()
    assert not (evidence / collect.STAGING).exists()


def test_a_suite_that_refuses_to_run_is_no_pass(evidence: Path) -> None:
    said = judged(evidence, [])
    assert said["suite"]["rc"] == 4
    assert "without --hosts" in said["suite"]["stderr"]
    assert said["hosts"] == ["a", "b"]
