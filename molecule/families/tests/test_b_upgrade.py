"""From one branch to another in one run; what a stranger signed is refused, and nothing is lost by trying.

The playbooks run once, for both hosts side by side; the tests read what each run said and left.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lab
import pytest

Host = Any
CONVERGE = Path(__file__).resolve().parents[1] / "converge.yml"
LIST = "dpkg-query -W -f '${Package} ${Version}\\n' 2>/dev/null || rpm -qa | sort"
STRANGER = {"nvidia_driver_repository_url": "{{ families_url }}/nvidia-stranger"}
NEXT = {"nvidia_driver_version": "595"}


@dataclass(frozen=True)
class Run:
    """What a run said, and which packages each host had afterwards."""

    said: str
    packages: dict[str, str]

    def recap(self, name: str) -> str:
        return next(line for line in self.said.splitlines() if line.startswith(name) and "changed=" in line)

    def refusal(self, name: str) -> str:
        return self.said.partition(f"fatal: [{name}]")[2].partition("\nfatal: ")[0]


def listed(name: str, config: str) -> str:
    argv = ["ssh", "-F", config, name, LIST]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def runs(names: list[str], ssh_config: str) -> dict[str, Run]:
    """Run it all: nothing asked for, a stranger's repository, the next branch, and that again."""
    story = {"stranger": STRANGER | NEXT, "next": NEXT, "again": NEXT}
    done = {"before": Run("", {name: listed(name, ssh_config) for name in names})}
    for step, settings in story.items():
        words = [word for key, value in settings.items() for word in ("-e", f"{key}={value}")]
        said = lab.play(CONVERGE, *words).stdout
        done[step] = Run(said, {name: listed(name, ssh_config) for name in names})
    return done


def test_what_a_stranger_signed_is_refused_and_nothing_is_changed(name: str, runs: dict[str, Run]) -> None:
    run = runs["stranger"]
    assert "failed=1" in run.recap(name), run.said[-3000:]
    assert re.search(r"sign|key", run.refusal(name)), run.refusal(name)
    assert run.packages[name] == runs["before"].packages[name]


def test_the_next_branch_comes_in_one_run(
    host: Host, name: str, runs: dict[str, Run], parts: dict[str, Any]
) -> None:
    newest = parts["families"]["drivers"]["595"][-1]
    assert "failed=0" in runs["next"].recap(name), runs["next"].said[-3000:]
    assert re.findall(r"\b580\.\d+", runs["next"].packages[name]) == []
    assert newest in runs["next"].packages[name]
    assert newest in host.check_output("nvidia-smi --query-gpu=driver_version --format=csv,noheader")


def test_what_is_held_is_what_is_there(host: Host, runs: dict[str, Run]) -> None:
    held = host.check_output("apt-mark showhold 2>/dev/null || dnf -q versionlock list")
    assert runs
    assert len(held.splitlines()) > 1
    assert "580" not in held


def test_a_second_run_changes_nothing(name: str, runs: dict[str, Run]) -> None:
    recap = runs["again"].recap(name)
    assert "failed=0" in recap
    assert "changed=0" in recap
