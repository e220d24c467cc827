"""Fixtures of this scenario: each test runs on both hosts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "shared"))

Host = Any
KINDS = {"sim-ubuntu2404-1": "ubuntu2404", "sim-rocky9-1": "rocky9"}


@pytest.fixture(scope="module")
def name(host: Host) -> str:
    """Return the host's name in the inventory."""
    return str(host.backend.get_hostname())


@pytest.fixture(scope="module")
def apt(name: str) -> bool:
    """Whether the host's packages are apt's; dnf's where not."""
    return KINDS[name] == "ubuntu2404"


@pytest.fixture(scope="session")
def names() -> list[str]:
    """Return both hosts' names."""
    return list(KINDS)


@pytest.fixture(scope="session")
def ssh_config() -> str:
    """Return the file that reaches the hosts by SSH."""
    return os.environ["GPU_HOST_TEST_SSH_CONFIG"]


@pytest.fixture(scope="session")
def parts(ssh_config: str) -> dict[str, Any]:
    """Return what the simulation is made of: versions, fingerprints, images."""
    content: dict[str, Any] = json.loads(Path(ssh_config).with_name("parts.json").read_text())
    return content


@pytest.fixture(scope="module")
def packages(host: Host, apt: bool) -> Callable[[], dict[str, str]]:  # noqa: FBT001 - a fixture
    """Return a function that lists what is installed now, by name, keys of rpm's left out."""

    def listed() -> dict[str, str]:
        query = (
            "dpkg-query -W -f '${db:Status-Abbrev}${Package} ${Version}\\n' | sed -n 's/^[hi]i *//p'"
            if apt
            else "rpm -qa --qf '%{NAME} %{VERSION}-%{RELEASE}\\n' | grep -v ^gpg-pubkey"
        )
        lines = host.check_output(query).splitlines()
        return dict(line.split(" ", 1) for line in lines)

    return listed
