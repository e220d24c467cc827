"""What kind of machine this is: lab host, rented host, container, WSL; its system and kernel."""

from __future__ import annotations

import shlex
from typing import Any


def os_release(text: str | None) -> dict[str, str]:
    """Parse os-release; lines that are no assignment are left out."""
    values = {}
    for line in (text or "").splitlines():
        key, assigned, raw = line.strip().partition("=")
        if assigned and key.isidentifier():
            try:
                values[key] = " ".join(shlex.split(raw))
            except ValueError:  # an unbalanced quote: the rest of the file still counts
                continue
    return values


def container_of(look: Any) -> str | None:
    """Name the container technique this runs in, None on a machine of its own."""
    named = (look.text("/run/systemd/container") or "").strip()
    if named:
        return named
    for entry in (look.text("/proc/1/environ") or "").split("\0"):
        if entry.startswith("container="):
            return entry.partition("=")[2] or "unnamed"
        if entry.startswith("KUBERNETES_SERVICE_HOST="):
            return "kubernetes"
    if look.exists("/.dockerenv"):
        return "docker"
    if look.exists("/run/.containerenv"):
        return "podman"
    # A pod started by containerd leaves no marker; its root is an overlay all the same.
    mounts = (look.text("/proc/self/mounts") or "").splitlines()
    overlay = any(line.split()[1:3] == ["/", "overlay"] for line in mounts)
    return "unnamed" if overlay and not look.exists("/run/systemd/system") else None


def kind_of(look: Any) -> tuple[str, str]:
    """Return the kind of machine and the observation that says so."""
    if look.exists("/etc/gpu-host/simulated"):
        return "simulated", "/etc/gpu-host/simulated exists"
    kernel = (look.text("/proc/sys/kernel/osrelease") or "").strip()
    if "microsoft" in kernel.lower():
        return "wsl", f"kernel {kernel}"
    container = container_of(look)
    if container and look.exists("/run/systemd/system"):
        return "system-container", f"container ({container}) with systemd as its init"
    if container:
        return "rented-container", f"container ({container}) without systemd"
    if " hypervisor" in (look.text("/proc/cpuinfo") or ""):
        maker = (look.text("/sys/class/dmi/id/sys_vendor") or "unknown maker").strip()
        product = (look.text("/sys/class/dmi/id/product_name") or "").strip()
        return "rented", f"virtual machine ({maker} {product})".replace(" )", ")")
    return "lab", "neither a container nor a virtual machine"


def machine(look: Any, *, uid: int, architecture: str) -> dict[str, Any]:
    release = os_release(look.text("/etc/os-release"))
    kind, because = kind_of(look)
    return {
        "kind": kind,
        "because": because,
        "os": release.get("ID", "unknown"),
        "os_version": release.get("VERSION_ID", ""),
        "os_name": release.get("PRETTY_NAME", "an unknown operating system"),
        "architecture": architecture,
        "kernel": (look.text("/proc/sys/kernel/osrelease") or "").strip(),
        "systemd": look.exists("/run/systemd/system"),
        "init": (look.text("/proc/1/comm") or "unknown").strip(),
        "root": uid == 0,
    }
