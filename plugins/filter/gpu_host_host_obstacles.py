"""Ansible filter: what stands in the way of a plan: what ends by itself, what a person must see to. Pure."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

CLOCK_SECONDS = 300
INODES = 20_000
GIGA = 1_000_000_000
# Bytes by where they go, measured on Debian 13: headers in /usr, DKMS and the archives in /var.
NEEDS = {
    "driver": {"/usr": 300_000_000, "/var": 200_000_000},
    "desktop driver": {"/usr": 1_500_000_000, "/var": 500_000_000},
    "kernel module": {"/usr": 200_000_000, "/var": 300_000_000, "/boot": 100_000_000},
    "Docker Engine": {"/usr": 400_000_000, "/var": 150_000_000},
    "container toolkit": {"/usr": 50_000_000, "/var": 20_000_000},
}
WORKING = {"running", "not run", "not started"}


def host_obstacles(found: dict[str, Any], wanted: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
    """Return waits, warnings and refusals; while something is waited for, the rest may yet pass."""
    fetches = downloads(wanted, plan)
    waiting = waits(found) if plan.get("changes") else []
    asked = needs(found, wanted, plan)
    reasons = [
        clock(found, fetches=fetches),
        name_service(found, wanted, fetches=fetches),
        *disks(asked),
        half(found, plan),
        components(found, wanted),
    ]
    return {
        "waits": waiting,
        "warnings": warnings(found),
        "needs": asked,
        "refusals": [] if waiting or not plan.get("possible", True) else [said for said in reasons if said],
    }


def part(found: dict[str, Any], name: str) -> dict[str, Any]:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def entries(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = found.get(name)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def waits(found: dict[str, Any]) -> list[str]:
    """Name what is at work and will end by itself."""
    pending = part(found, "pending")
    said = ["cloud-init"] if part(pending, "cloud_init").get("status") in WORKING else []
    holders = {f"{lock.get('holder')} (process {lock.get('pid')})" for lock in entries(pending, "locks")}
    return said + [f"the package manager, held by {holder}" for holder in sorted(holders)]


def warnings(found: dict[str, Any]) -> list[str]:
    """Say what is wrong and stops nothing."""
    pending, said = part(found, "pending"), []
    cloud = part(pending, "cloud_init")
    if cloud.get("status") in ("error", "degraded"):
        said.append(
            f"cloud-init ended with status {cloud['status']}"
            + (f" ({cloud['says']})" if cloud.get("says") else "")
            + ": what it was told to set up may be missing (`cloud-init status --long`)."
        )
    if pending.get("half_configured_ours"):
        ours = ", ".join(pending["half_configured_ours"])
        said.append(f"An earlier run was interrupted: {ours} will be configured first.")
    return said


def downloads(wanted: dict[str, Any], plan: dict[str, Any]) -> bool:
    """Tell whether anything comes over the network: not where all is in folders and archives."""
    folders, image = part(wanted, "folders"), wanted.get("image_source") != "archive"
    local = {
        "driver": folders.get("driver"),
        "desktop driver": folders.get("driver"),
        "kernel module": folders.get("driver"),
        "Docker Engine": folders.get("engine"),
        "container toolkit": folders.get("toolkit"),
        "race image": not image,
    }
    return any(not local.get(name) for name in plan.get("parts") or [])


def needs(found: dict[str, Any], wanted: dict[str, Any], plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one entry a file system: what it must hold, for which parts, and what is free."""
    asked = []
    for system in entries(part(found, "pending"), "file_systems"):
        for_what = {}
        for name in plan.get("parts") or []:
            places = NEEDS.get(name, {})
            for_what[name] = sum(size for path, size in places.items() if path in system.get("paths", []))
        if "race image" in for_what and system.get("images"):
            for_what["race image"] = int(wanted.get("image_bytes") or 0)
        for_what = {name: size for name, size in for_what.items() if size}
        if for_what:
            asked.append({**system, "for": for_what, "need": sum(for_what.values())})
    return asked


