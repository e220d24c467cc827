"""Undo, last of all: what the roles brought goes, and the host is as bare as before."""

from __future__ import annotations

from typing import Any

import lab

Host = Any


def recap(text: str, name: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(name) and "changed=" in line)


def test_remove_takes_back_what_was_brought_and_a_second_one_nothing(host: Host, name: str) -> None:
    brought = ["docker.io", "nvidia-smi", "libnvidia-ml1", "nvidia-container-toolkit", "libnvidia-container1"]
    assert all(host.package(package).is_installed for package in brought)
    first = lab.play("remove")
    assert first.returncode == 0, first.stdout[-3000:]
    assert [package for package in brought if host.package(package).is_installed] == []
    for path in ("/etc/docker/daemon.json", "/etc/apt/sources.list.d/nvidia-container-toolkit.sources"):
        assert not host.file(path).exists
    assert not host.file("/var/lib/gpu-host/owned.json").exists
    second = lab.play("remove")
    assert second.returncode == 0, second.stdout[-3000:]
    assert "changed=0" in recap(second.stdout, name)
