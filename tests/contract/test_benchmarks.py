"""Every benchmark says what it measures and takes, before it measures anything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "benchmarks").glob("*.py")))
def test_help_is_said_and_nothing_is_run(name: str) -> None:
    argv = [sys.executable, "-m", f"benchmarks.{name}"]
    said = subprocess.run(
        [*argv, "--help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert said.startswith("usage: ")
    wrong = subprocess.run(
        [*argv, "--no-such-option"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr
