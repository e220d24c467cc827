"""Raw assertions on the converged host: plain commands, nothing of the verify package."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

Host = Any
PACKAGES = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
UNPRIVILEGED = "--rm --pull=never --network=none --cap-drop=ALL --security-opt=no-new-privileges"


@pytest.fixture
def image() -> str:
    """Return the race image's name that stays."""
    return "gpu-host/race:latest"


@pytest.fixture(scope="module")
def cards(host: Host) -> list[str]:
    """Return the UUIDs that the host's nvidia-smi lists."""
    return uuids(host.check_output("nvidia-smi -L"))


def uuids(text: str) -> list[str]:
    return re.findall(r"UUID: (GPU-[0-9a-f-]+)", text)


def test_two_cards_and_they_say_simulated(host: Host, cards: list[str]) -> None:
    assert len(set(cards)) == 2
    assert host.check_output("nvidia-smi -L").count("simulated") == 2


def test_nvidia_smi_is_debians_own(host: Host) -> None:
    assert host.package("nvidia-smi").is_installed
    # The simulated host's root file system leaves documentation out.
    changed = host.run("dpkg --verify nvidia-smi").stdout.splitlines()
    assert [line for line in changed if "/usr/share/doc/" not in line] == []


def test_engine_runs_and_is_enabled(host: Host) -> None:
    assert host.service("docker").is_running
    assert host.service("docker").is_enabled


def test_four_packages_of_one_version(host: Host) -> None:
    assert {host.package(package).version for package in PACKAGES} == {"1.20.2-1"}


def test_runtime_in_the_file_and_in_the_running_daemon(host: Host) -> None:
    config = json.loads(host.file("/etc/docker/daemon.json").content_string)
    assert config["runtimes"]["nvidia"]["path"] == "nvidia-container-runtime"
    assert "default-runtime" not in config
    assert "nvidia" in json.loads(host.check_output("docker info --format '{{json .Runtimes}}'"))


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("--gpus all", [0, 1]),
        ("""--gpus '"device=0"'""", [0]),
        ("""--gpus '"device=1"'""", [1]),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=all", [0, 1]),
        ("--runtime=nvidia -e NVIDIA_VISIBLE_DEVICES=1", [1]),
        ("--device nvidia.com/gpu=all", [0, 1]),
        ("--device nvidia.com/gpu=1", [1]),
    ],
)
def test_the_card_asked_for_is_the_card_seen(
    host: Host, image: str, cards: list[str], way: str, expected: list[int]
) -> None:
    seen = host.check_output(f"docker run {UNPRIVILEGED} {way} {image} nvidia-smi -L")
    assert uuids(seen) == [cards[index] for index in expected]


def test_without_asking_there_is_no_card(host: Host, image: str) -> None:
    # 2 is ls's own answer and 127 the shell's: the container did run.
    assert host.run(f"docker run {UNPRIVILEGED} {image} sh -c 'ls /dev/nvidia0'").rc == 2
    assert host.run(f"docker run {UNPRIVILEGED} {image} sh -c 'nvidia-smi -L'").rc == 127


def test_torch_in_the_container_says_that_it_is_a_cpu_build(host: Host, image: str) -> None:
    program = "import torch; print(torch.version.cuda, torch.cuda.is_available())"
    said = host.check_output(f'docker run {UNPRIVILEGED} --gpus all {image} python3 -c "{program}"')
    assert said.split() == ["None", "False"]


def test_what_is_ours_is_written_down(host: Host) -> None:
    file = host.file("/var/lib/gpu-host/owned.json")
    assert (file.mode, file.user, file.group) == (0o644, "root", "root")
    roles = json.loads(file.content_string)["roles"]
    assert "nvidia-smi" in roles["nvidia_driver"]["packages"]
    assert "docker.io" in roles["docker_engine"]["packages"]
    assert set(PACKAGES) <= set(roles["nvidia_container_toolkit"]["packages"])


def test_no_container_is_left_over(host: Host) -> None:
    assert host.check_output("docker ps --all --quiet") == ""
