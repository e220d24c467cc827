"""Raw assertions on the converged Debian 12 host: an engine that knows neither CDI nor --validate."""

from __future__ import annotations

import json
import re
from typing import Any

import lab
import pytest

Host = Any
IMAGE = "gpu-host/race:latest"
UNPRIVILEGED = "--rm --pull=never --network=none --cap-drop=ALL --security-opt=no-new-privileges"


def uuids(text: str) -> list[str]:
    return re.findall(r"UUID: (GPU-[0-9a-f-]+)", text)


@pytest.fixture(scope="module")
def cards(host: Host) -> list[str]:
    """Return the UUIDs that the host's nvidia-smi lists."""
    return uuids(host.check_output("nvidia-smi -L"))


def test_the_driver_is_debian_12s_own(host: Host, cards: list[str]) -> None:
    assert host.package("nvidia-smi").version.startswith("535.")
    changed = host.run("dpkg --verify nvidia-smi").stdout.splitlines()
    assert [line for line in changed if "/usr/share/doc/" not in line] == []
    assert len(set(cards)) == 2
    assert host.check_output("nvidia-smi -L").count("simulated") == 2


def test_the_engine_is_debian_12s_own_and_has_no_cdi(host: Host) -> None:
    assert host.check_output("docker version --format '{{.Server.Version}}'").startswith("20.10.")
    assert host.service("docker").is_running
    assert host.service("docker").is_enabled
    assert host.run("dockerd --validate --config-file /etc/docker/daemon.json").rc != 0


def test_the_file_has_the_runtime_and_asks_for_nothing_that_this_engine_does_not_know(host: Host) -> None:
    config = json.loads(host.file("/etc/docker/daemon.json").content_string)
    assert config["runtimes"]["nvidia"]["path"] == "nvidia-container-runtime"
    assert "cdi" not in config.get("features", {})
    assert "cdi-spec-dirs" not in config
    assert "default-runtime" not in config
    assert "nvidia" in json.loads(host.check_output("docker info --format '{{json .Runtimes}}'"))


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("--gpus all", [0, 1]),
        ("""--gpus '"device=1"'""", [1]),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all", [0, 1]),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=0", [0]),
    ],
)
def test_the_card_asked_for_is_the_card_seen(
    host: Host, cards: list[str], way: str, expected: list[int]
) -> None:
    seen = host.check_output(f"docker run {UNPRIVILEGED} {way} {IMAGE} nvidia-smi -L")
    assert uuids(seen) == [cards[index] for index in expected]


def test_without_asking_there_is_no_card(host: Host) -> None:
    assert host.run(f"docker run {UNPRIVILEGED} {IMAGE} sh -c 'ls /dev/nvidia0'").rc == 2


def test_the_evidence_fails_in_what_was_expected_and_nothing_else(name: str) -> None:
    found = lab.findings(lab.EVIDENCE / name)
    assert {f["id"] for f in found if f["status"] == "fail"} == {"framework.cpu-build"}
    assert sum(f["status"] == "pass" for f in found) > 15


def test_the_evidence_says_that_the_driver_is_old(name: str) -> None:
    said = {f["id"]: f["status"] for f in lab.findings(lab.EVIDENCE / name)}
    assert said["driver.branch"] == "warn"
    assert said["driver.security-floor"] == "warn"
