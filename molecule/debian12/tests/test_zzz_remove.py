"""Undo, last of all: the host has the packages that it had before."""

from __future__ import annotations

from typing import Any

import lab

Host = Any


def test_remove_leaves_nothing_that_was_brought(host: Host) -> None:
    done = lab.play("remove")
    assert done.returncode == 0, done.stdout[-3000:]
    left = host.check_output("dpkg-query -W -f '${Package} ${db:Status-Status}\\n'").splitlines()
    ours = ("docker", "containerd", "runc", "nvidia", "libnvidia", "libcuda")
    assert [line for line in left if line.startswith(ours) and line.endswith(" installed")] == []
    for path in ("/etc/docker/daemon.json", "/etc/apt/sources.list.d/nvidia-container-toolkit.sources"):
        assert not host.file(path).exists
    assert not host.file("/var/lib/gpu-host/owned.json").exists
