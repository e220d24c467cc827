"""Undo, last of all: packages, holds, sources and keys are what a fresh host of that kind has."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

import lab
import pytest

Host = Any
Packages = Callable[[], dict[str, str]]
APT = "/etc/apt/sources.list.d /etc/apt/preferences.d /usr/share/keyrings"
SOURCES = f"ls {APT} /etc/yum.repos.d /etc/pki/rpm-gpg 2>/dev/null"


@pytest.fixture(scope="module")
def fresh(parts: dict[str, Any], apt: bool) -> Callable[[str], str]:  # noqa: FBT001 - a fixture
    """Return a function that runs a command on a host of this kind to which nothing has happened."""
    image = parts["base"]["images"]["ubuntu2404" if apt else "rocky9"]

    def said(command: str) -> str:
        argv = ["docker", "run", "--rm", "--network=none", image, "sh", "-c", command]
        return subprocess.run(argv, check=False, capture_output=True, text=True).stdout

    return said


@pytest.fixture(scope="session")
def removed() -> list[str]:
    """Remove from both hosts side by side, twice; return what each run said."""
    return [lab.play("remove").stdout for _ in range(2)]


def recap(said: str, name: str) -> str:
    return next(line for line in said.splitlines() if line.startswith(name) and "changed=" in line)


def test_remove_ends_clean_and_a_second_one_changes_nothing(name: str, removed: list[str]) -> None:
    assert "failed=0" in recap(removed[0], name), removed[0][-3000:]
    assert "failed=0" in recap(removed[1], name), removed[1][-3000:]
    assert "changed=0" in recap(removed[1], name)


@pytest.mark.usefixtures("removed")
def test_the_packages_are_those_of_before(
    packages: Packages,
    fresh: Callable[[str], str],
    apt: bool,  # noqa: FBT001 - a fixture
) -> None:
    query = "dpkg-query -W -f '${Package}\\n'" if apt else "rpm -qa --qf '%{NAME}\\n'"
    assert set(packages()) - {"gpu-host-simulated-card"} == set(fresh(query).split())


@pytest.mark.usefixtures("removed")
def test_the_sources_and_keys_are_those_of_before(host: Host, fresh: Callable[[str], str]) -> None:
    assert host.run(SOURCES).stdout == fresh(SOURCES)
    assert host.run("rpm -qa gpg-pubkey").stdout.strip() == ""


@pytest.mark.usefixtures("removed")
def test_nothing_is_held_and_nothing_of_ours_is_left(host: Host) -> None:
    assert host.run("apt-mark showhold 2>/dev/null || dnf -q versionlock list").stdout.strip() == ""
    for path in ("/etc/docker/daemon.json", "/var/lib/gpu-host/owned.json"):
        assert not host.file(path).exists
