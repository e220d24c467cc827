"""Thirty checks of a provisioned simulated host, as people write them with testinfra.

The yardstick of ``benchmarks.verification``, and no test of this project: each asks for what gpu-verify also
judges from its recording of the host. No container is started.
"""

# ruff: noqa: S101
from __future__ import annotations

import json
from typing import Any

import pytest

Host = Any
TOOLKIT = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
DRIVER = ("nvidia-smi", "libcuda1", "libnvidia-ml1")


@pytest.mark.parametrize("name", TOOLKIT)
def test_toolkit_is_installed(host: Host, name: str) -> None:
    assert host.package(name).is_installed


def test_toolkit_is_of_one_version(host: Host) -> None:
    assert host.package(TOOLKIT[0]).version == host.package(TOOLKIT[3]).version


@pytest.mark.parametrize("name", DRIVER)
def test_driver_is_installed(host: Host, name: str) -> None:
    assert host.package(name).is_installed


def test_driver_is_of_one_version(host: Host) -> None:
    assert host.package("libcuda1").version == host.package("libnvidia-ml1").version


def test_engine_is_installed(host: Host) -> None:
    assert host.package("docker.io").is_installed


def test_engine_runs(host: Host) -> None:
    assert host.service("docker").is_running


def test_engine_is_enabled(host: Host) -> None:
    assert host.service("docker").is_enabled


def test_containerd_runs(host: Host) -> None:
    assert host.service("containerd").is_running


def test_engine_answers(host: Host) -> None:
    assert host.run("docker info").rc == 0


def test_engine_knows_the_runtime(host: Host) -> None:
    assert "nvidia" in json.loads(host.check_output("docker info --format '{{json .Runtimes}}'"))


def test_image_is_there(host: Host) -> None:
    assert host.run("docker image inspect gpu-host/race:latest").rc == 0


def test_no_container_is_left(host: Host) -> None:
    assert host.check_output("docker ps --all --quiet --filter name=gpu-host-run-") == ""


def test_engine_s_file_has_the_runtime(host: Host) -> None:
    config = json.loads(host.file("/etc/docker/daemon.json").content_string)
    assert config["runtimes"]["nvidia"]["path"] == "nvidia-container-runtime"


def test_runtime_s_file_is_there(host: Host) -> None:
    assert host.file("/etc/nvidia-container-runtime/config.toml").is_file


def test_cdi_names_the_cards(host: Host) -> None:
    assert host.file("/var/run/cdi/nvidia.yaml").contains("nvidia.com/gpu")


def test_cdi_lists_the_cards(host: Host) -> None:
    assert "nvidia.com/gpu=all" in host.check_output("nvidia-ctk cdi list")


def test_toolkit_answers(host: Host) -> None:
    assert host.run("nvidia-ctk --version").rc == 0


def test_repository_is_there(host: Host) -> None:
    assert host.file("/etc/apt/sources.list.d/nvidia-container-toolkit.sources").exists


def test_repository_s_key_is_there(host: Host) -> None:
    assert host.file("/usr/share/keyrings/nvidia-container-toolkit-keyring.gpg").exists


@pytest.mark.parametrize("name", ["/dev/nvidia0", "/dev/nvidiactl"])
def test_device_is_there(host: Host, name: str) -> None:
    assert host.file(name).exists


def test_driver_answers(host: Host) -> None:
    assert host.run("nvidia-smi").rc == 0


def test_cards_are_listed(host: Host) -> None:
    assert "GPU 0:" in host.check_output("nvidia-smi -L")


def test_kernel_s_driver_is_the_user_space_s(host: Host) -> None:
    version = host.check_output("nvidia-smi --query-gpu=driver_version --format=csv,noheader").split()[0]
    assert host.file("/proc/driver/nvidia/version").contains(version)


def test_driver_s_library_is_found(host: Host) -> None:
    assert "libcuda.so.1" in host.check_output("ldconfig -p")
