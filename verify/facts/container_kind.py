"""Whether a "host" is itself a container, as many rented offers are, and of which kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, file_text

if TYPE_CHECKING:
    from verify.recording import Recording

_INIT = "/proc/1/comm"
_CGROUP = "/proc/1/cgroup"
_MOUNTS = "/proc/mounts"
_MARKS = (("/run/.containerenv", "podman"), ("/.dockerenv", "docker"))
# What the control group of PID 1, or the storage below its root, is called under each technique.
_TRACES = (
    ("kubernetes", ("/kubepods", "/kubelet/pods/")),
    ("docker", ("/docker/", "/docker-", "/var/lib/docker/")),
    ("podman", ("/libpod-", "/libpod_", "/containers/storage/")),
    ("containerd", ("containerd.snapshotter", "/var/lib/containerd/", "/cri-containerd-")),
    ("lxc", ("/lxc/", "/lxc.payload", "lxcfs /proc/")),
)
_SYSTEMS = frozenset({"systemd", "init"})
_ROOT = re.compile(r"^\S+ / \S+ .*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ContainerKind:
    """The technique, and the line that shows it."""

    container: str
    evidence: str


def container_kind(recording: Recording) -> ContainerKind | None:
    """Name the technique; a container with systemd as its init is a machine here: it has services."""
    if recording.where != "host" or recording.simulated:
        return None
    init = (file_text(recording, _INIT) or "").strip()
    if init in _SYSTEMS:
        return None
    for path, name in _MARKS:
        if file_text(recording, path) is not None:
            return ContainerKind(name, cite(path, "present"))
    group = file_text(recording, _CGROUP) or ""
    root = _ROOT.search(file_text(recording, _MOUNTS) or "")
    mounted = root.group(0) if root else ""
    for name, marks in _TRACES:
        for path, text in ((_CGROUP, group), (_MOUNTS, mounted)):
            if any(mark in text for mark in marks):
                line = next(line for line in text.splitlines() if any(mark in line for mark in marks))
                return ContainerKind(name, cite(path, line))
    # A pod may leave no other mark than its root, which is an overlay, and an init that is no init.
    if init and mounted.split()[2:3] == ["overlay"]:
        return ContainerKind("unnamed", cite(_MOUNTS, mounted))
    return None
