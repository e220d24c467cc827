"""What stands in the way of a change: other installers at work, a full disk, half a package, the clock."""

from __future__ import annotations

import json
import re
import time
from typing import Any

from .gpu_host_apt_state import TRIGGERED, cut_off

OWNED = "/var/lib/gpu-host/owned.json"

LOCKS = (
    "/var/lib/dpkg/lock-frontend",
    "/var/lib/dpkg/lock",
    "/var/lib/apt/lists/lock",
    "/var/cache/apt/archives/lock",
    "/var/lib/rpm/.rpm.lock",
    "/usr/lib/sysimage/rpm/.rpm.lock",
)
# dnf 4 writes its process id into these instead of locking them.
PID_LOCKS = ("/var/cache/dnf/metadata_lock.pid", "/var/lib/dnf/rpmdb_lock.pid", "/run/dnf/rpmdb_lock.pid")
# unpacked, half configured, half installed; dpkg settles waiting triggers by itself with the next package.
HALF = re.compile(r"^[a-z](?P<state>[UFH])(?P<again>.?)\s+(?P<name>\S+)$|^[a-z][a-zA-Z]R\s+(?P<broken>\S+)$")
PLACES = ("/", "/usr", "/var", "/boot", "/tmp")  # noqa: S108  # measured, not used
APT_SOURCES = ("/etc/apt/sources.list", "/etc/apt/sources.list.d/*.list", "/etc/apt/sources.list.d/*.sources")
DNF_SOURCES = ("/etc/yum.repos.d/*.repo",)
OURS = ("nvidia-container-toolkit.sources", "nvidia-container-toolkit.repo")
TOOLKIT = re.compile(r"^(?!\s*#).*\bnvidia\.github\.io/", re.MULTILINE)
PROXIES = (
    "/etc/apt/apt.conf",
    "/etc/apt/apt.conf.d/*",
    "/etc/dnf/dnf.conf",
    "/etc/yum.conf",
    "/etc/environment",
)
SHOWN = 6


def cloud_init(look: Any) -> dict[str, str] | None:
    """Return cloud-init's state and words, None where it is absent. Status 2 is done, with complaints."""
    if not look.which("cloud-init"):
        return None
    rc, said = look.run(["cloud-init", "status", "--long"], 10.0)
    found = re.search(r"^status:\s*(.+)$", said, re.MULTILINE)
    status = found.group(1).strip() if found else "unknown"
    extended = re.search(r"^extended_status:\s*(.+)$", said, re.MULTILINE)
    if status == "done" and (rc == 2 or (extended and "degraded" in extended.group(1))):  # noqa: PLR2004
        status = "degraded"
    # Old versions go on saying "running" for ever where their last stage was killed.
    detail = re.search(r"^detail:\s*(.*)$", said, re.MULTILINE)
    return {"status": status, "says": " ".join((detail.group(1) if detail else "").split())}


def held_locks(look: Any) -> list[dict[str, Any]]:
    """Name who holds the package manager's locks now, as the kernel's own list of locks says it."""
    rows = [line.split() for line in (look.text("/proc/locks") or "").splitlines() if "->" not in line]
    # number: kind, mode, READ or WRITE, process, device:inode, start, end
    by_inode = {row[5].rsplit(":", 1)[-1]: row[4] for row in rows if len(row) > 6}  # noqa: PLR2004
    found = []
    for path in LOCKS:
        pid = by_inode.get(str(look.inode(path)))
        if pid:
            found.append({"path": path, "pid": int(pid), "holder": process(look, pid)})
    for path in PID_LOCKS:
        pid = (look.text(path) or "").strip()
        if pid.isdigit() and look.exists(f"/proc/{pid}/comm"):
            found.append({"path": path, "pid": int(pid), "holder": process(look, pid)})
    return found


def process(look: Any, pid: str) -> str:
    """Name a process; apt's own programs say little, the script that called them says more."""
    words = [word for word in (look.text(f"/proc/{pid}/cmdline") or "").split("\0") if word]
    scripts = [word.rsplit("/", 1)[-1] for word in words[1:2] if word.startswith("/")]
    return (scripts or [(look.text(f"/proc/{pid}/comm") or "").strip() or "a process"])[0]


def owned(look: Any) -> set[str]:
    """Return the packages that are ours by the ownership file."""
    try:
        roles = json.loads(look.text(OWNED) or "{}").get("roles", {}).values()
        return {name for role in roles for name in role.get("packages", [])}
    except (ValueError, AttributeError, TypeError):
        return set()


