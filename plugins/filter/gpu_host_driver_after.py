"""Ansible filter: how a driver stands once all is done: it works, a reboot is due, or what is wrong. Pure."""

from __future__ import annotations

import re
from typing import Any

Row = dict[str, Any]
# What modprobe says where the kernel takes only signed modules: one text a kernel or a system.
REJECTED = ("Key was rejected by service", "Required key not available", "unavailable key is rejected")
NO_DEVICES = ("No devices were found", "No devices found")


def upstream(version: str) -> str:
    """Return NVIDIA's number in a package's version."""
    found = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version)
    return found[1] if found else ""


def built(driver: Row, kernel: str) -> bool:
    """Tell whether a kernel has a module: by DKMS's word and the file; apt's exit status does not tell."""
    states = [row["state"] for row in driver.get("dkms_rows") or [] if row["kernel"] == kernel]
    return "installed" in states or kernel in (driver.get("on_disk") or {})


def build_failure(found: Row, kernel: str) -> str:
    """Say that there is no module for a kernel, with the first error of its build."""
    driver = found["driver"]
    log = driver.get("build_log")
    shown = "; ".join(driver.get("dkms") or []) or "`dkms status` names none"
    start = f"DKMS has no built NVIDIA module for the kernel {kernel} ({shown})"
    if log:
        return (
            f"{start}. The first error in {log['path']}: {log['error'] or 'none is marked as one'}. Its "
            f"last lines: {' | '.join(log['last'][-3:])}. Needed is a driver that compiles for this "
            "kernel: another nvidia_driver_version, nvidia_driver_flavour or nvidia_driver_source, or an "
            "older kernel."
        )
    return (
        f"{start}; needed is a line that says installed. Package managers report success all the same. "
        f"Install the headers of {kernel}, run `dkms autoinstall -k {kernel}`, and read what it says."
    )


def reboot(found: Row, kernel: str) -> str:
    """Say why the driver on the disk cannot work before the next boot; empty where that is not the reason."""
    driver, now = found["driver"], str(found["machine"].get("kernel") or "")
    loaded, libraries = (driver.get("loaded") or {}).get("version"), driver.get("libraries") or []
    disk = [version for version in [(driver.get("on_disk") or {}).get(now), *libraries] if version]
    if loaded and disk and loaded not in disk:
        return f"loaded {loaded}, on disk {', '.join(dict.fromkeys(disk))}: reboot needed"
    if kernel != now:
        return f"the module is built for the kernel {kernel}, and {now} is running"
    holds = [card["address"] for card in found.get("cards") or [] if card.get("driver") == "nouveau"]
    if not loaded and (holds or driver.get("nouveau")):
        return f"nouveau holds the card {', '.join(holds)}".strip() + " until the next boot"
    return ""


def rejected(modprobe: str) -> str:
    line = next((line for line in modprobe.splitlines() if any(words in line for words in REJECTED)), "")
    if not line:
        return ""
    return (
        f"The kernel rejects the module ({line.strip()}): Secure Boot is on, and the key that signed it is "
        "not enrolled. Needed is a signature that the firmware trusts: enrol the key (`mokutil --import`, "
        "reboot, Enroll MOK at the console), take signed modules (nvidia_driver_secure_boot: signed, on "
        "Ubuntu), or switch Secure Boot off."
    )


def unserved(found: Row, plan: Row) -> str:
    """Say which module cannot drive the cards that are here."""
    driver = found["driver"]
    flavour = (driver.get("loaded") or {}).get("flavour")
    if not any(words in driver["says"] for words in NO_DEVICES):
        return ""
    shown = ", ".join(f"{card['address']} ({card['id']})" for card in found.get("cards") or [])
    return (
        f"nvidia-smi finds no card, though {shown} is on the bus and the {flavour or 'nvidia'} module "
        f"{plan['version']} is loaded. Needed is a module that drives it: an older card takes the "
        "proprietary one only (`dmesg | grep NVRM` says so). Set nvidia_driver_flavour: auto and "
        "nvidia_driver_replace: true."
    )