def disks(needs: list[dict[str, Any]]) -> list[str]:
    said = []
    for system in needs:
        names = ", ".join(f"{name} {size / GIGA:.1f}" for name, size in system["for"].items())
        free, images = f"{system['free'] / GIGA:.1f}", "race image" in system["for"]
        where = system["mount"] + (", where Docker keeps its images," if images else "")
        if system.get("read_only"):
            said.append(
                f"The file system {where} is mounted read-only. Needed is one that can be written ({names} "
                "GB go there): `mount -o remount,rw`, or leave this host out of the inventory where its "
                "system is an image of its vendor's."
            )
        elif system["free"] < system["need"]:
            said.append(
                f"The file system {where} has {free} GB free. Needed are {system['need'] / GIGA:.1f} GB "
                f"({names}). Make room there or make it larger"
                + ("; or give Docker another data-root." if images else ".")
            )
        elif system.get("inodes") and system["inodes_free"] < INODES:
            said.append(
                f"The file system {where} has {system['inodes_free']} free inodes, though {free} GB are "
                f"free. Needed are {INODES}: delete what holds many small files there, or make it anew "
                "with more."
            )
    return said


def clock(found: dict[str, Any], *, fetches: bool) -> str:
    pending = part(found, "pending")
    here, there = pending.get("controller_epoch"), pending.get("epoch")
    if not fetches or not here or not there or abs(there - here) <= CLOCK_SECONDS:
        return ""
    minutes = round(abs(there - here) / 60)
    apart = f"{minutes} minutes" if minutes < 120 else f"{minutes // 60} hours"  # noqa: PLR2004  # two hours
    return (
        f"The clock is {apart} {'ahead of' if there > here else 'behind'} the controller's: certificates "
        "and signatures of package sources will not be valid by it. Needed is the right time on both: "
        "`timedatectl set-ntp true`, or set it by hand, and run again."
    )


def name_service(found: dict[str, Any], wanted: dict[str, Any], *, fetches: bool) -> str:
    pending = part(found, "pending")
    if not fetches or wanted.get("proxy") or pending.get("proxy"):
        return ""
    names = part(pending, "names")
    lost = [name for name, answer in names.items() if not answer]
    ours = [name for name in lost if name in repositories(wanted)]
    # One foreign name that is gone stops nothing; all of them gone is no name service.
    if not ours and (not names or len(lost) < len(names)):
        return ""
    return (
        f"{', '.join(ours or lost)} cannot be resolved on this host, and packages come from there. Needed "
        "is a name service: look at /etc/resolv.conf (`resolvectl status`); behind a proxy set the roles' "
        "…_proxy, with a mirror their …_repository_url."
    )


def repositories(wanted: dict[str, Any]) -> set[str]:
    """Return the hosts of the repositories that something will come from."""
    urls = []
    for other in plans(wanted).values():
        repository = other.get("repository") or ""
        urls.append(str(repository.get("url") or "") if isinstance(repository, dict) else str(repository))
    return {urlsplit(url).hostname or "" for url in urls if url}


def half(found: dict[str, Any], plan: dict[str, Any]) -> str:
    names = part(found, "pending").get("half_configured") or []
    if not names or not plan.get("installs"):
        return ""
    return (
        f"dpkg has left {', '.join(names)} half installed, and will try to end that with each further "
        "installation. Needed is a package system that is whole: `dpkg --configure -a` says what is "
        "wrong; repair that, and run again."
    )


def plans(wanted: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: plan for name, plan in part(wanted, "plans").items() if isinstance(plan, dict)}


def components(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    driver, base = plans(wanted).get("driver", {}), part(found, "machine").get("base") or {}
    seen = part(found, "pending").get("components") or []
    installs = driver.get("action") not in (None, "keep", "none")
    if base.get("os") != "debian" or driver.get("source") != "distro" or not installs:
        return ""
    missing = [name for name in ("non-free", "non-free-firmware") if name not in seen]
    # Where no source names components (flat mirrors, a cdrom), apt's own answer counts.
    if not seen or not missing:
        return ""
    return (
        f"The package sources of this host have {', '.join(seen)} and not {' and '.join(missing)}, where "
        f"Debian keeps NVIDIA's driver. Needed are both: add `{' '.join(missing)}` to the components in "
        "/etc/apt/sources.list.d/debian.sources (or /etc/apt/sources.list) and run again, or set "
        "nvidia_driver_source: nvidia."
    )


class FilterModule:
    """The filter, by name."""

    def filters(self) -> dict[str, Any]:
        """Return it."""
        return {"gpu_host_host_obstacles": host_obstacles}
