"""What the scenarios' tests share: running the project's own playbooks, reading the evidence they leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INVENTORY = Path(os.environ["GPU_HOST_INVENTORY"])
EVIDENCE = Path(os.environ["GPU_HOST_EVIDENCE"])
# The project's configuration, and plain text: molecule forces colours on what it runs.
SETTINGS = {"ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_FORCE_COLOR": "0"}
# A playbook that takes longer hangs.
LIMIT_S = 300


def play(name: str | Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one of the project's playbooks, or a scenario's own by its path, on the scenario's inventory."""
    ansible_playbook = Path(sys.executable).with_name("ansible-playbook")
    playbook = name if isinstance(name, Path) else ROOT / "playbooks" / f"{name}.yml"
    return subprocess.run(
        [ansible_playbook, "-i", INVENTORY, playbook, *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        env={**os.environ, **SETTINGS},
    )  # fmt: skip


def gpu_verify(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run gpu-verify as a person would."""
    return subprocess.run(
        [sys.executable, "-m", "verify.cli", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


def verify(evidence: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Collect, judge and report into a folder of the test's own, without the race."""
    return play(
        "verify", "-e", f"gpu_verify_evidence_dir={evidence}", "-e", "gpu_verify_race=never", *arguments
    )


def findings(folder: Path) -> list[dict[str, Any]]:
    """Return the findings of one host's evidence."""
    document = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    result: list[dict[str, Any]] = document["findings"]
    return result