def half_configured(look: Any) -> tuple[list[str], list[str]]:
    """Return packages left half installed: others', and ours (an interrupted run; the next one ends it)."""
    if not look.which("dpkg-query"):
        return [], []
    rc, out = look.run(
        ["dpkg-query", "--show", "--showformat", "${db:Status-Abbrev} ${binary:Package}\n"], 20.0
    )
    matches = [HALF.match(line.strip()) for line in out.splitlines()] if rc == 0 else []
    names = sorted({(found["name"] or found["broken"]).split(":")[0] for found in matches if found})
    ours = owned(look)
    if set(names) - ours:
        # What was whole, and was cut off serving the trigger of one of these, is not the work of others.
        ours = ours | cut_off(look.run(["dpkg-query", "--show", TRIGGERED], 20.0)[1])
    return [name for name in names if name not in ours], [name for name in names if name in ours]


def mount_of(path: str, mounts: list[str]) -> str:
    """Return the mount point that a path lies below."""
    below = [point for point in mounts if path == point or path.startswith(point.rstrip("/") + "/")]
    return max(below, key=len, default="/")


def file_systems(look: Any) -> list[dict[str, Any]]:
    """Return what is free where packages, modules and images go: one row a mount point."""
    rows = [line.split() for line in (look.text("/proc/self/mountinfo") or "").splitlines()]
    mounts = {row[4].replace("\\040", " "): row[5] for row in rows if len(row) > 5}  # noqa: PLR2004
    try:
        root = json.loads(look.text("/etc/docker/daemon.json") or "{}").get("data-root")
    except (ValueError, AttributeError):
        root = None
    images = root if isinstance(root, str) and root.startswith("/") else "/var/lib/docker"
    found: dict[str, dict[str, Any]] = {}
    for path in dict.fromkeys((*PLACES, images, "/var/lib/containerd", "/var/cache/apt/archives")):
        point = mount_of(path, list(mounts))
        space = look.space(point)
        if space:
            row = found.setdefault(point, {"mount": point, "paths": [], **space})
            row["read_only"] = "ro" in mounts.get(point, "").split(",")
            row["paths"].append(path)
    return [{**row, "images": images in row["paths"]} for row in found.values()]


def sources(look: Any) -> tuple[list[str], list[str]]:
    """Return the hosts and the components of the package sources that are in use."""
    hosts: list[str] = []
    components: list[str] = []
    for path in (path for pattern in (*APT_SOURCES, *DNF_SOURCES) for path in look.paths(pattern)):
        for line in (look.text(path) or "").splitlines():
            words = line.split()
            hosts += re.findall(r"^[^#]*https?://(?:[^@/\s]*@)?([\w.-]+)", line)
            if words[:1] == ["deb"]:
                bare = re.sub(r"\[.*?\]", "", line).split()
                components += bare[3:]
            elif words[:1] == ["Components:"]:
                components += words[1:]
    return list(dict.fromkeys(hosts)), sorted(set(components))


def toolkit_sources(look: Any) -> list[str]:
    """Return source files, other than ours, that name NVIDIA's toolkit: apt may read none with them."""
    paths = (path for pattern in (*APT_SOURCES, *DNF_SOURCES) for path in look.paths(pattern))
    return [
        path
        for path in paths
        if path.rpartition("/")[2] not in OURS and TOOLKIT.search(look.text(path) or "")
    ]


def has_proxy(look: Any) -> bool:
    """Tell whether the host's package manager goes through a proxy, which then resolves the names."""
    texts = [look.text(path) or "" for pattern in PROXIES for path in look.paths(pattern)]
    said = re.compile(
        r"^\s*(Acquire::https?::proxy\s|proxy\s*=\s*\S|https?_proxy=\S)", re.MULTILINE | re.IGNORECASE
    )
    return any(said.search(text) for text in texts)


def pending(look: Any) -> dict[str, Any]:
    """Return what has to be waited for or repaired before anything is changed."""
    others, ours = half_configured(look)
    hosts, components = sources(look)
    return {
        "cloud_init": cloud_init(look),
        "locks": held_locks(look),
        "half_configured": others,
        "half_configured_ours": ours,
        "file_systems": file_systems(look),
        "epoch": time.time(),
        "source_hosts": hosts[:SHOWN],
        "components": components,
        "toolkit_sources": toolkit_sources(look),
        "proxy": has_proxy(look),
    }