def fabric(found: Row, plan: Row) -> str:
    """Say why cards behind an NVSwitch cannot run CUDA."""
    driver, units = found["driver"], found["driver"].get("units") or {}
    if not plan["switches"]:
        return ""
    names = {
        n: upstream(v)
        for n, v in (driver.get("packages") or {}).items()
        if "fabricmanager" in n or "fabric-manager" in n
    }
    other = [f"{name} {version}" for name, version in names.items() if version != driver["version"]]
    if other:
        return (
            f"{', '.join(other)} is not of the driver's version {driver['version']}: CUDA would say 802. "
            "Needed is the same: set nvidia_driver_version to that of the driver, or upgrade both."
        )
    if units.get("nvidia-fabricmanager") != "active":
        return (
            f"There is an NVSwitch ({', '.join(plan['switches'])}) and nvidia-fabricmanager is "
            f"{units.get('nvidia-fabricmanager', 'not installed')}: CUDA would say 802. Needed is that it "
            "runs: `journalctl -u nvidia-fabricmanager` says why it does not."
        )
    return ""


def to_hold(driver: Row, plan: Row) -> list[str]:
    """Return every package of the driver's version: one upgraded alone parts module and library."""
    names = {name: upstream(version) for name, version in (driver.get("packages") or {}).items()}
    asked = [word.partition("=")[0] for word in plan["packages"]]
    led = next((names[name] for name in asked if name in names), driver["version"])
    return sorted(name for name, version in names.items() if version == led and "-pinning-" not in name)


def driver_after(found: Row, plan: Row, modprobe: str = "") -> Row:
    """Return works, reboot (a sentence, or empty), problem (likewise), built, and hold (names)."""
    driver, kernel = found["driver"], plan["kernel"]
    there = built(driver, kernel)
    said: Row = {
        "works": driver["works"],
        "built": there,
        "reboot": "",
        "problem": "",
        "hold": to_hold(driver, plan),
    }
    if driver["works"]:
        missing = (
            plan["action"] in ("install", "change") and kernel != found["machine"].get("kernel") and not there
        )
        return {**said, "problem": build_failure(found, kernel) if missing else fabric(found, plan)}
    said["reboot"] = reboot(found, kernel) if there or driver.get("loaded") else ""
    if said["reboot"]:
        return said
    if not there and not driver.get("loaded"):
        return {**said, "problem": build_failure(found, kernel)}
    last = modprobe.strip().splitlines()[-1:] or ["modprobe nvidia said nothing"]
    plain = (
        f"The module is built for {kernel}, and nvidia-smi says: {driver['says']} ({last[0].strip()}). "
        "Needed is what the kernel complains of: `dmesg | grep -i -e nvrm -e nvidia` says it."
    )
    return {**said, "problem": rejected(modprobe) or unserved(found, plan) or plain}


def driver_failed(found: Row, before: Row, plan: Row, result: Row) -> Row:
    """Return what to take away after a failed installation, what to bring back, and the reason."""
    was, now = before["driver"].get("packages") or {}, found["driver"].get("packages") or {}
    half = set(result.get("half_configured") or [])
    asked = {word.partition("=")[0] for word in plan["packages"]} - set(plan["headers"])
    log, change = found["driver"].get("build_log"), plan["action"] == "change"
    # The second where a run was cut off in such a build: then what is half configured and ours goes as well.
    tried = result.get("reason") in ("install", "half-configured")
    ours = set(before["driver"]["ours"]["packages"])
    said = build_failure(found, plan["kernel"]) if half and log else str(result.get("msg", ""))
    if result.get("reason") == "unavailable" and any(name in said for name in plan["headers"]):
        said += (
            f" The headers of {plan['kernel']} may be gone from the archive: upgrade the kernel, boot into "
            "it, and run again."
        )
    # Only our own holds are in the way of that: somebody else's stay.
    theirs = set(found["driver"].get("held") or []) - set(found["driver"]["ours"]["holds"])
    now = {name: version for name, version in now.items() if name not in theirs}
    # The module's own packages, and what stands there for it only. What was there before goes to come back.
    purge = sorted(
        name
        for name in now
        if (name not in was and name in asked | half) or (name in half and (change or name in ours))
    )
    back = {name: version for name, version in was.items() if now.get(name) != version or name in half}
    back = {
        name: version for name, version in back.items() if change and tried and name not in plan["unpins"]
    }
    return {
        "said": said,
        "purge": purge if tried else [],
        "back": [f"{name}={version}" for name, version in back.items()],
        "older": ", ".join(sorted({upstream(version) for version in back.values()})),
    }


class FilterModule:
    """The filters, by name."""

    def filters(self) -> Row:
        """Return them."""
        return {"gpu_host_driver_after": driver_after, "gpu_host_driver_failed": driver_failed}
