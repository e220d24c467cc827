"""From one branch to another in one run; what a stranger signed is refused, and nothing is lost by trying."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lab

Host = Any
Packages = Callable[[], dict[str, str]]
CONVERGE = Path(__file__).resolve().parents[1] / "converge.yml"
FOLDER = {True: "ubuntu2404", False: "rhel9"}


def run(name: str, **settings: str) -> tuple[int, str]:
    words = [word for key, value in settings.items() for word in ("-e", f"{key}={value}")]
    done = lab.play(CONVERGE, "--limit", name, *words)
    return done.returncode, done.stdout


def versions(packages: dict[str, str]) -> set[str]:
    found = {
        re.match(r"[\d.]+", v).group() for n, v in packages.items() if "nvidia" in n and "container" not in n
    }  # type: ignore[union-attr]
    return {version for version in found if "." in version}


def test_what_a_stranger_signed_is_refused(
    host: Host,
    name: str,
    packages: Packages,
    apt: bool,  # noqa: FBT001 - a fixture
) -> None:
    before = packages()
    url = f"http://vendor-repos:8000/{FOLDER[apt]}/nvidia-stranger"
    rc, said = run(name, nvidia_driver_repository_url=url, nvidia_driver_version="595")
    assert rc != 0
    assert re.search(r"sign|key", said), said[-2000:]
    assert packages() == before
    assert host.check_output("nvidia-smi -L").count("simulated") == 2


def test_the_next_branch_in_one_run(host: Host, name: str, packages: Packages, parts: dict[str, Any]) -> None:
    newest = parts["families"]["drivers"]["595"][-1]
    rc, said = run(name, nvidia_driver_version="595")
    assert rc == 0, said[-3000:]
    assert versions(packages()) == {newest}
    assert newest in host.check_output("nvidia-smi --query-gpu=driver_version --format=csv,noheader")
    held = host.check_output("apt-mark showhold 2>/dev/null || dnf -q versionlock list")
    assert "580" not in held


def test_a_second_run_changes_nothing(name: str) -> None:
    rc, said = run(name, nvidia_driver_version="595")
    assert rc == 0, said[-3000:]
    recap = next(line for line in said.splitlines() if line.startswith(name) and "changed=" in line)
    assert "changed=0" in recap
