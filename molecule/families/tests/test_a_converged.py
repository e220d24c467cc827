"""After converging: packages of one version, held; keys that are ours alone; an engine with the runtime."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

Host = Any
Packages = Callable[[], dict[str, str]]
TOOLKIT = {
    "nvidia-container-toolkit", "nvidia-container-toolkit-base", "libnvidia-container-tools",
    "libnvidia-container1",
}  # fmt: skip
# A shell and the loader are all that is needed to run what the toolkit brings in.
LIBRARIES = "{ld-linux-*,libc.so.*,libdl.*,libm.*,libpthread.*,librt.*}"
ROOT = f"bin lib lib64 usr/bin/sh usr/bin/dash usr/lib64 usr/lib/x86_64-linux-gnu/{LIBRARIES}"


def drivers(packages: dict[str, str]) -> dict[str, str]:
    """Versions of the packages that make up the driver."""
    own = {name: version for name, version in packages.items() if "nvidia" in name and name not in TOOLKIT}
    return {name: version for name, version in own.items() if "pinning" not in name}


def test_the_driver_is_the_branch_s_newest_and_of_one_version(
    host: Host, packages: Packages, parts: dict[str, Any]
) -> None:
    newest = parts["families"]["drivers"]["580"][-1]
    found = drivers(packages())
    assert len(found) > 1
    assert {re.match(r"[\d.]+", version).group() for version in found.values()} == {newest}  # type: ignore[union-attr]
    smi = host.check_output("nvidia-smi --query-gpu=driver_version,name --format=csv,noheader").splitlines()
    assert smi == [f"{newest}, NVIDIA A10 (simulated)"] * 2


def test_the_driver_is_held(host: Host, packages: Packages, apt: bool) -> None:  # noqa: FBT001 - a fixture
    held = host.check_output("apt-mark showhold" if apt else "dnf -q versionlock list")
    found = drivers(packages())
    assert len(found) > 1
    assert [name for name in found if name not in held] == []


def test_the_toolkit_is_of_one_version(packages: Packages) -> None:
    versions = {version for name, version in packages().items() if name in TOOLKIT}
    assert versions == {"1.20.2-1"}


def test_the_engine_is_docker_s_and_has_the_runtime(host: Host, packages: Packages) -> None:
    found = packages()
    assert {"docker-ce", "docker-ce-cli", "containerd.io"} <= found.keys()
    assert "docker.io" not in found
    assert host.service("docker").is_running
    assert host.service("docker").is_enabled
    assert "nvidia" in json.loads(host.check_output("docker info --format '{{json .Runtimes}}'"))


def fingerprints(host: Host, files: list[str]) -> set[str]:
    """Return the primary keys in these files."""
    found = set()
    for file in files:
        said = host.check_output(f"gpg --homedir /root --with-colons --show-keys {file} 2>/dev/null")
        lines = [line.split(":") for line in said.splitlines()]
        found |= {after[9] for before, after in pairwise(lines) if before[0] == "pub"}
    return found


def test_the_keys_that_are_trusted_are_ours_and_only_ours(
    host: Host,
    parts: dict[str, Any],
    apt: bool,  # noqa: FBT001 - a fixture
) -> None:
    ours = {name: value for name, value in parts["families"]["fingerprints"].items() if name != "stranger"}
    if not apt:
        trusted = set(host.check_output("rpm -qa gpg-pubkey --qf '%{VERSION}\\n'").split())
        assert trusted == {value[-8:].lower() for value in ours.values()}
        return
    listed = host.check_output("grep -hi '^signed-by:' /etc/apt/sources.list.d/*.sources | sort -u")
    files = [line.split(": ", 1)[1] for line in listed.splitlines()]
    wanted = {ours["nvidia"], ours["docker"], parts["toolkit"]["fingerprint"]}
    assert fingerprints(host, files) == wanted
    # Nothing is trusted for every repository.
    assert [
        name for name in host.check_output("ls /etc/apt/trusted.gpg.d").split() if "debian" not in name
    ] == []


@pytest.fixture(scope="module")
def image(host: Host) -> str:
    """Make an image of the host's own shell and loader."""
    host.run_expect([0], f"bash -c 'cd / && tar -c {ROOT} | docker import - gpu-host-test:small'")
    return "gpu-host-test:small"


@pytest.mark.parametrize("way", ["--gpus all", "--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all"])
def test_a_container_sees_the_cards(host: Host, image: str, way: str) -> None:
    seen = host.check_output(f"docker run --rm --network=none {way} {image} nvidia-smi -L")
    assert seen.count("simulated") == 2
