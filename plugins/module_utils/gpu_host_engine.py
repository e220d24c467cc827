"""The container engine that is there: whose it is, what its daemon reads, and what would stop with it."""

from __future__ import annotations

import json
import re
from typing import Any

from .gpu_host_daemon_cgroups import CONFIG as TOOLKIT_CONFIG
from .gpu_host_daemon_cgroups import no_cgroups
from .gpu_host_daemon_flags import command_line, flags, values

UNITS = ("docker.service", "snap.docker.dockerd.service", "kubelet.service")
CONFIG = "/etc/docker/daemon.json"
SOCKET = "unix:///var/run/docker.sock"
SHOWN = 12
# What of a container tells that it holds a card.
CONTAINER = "{{json .Name}}\t" + " ".join(
    f"{{{{json .HostConfig.{field}}}}}" for field in ("Runtime", "DeviceRequests", "Devices")
)


def engine(look: Any) -> dict[str, Any]:
    """Look at the engine without a word to a socket that would start it."""
    client, daemon = look.which("docker"), look.which("dockerd")
    real = look.real(client) if client else ""
    rc, said = look.run(["docker", "--version"], 5.0) if client else (None, "")
    shown = re.search(r"version (\S+?),? ", f"{said} ")
    states = look.run(["systemctl", "is-active", *UNITS], 5.0)[1].splitlines()
    active, snapped, kubelet = (state == "active" for state in (*states, "", "", "")[:3])
    found = flags(command_line(unit(look), look.text))
    info = ask(look) if client and (active or snapped) else {}
    seen: dict[str, Any] = {
        "client": client,
        "daemon": daemon,
        "version": shown.group(1) if rc == 0 and shown else None,
        "active": active,
        "snap": real.startswith("/snap/") or real.endswith("/snap") or root_of(info).startswith("/var/snap/"),
        "snap_active": snapped,
        "podman": look.which("podman"),
        "podman_docker": is_podman(look, client, real, said),
        "desktop": sorted([*look.paths("/opt/docker-desktop"), *look.paths("/home/*/.docker/desktop")]),
        "rootless": look.paths("/run/user/*/docker.sock"),
        "kubelet": kubelet,
        "elsewhere": elsewhere(look),
        "config_file": (values(found, "config-file") or [CONFIG])[-1],
        # Each is name, value, and the words as they stand in the unit.
        "flags": [list(flag) for flag in found],
        "no_cgroups": no_cgroups(look.text(TOOLKIT_CONFIG)),
        "live_restore": bool(info.get("LiveRestoreEnabled")) if info else None,
        "containers_running": info.get("ContainersRunning") if info else None,
        **(containers(look) if info.get("ContainersRunning") else {"containers": [], "gpu_containers": []}),
    }
    kind, because = kind_of(seen, info)
    return {**seen, "kind": kind, "because": because}


def unit(look: Any) -> str:
    """Return the unit with its drop-ins; systemctl says where none is on its error output, in one line."""
    rc, text = look.run(["systemctl", "cat", "docker.service"], 5.0)
    return text if rc == 0 else ""


def ask(look: Any) -> dict[str, Any]:
    """Return the running daemon's own words; the socket is named, whatever context root has."""
    out = look.run(["docker", "-H", SOCKET, "info", "--format", "{{json .}}"])[1]
    for line in out.splitlines():
        try:
            info = json.loads(line)
        except ValueError:
            continue
        if isinstance(info, dict) and info.get("ServerVersion"):
            return info
    return {}


def root_of(info: dict) -> str:
    return str(info.get("DockerRootDir") or "")


def containers(look: Any) -> dict[str, list]:
    """Name the running containers, and those of them that hold a card."""
    ids = look.run(["docker", "-H", SOCKET, "ps", "--quiet"])[1].split()
    rc, out = (
        look.run(["docker", "-H", SOCKET, "inspect", "--format", CONTAINER, *ids]) if ids else (None, "")
    )
    rows = [line.partition("\t") for line in out.splitlines() if "\t" in line] if rc == 0 else []
    named = [(name.strip('"').lstrip("/"), held) for name, _, held in rows]
    return {
        "containers": sorted(name for name, _ in named),
        "gpu_containers": sorted(
            name for name, held in named if re.search(r'nvidia|"gpu"|"cdi"', held, re.IGNORECASE)
        ),
    }


