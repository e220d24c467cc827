"""What kind of machine this is: lab host, rented host, container, WSL, board, node; its system and kernel."""

from __future__ import annotations

import platform
import shlex
from typing import Any

from .gpu_host_systems import base_of, family_of

# Bits of CapEff: a container without them can neither load a module nor mount anything.
CAPABILITIES = {"SYS_MODULE": 16, "SYS_ADMIN": 21}
# What the control group or the storage of PID 1 is called under each technique; the first that fits counts.
TRACES = (
    ("kubernetes", ("/kubepods", "/kubelet/pods/")),
    ("docker", ("/docker/", "/docker-", "/var/lib/docker/")),
    ("podman", ("/libpod-", "/libpod_", "/containers/storage/")),
    ("containerd", ("containerd.snapshotter", "/var/lib/containerd/", "/cri-containerd-")),
    ("lxc", ("/lxc/", "/lxc.payload", "/lxcfs")),
)


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


def traced(look: Any) -> str | None:
    """Name the technique by PID 1's control groups and by what its root lies on; None on a machine."""
    mounts = (look.text("/proc/self/mountinfo") or "").splitlines()
    # The root, and the files that an engine mounts over those of the image.
    own = ("/", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/proc/meminfo", "/proc/uptime")
    seen = [line for line in mounts if line.split()[4:5] and line.split()[4] in own]
    seen += (look.text("/proc/1/cgroup") or "").splitlines()
    for name, marks in TRACES:
        if any(mark in line for line in seen for mark in marks):
            return name
    return None


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
    marks = (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"))
    marked = next((name for path, name in marks if look.exists(path)), None) or traced(look)
    if marked:
        return marked
    # A pod started by containerd may leave no other mark than its root, which is an overlay.
    mounts = (look.text("/proc/self/mounts") or "").splitlines()
    overlay = any(line.split()[1:3] == ["/", "overlay"] for line in mounts)
    return "unnamed" if overlay and not look.exists("/run/systemd/system") else None


def missing_capabilities(look: Any) -> list[str]:
    """Name what this process may not do, in root's hands too; empty where nothing tells."""
    for line in (look.text("/proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            try:
                mask = int(line.split()[1], 16)
            except (IndexError, ValueError):
                return []
            return [name for name, bit in CAPABILITIES.items() if not mask >> bit & 1]
    return []


def without(look: Any) -> str:
    """Say what a container lacks, as an addition to a sentence."""
    lacks = missing_capabilities(look)
    return f", without {' and '.join(lacks)}" if lacks else ""


def kind_of(look: Any) -> tuple[str, str]:
    """Return the kind of machine and the observation that says so."""
    if look.exists("/etc/gpu-host/simulated"):
        return "simulated", "/etc/gpu-host/simulated exists"
    kernel = (look.text("/proc/sys/kernel/osrelease") or "").strip()
    if "microsoft" in kernel.lower():
        return "wsl", f"kernel {kernel}"
    container = container_of(look)
    if container and look.exists("/run/systemd/system"):
        return "system-container", f"container ({container}{without(look)}) with systemd as its init"
    if container:
        return "rented-container", f"container ({container}{without(look)}) without systemd"
    if " hypervisor" in (look.text("/proc/cpuinfo") or "") or look.exists("/sys/hypervisor/type"):
        maker = (look.text("/sys/class/dmi/id/sys_vendor") or "unknown maker").strip()
        product = (look.text("/sys/class/dmi/id/product_name") or "").strip()
        return "rented", f"virtual machine ({maker} {product})".replace(" )", ")")
    return "lab", "neither a container nor a virtual machine"


def jetson(look: Any) -> str | None:
    """Name the board where this is a Jetson: its driver is part of NVIDIA's system for it."""
    model = (look.text("/proc/device-tree/model") or "").strip("\0\n ")
    if look.exists("/etc/nv_tegra_release"):
        return model or "/etc/nv_tegra_release exists"
    named = any(word in model.lower() for word in ("jetson", "nvidia orin", "tegra"))
    return model if named else None


def kubernetes(look: Any) -> str | None:
    """Say what makes this a node of a Kubernetes cluster; None where it is none."""
    for path in (
        "/etc/kubernetes/kubelet.conf",
        "/var/lib/kubelet/config.yaml",
        "/var/lib/rancher/k3s",
        "/var/lib/rancher/rke2",
        "/var/snap/microk8s",
        "/var/lib/k0s",
    ):
        if look.exists(path):
            return f"{path} exists"
    return None


def dgx(look: Any) -> str | None:
    """Name the DGX release where NVIDIA made the whole system."""
    text = look.text("/etc/dgx-release")
    if text is None:
        return None
    values = os_release(text)
    return f"{values.get('DGX_PRETTY_NAME', 'DGX')} {values.get('DGX_SWBUILD_VERSION', '')}".strip()


def machine(look: Any, *, uid: int, architecture: str) -> dict[str, Any]:
    # Vendors put os-release in either place; the first is a link to the second on most.
    release = os_release(look.text("/etc/os-release") or look.text("/usr/lib/os-release"))
    kind, because = kind_of(look)
    version = release.get("VERSION_ID", "")
    like = release.get("ID_LIKE", "").split()
    return {
        "kind": kind,
        "because": because,
        "os": release.get("ID", "unknown"),
        "os_version": version,
        "os_name": release.get("PRETTY_NAME", "an unknown operating system"),
        "os_like": like,
        "codename": release.get("VERSION_CODENAME", ""),
        "major": version.partition(".")[0],
        "family": family_of(release.get("ID", ""), like),
        "base": base_of(release),
        "architecture": architecture,
        "kernel": (look.text("/proc/sys/kernel/osrelease") or "").strip(),
        "systemd": look.exists("/run/systemd/system"),
        "init": (look.text("/proc/1/comm") or "unknown").strip(),
        "root": uid == 0,
        "capabilities_missing": missing_capabilities(look),
        "python": platform.python_version(),
        "jetson": jetson(look),
        "kubernetes": kubernetes(look),
        "dgx": dgx(look),
    }
