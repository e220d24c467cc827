"""The Docker Engine: installed, running, answering, and what the running daemon says of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from verify.facts.engine_said import last_word, said, said_lines
from verify.facts.version import Version
from verify.json_values import as_list, as_object, as_text, json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import CommandEntry, Recording

_DENIED = re.compile(r"permission denied", re.IGNORECASE)
_PODMAN = re.compile(r"Emulate Docker CLI using podman|/podman\b")


class Stranger(StrEnum):
    """A daemon that does not read this system's daemon.json."""

    DESKTOP = "desktop"
    SNAP = "snap"
    ROOTLESS = "rootless"


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """``answers`` is about the daemon; a client alone also prints an info. ``described``: with its info.

    ``stranger`` names a daemon that does not read this system's daemon.json; ``hooked`` are the running
    containers whose card the toolkit's hook may have given. ``root`` is where it keeps its data,
    ``containerd_images`` whether its images are in containerd's store; ``contexts`` are the engines that
    the client knows, the one in use first.
    """

    recorded: bool
    client: bool
    daemon_installed: bool | None
    described: bool
    answers: bool
    timed_out: bool
    denied: bool
    unit_state: str | None
    socket_state: str | None
    version: Version | None
    runtimes: Mapping[str, str]
    default_runtime: str | None
    cdi_dirs: tuple[str, ...] | None
    cdi_devices: tuple[str, ...]
    cgroup_driver: str | None
    hooked: tuple[str, ...]
    rootless: bool
    rootless_sockets: tuple[str, ...]
    stranger: Stranger | None
    podman: bool
    root: str | None
    containerd_images: bool
    contexts: tuple[str, ...]
    log: str | None
    evidence: tuple[str, ...]
    said: str

    @property
    def nvidia_is_default(self) -> bool:
        """Whether containers that ask for nothing run in NVIDIA's runtime."""
        default = self.default_runtime or ""
        return default == "nvidia" or "nvidia-container-runtime" in self.runtimes.get(default, "")


def engine_facts(recording: Recording) -> EngineFacts:
    """Read what the engine, its unit and its client say."""
    version, info = recording.command("docker-version"), recording.command("docker-info")
    asked = [entry for entry in (info, version) if entry]
    document = _info(info)
    unit, socket = (
        _properties(recording.command("docker-show")),
        _properties(recording.command("docker-socket-show")),
    )
    lead = info or version
    return EngineFacts(
        recorded=bool(asked),
        client=any(not entry.missing for entry in asked),
        daemon_installed=_installed(recording, unit),
        described=bool(document),
        answers=bool(document) or (info is None and _version(version, document) is not None),
        timed_out=any(entry.timed_out for entry in asked),
        denied=any(_DENIED.search(entry.said) for entry in asked),
        unit_state=unit.get("ActiveState"),
        socket_state=socket.get("ActiveState"),
        version=_version(version, document),
        runtimes=_runtimes(document),
        default_runtime=as_text(document.get("DefaultRuntime")),
        cdi_dirs=_cdi_dirs(document),
        cdi_devices=_cdi_devices(document),
        cgroup_driver=as_text(document.get("CgroupDriver")),
        hooked=_hooked(recording.command("docker-ps")),
        rootless=_rootless(document),
        rootless_sockets=_rootless_sockets(recording),
        stranger=_stranger(document),
        podman=any(_PODMAN.search(entry.stderr) for entry in asked)
        or recording.links.get("/usr/bin/docker", "").endswith("podman"),
        root=as_text(document.get("DockerRootDir")),
        containerd_images="io.containerd.snapshotter" in str(document.get("DriverStatus")),
        contexts=_contexts(recording.command("docker-context")),
        log=last_word(recording.command("docker-log")),
        evidence=tuple(said_lines(asked, unit, socket, document)),
        said=said(lead),
    )


def _info(entry: CommandEntry | None) -> Mapping[str, Any]:
    """Return docker's info; a client without its daemon prints an info without a server, and may exit 0."""
    document = json_object(entry.stdout) if entry and not entry.timed_out else None
    if not document or document.get("ServerErrors") or not document.get("ServerVersion"):
        return {}
    return document


def _version(entry: CommandEntry | None, info: Mapping[str, Any]) -> Version | None:
    server = as_object((json_object(entry.stdout if entry else "") or {}).get("Server"))
    return Version.parse(as_text(info.get("ServerVersion"))) or Version.parse(as_text(server.get("Version")))


def _runtimes(info: Mapping[str, Any]) -> Mapping[str, str]:
    return {
        name: as_text(as_object(entry).get("path")) or as_text(as_object(entry).get("runtimeType")) or ""
        for name, entry in as_object(info.get("Runtimes")).items()
    }


def _cdi_dirs(info: Mapping[str, Any]) -> tuple[str, ...] | None:
    if "CDISpecDirs" not in info:
        return None
    return tuple(str(path) for path in as_list(info["CDISpecDirs"]))


def _cdi_devices(info: Mapping[str, Any]) -> tuple[str, ...]:
    devices = (as_object(device) for device in as_list(info.get("DiscoveredDevices")))
    names = (as_text(device.get("ID")) for device in devices if device.get("Source") == "cdi")
    return tuple(name for name in names if name and name.startswith("nvidia.com/gpu="))


def _hooked(entry: CommandEntry | None) -> tuple[str, ...]:
    """Name the running containers that asked for a card by ``--gpus``, in the order of their names."""
    rows = (json_object(line) or {} for line in (entry.stdout if entry and entry.ok else "").splitlines())
    return tuple(
        sorted(
            str(row.get("name")).lstrip("/")
            for row in rows
            if any(as_object(asked).get("Driver") != "cdi" for asked in as_list(row.get("device_requests")))
        )
    )


def _rootless(info: Mapping[str, Any]) -> bool:
    return any("name=rootless" in str(option) for option in as_list(info.get("SecurityOptions")))


def _rootless_sockets(recording: Recording) -> tuple[str, ...]:
    return tuple(
        str(path)
        for pattern, paths in recording.globs.items()
        if pattern.endswith("/docker.sock")
        for path in paths
    )


def _stranger(info: Mapping[str, Any]) -> Stranger | None:
    if info.get("OperatingSystem") == "Docker Desktop":
        return Stranger.DESKTOP
    if str(info.get("DockerRootDir") or "").startswith("/var/snap/"):
        return Stranger.SNAP
    return Stranger.ROOTLESS if _rootless(info) else None


def _contexts(entry: CommandEntry | None) -> tuple[str, ...]:
    rows = [json_object(line) or {} for line in (entry.stdout if entry and entry.ok else "").splitlines()]
    rows.sort(key=lambda row: row.get("Current") is not True)
    return tuple(str(row["Name"]) for row in rows if as_text(row.get("Name")))


def _properties(entry: CommandEntry | None) -> dict[str, str]:
    lines = entry.stdout.splitlines() if entry and entry.ok else []
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name: value for name, _, value in pairs}


def _installed(recording: Recording, unit: Mapping[str, str]) -> bool | None:
    if unit.get("LoadState") == "loaded":
        return True
    there = [
        recording.paths[path] for path in ("/usr/bin/dockerd", "/usr/sbin/dockerd") if path in recording.paths
    ]
    if any(there):
        return True
    return False if unit.get("LoadState") == "not-found" else None