def is_podman(look: Any, client: str | None, real: str, said: str) -> bool:
    """Tell whether the command docker is Podman's stand-in: a link or a small script that calls it."""
    if client is None:
        return False
    script = look.begins(client, 400) if "podman" not in real else ""
    return real.endswith("/podman") or "podman" in said.lower() or ("#!" in script and "podman" in script)


def elsewhere(look: Any) -> list[str]:
    """Name the users whose docker command talks to another daemon than this machine's."""
    found = []
    for home in ["/root", *look.paths("/home/*")]:
        try:
            context = json.loads(look.text(f"{home}/.docker/config.json") or "{}").get("currentContext")
        except (ValueError, AttributeError):
            continue
        if context and context != "default":
            found.append(f"{home.rsplit('/', 1)[-1]} uses the context {context}")
    set_for_all = re.search(
        r"^\s*(?:export\s+)?DOCKER_HOST=[\"']?(\S+?)[\"']?\s*$",
        look.text("/etc/environment") or "",
        re.MULTILINE,
    )
    if set_for_all and "/var/run/docker.sock" not in set_for_all.group(1):
        found.append(f"/etc/environment sets DOCKER_HOST to {set_for_all.group(1)}")
    return found


def kind_of(seen: dict, info: dict) -> tuple[str, str]:
    """Return which engine the roles would have to do with, and the observation that says so."""
    root, client = root_of(info), seen["client"]
    rootless, desktop = ([*seen[name], ""][0] for name in ("rootless", "desktop"))
    options = " ".join(map(str, info.get("SecurityOptions") or []))
    rows = (
        (seen["podman_docker"], "podman-docker", f"{client} is Podman's stand-in for docker"),
        (seen["active"] and seen["snap_active"], "two", "docker.service and the snap docker both run"),
        (seen["snap"], "snap", f"DockerRootDir is {root}" if root else f"{client} is a snap's"),
        (
            info.get("OperatingSystem") == "Docker Desktop",
            "desktop",
            "the daemon calls itself Docker Desktop",
        ),
        ("rootless" in options, "rootless", "the daemon says that it is rootless"),
        (
            rootless and not seen["active"],
            "rootless",
            f"{rootless} is there, and docker.service does not run",
        ),
        (seen["daemon"] and client, "engine", f"{seen['daemon']} and {client}"),
        (desktop, "desktop", f"{desktop} is there, and no dockerd"),
        (seen["daemon"], "daemon-only", f"{seen['daemon']} without the docker command"),
        (client, "client-only", f"{client} without a dockerd"),
        (seen["podman"], "podman", f"{seen['podman']}, and no Docker"),
        (True, "none", "neither docker nor dockerd"),
    )
    return next((kind, because) for seen_so, kind, because in rows if seen_so)


# Kinds whose daemon reads another file than the system's daemon.json, and what to say.
STRANGERS = {
    "snap": (
        "the Docker here is a snap ({because}), which keeps a daemon.json of its own and cannot load the "
        "toolkit's hook. Needed is a Docker Engine from packages: `snap remove docker` (its images go with "
        "it), then run again"
    ),
    "desktop": (
        "the Docker here is Docker Desktop ({because}): its daemon runs in a virtual machine, reads no file "
        "of this system and has no card. Needed is a Docker Engine of this system, which can stand beside "
        "it: set docker_engine_source: distro or docker"
    ),
    "rootless": (
        "Docker runs rootless here ({because}); it reads ~/.config/docker/daemon.json of its user, which "
        "these roles leave alone. Needed is the system's own engine, which can stand beside it: start it "
        "(`systemctl enable --now docker`), or install it (docker_engine_source: distro or docker), and run "
        "again"
    ),
    "podman-docker": (
        "{because}: there is no Docker Engine. Needed is one: remove the package podman-docker (Podman "
        "itself can stay) and run again; or leave this host to Podman, which takes cards by CDI "
        "(`podman run --device nvidia.com/gpu=all`), and out of this inventory"
    ),
    "two": (
        "two Docker Engines stand side by side ({because}), and which of them answers is chance. Needed is "
        "one: `snap remove docker` (its images go with it), then run again"
    ),
}


def stranger(found: dict) -> str | None:
    """Say why this daemon does not read the system's daemon.json; None where it does."""
    said = STRANGERS.get(found["kind"])
    return said.format(because=found["because"]) if said else None


def named(names: list) -> str:
    """List names, the first dozen of them."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
