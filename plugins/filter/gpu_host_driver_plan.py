"""Ansible filter: what nvidia_driver does on a host: keep, install, change, nothing, or why not. Pure."""

from __future__ import annotations

import re
from typing import Any

# From anywhere else a driver is not replaced: what its maker would miss is not known here.
FROM_PACKAGES = ("distribution", "nvidia", "package")
NUMBER = re.compile(r"^(?:\d+:)?(\d+(?:\.\d+)*)")
REFUSALS = {
    "foreign": (
        "{why}, and the driver here came from {origin}; this role takes away packages only, each by its "
        "name. Needed is a host without it: uninstall it in the way it came (`nvidia-uninstall` for the "
        ".run installer), or set nvidia_driver_replace: false to keep it."
    ),
    "broken": (
        "An NVIDIA driver is here that does not work ({says}); it came from {origin}, and not from "
        "packages that this role knows. Needed is one driver, whole. Repair it in the way it came, or "
        "uninstall it (`nvidia-uninstall` where the .run installer was used) and run again."
    ),
    "theirs": (
        "Installed here is {now}, which does not work ({says}); needed is {needed}, and it is not this "
        "role's to change. Set nvidia_driver_replace: true to have it changed, or repair it yourself."
    ),
    "preinstalled": (
        "nvidia_driver_source is preinstalled, but no driver works here ({says}). Needed is an nvidia-smi"
        " that ends with 0. Repair the driver, or set nvidia_driver_source: auto."
    ),
    "wsl": (
        "This is Windows Subsystem for Linux: the driver belongs to Windows, and one installed in here "
        "would break it. Needed is a driver on the Windows side: install it there."
    ),
    "no card": (
        "There is no NVIDIA card on the PCI bus (10de:… in /sys/bus/pci/devices), so no driver is "
        "installed. Needed is one: put it in, or pass it through to the virtual machine; or set "
        "host_preflight_require_card: false."
    ),
}
Row = dict[str, Any]


def upstream(version: str) -> str:
    """Return NVIDIA's number in a package's version."""
    found = NUMBER.match(version)
    return found[1] if found else ""


def packages_of(driver: Row) -> Row:
    """Return the driver's packages that are there, the pinning ones left out."""
    names = driver.get("packages") or {}
    return {name: version for name, version in names.items() if not name.startswith("nvidia-driver-pinning-")}


def missing_of(found: Row) -> list[str]:
    """Return the wanted packages that are not there, or in part only: an installation that was cut off."""
    driver = found["driver"]
    whole = set(packages_of(driver)) - set(driver["half"])
    return [name for name in found["parts"]["names"] if name not in whole]


def is_ours(driver: Row) -> bool:
    return bool(set(driver["ours"]["packages"]) & set(packages_of(driver)))


def other(found: Row, wanted: Row) -> str:
    """Say in what the driver that works is another one than was asked for; empty where it is that one."""
    driver, choice = found["driver"], found["choice"]
    version, flavour = driver["version"] or "", (driver.get("loaded") or {}).get("flavour")
    asked = str(wanted["version"])
    if asked not in ("auto", version) and not version.startswith(f"{asked}."):
        return f"nvidia_driver_version is {asked}"
    if wanted["flavour"] != "auto" and flavour and flavour != wanted["flavour"]:
        return f"nvidia_driver_flavour is {wanted['flavour']}"
    branch = choice["branch"]
    if wanted["replace"] and asked == "auto" and branch and not version.startswith(f"{branch}."):
        return f"R{branch} is what fits"
    return ""


def refused(kind: str, **facts: Any) -> Row:
    return {"refusal": REFUSALS[kind].format(**facts)}


def works(found: Row, wanted: Row) -> Row:
    """Keep a driver that works, unless another one is asked for and it may go."""
    driver = found["driver"]
    kept: Row = {
        "action": "keep",
        "because": f"driver {driver['version']} works; it came from {driver['origin']}",
    }
    why = "" if wanted["source"] == "preinstalled" else other(found, wanted)
    if why and not (is_ours(driver) or wanted["replace"]):
        note = f"{why}, and driver {driver['version']} is kept: it works, and it is not this role's. "
        kept["notes"] = [note + "nvidia_driver_replace: true would change it."]
        return kept
    if why and driver["origin_kind"] not in FROM_PACKAGES:
        return refused("foreign", why=why, origin=driver["origin"])
    if why:
        return {"action": "change", "because": f"{why}, and here is {driver['version']}"}
    return completed(found, wanted) or kept


def completed(found: Row, wanted: Row) -> Row:
    """Add to a driver that is kept what it lacks: its Fabric Manager, the distribution's other half."""
    driver, parts, there = found["driver"], found["parts"], packages_of(found["driver"])
    fabric, kind = parts["fabric_manager"], driver["origin_kind"]
    if wanted["source"] == "preinstalled":
        return {}
    if fabric and kind == "nvidia" and upstream(there.get(fabric, "")) != driver["version"]:
        version = next((v for v in there.values() if upstream(v) == driver["version"]), driver["version"])
        because = f"an NVSwitch is here, and {fabric} of the driver's version is not"
        return {
            "action": "install",
            "because": because,
            "names": [fabric],
            "packages": [f"{fabric}={version}"],
        }
    missing = missing_of(found)
    if not is_ours(driver):
        # Somebody else's driver that works keeps its shape; a library that containers need may be missing.
        missing = [name for name in missing if name.startswith("lib")]
    if kind == "distribution" and found["choice"]["source"] == "distro" and missing and not parts["refusal"]:
        return {
            "action": "install",
            "because": "a part of the distribution's driver is missing",
            "names": missing,
        }
    return {}


def split(driver: Row) -> str:
    """Say that library and module are of two versions: an upgrade since the module was loaded (C1)."""
    loaded, libraries = (driver.get("loaded") or {}).get("version"), driver.get("libraries") or []
    if not loaded or not libraries or loaded in libraries:
        return ""
    return f"loaded {loaded}, on disk {', '.join(libraries)}: reboot needed"


def broken(found: Row, wanted: Row) -> Row:
    """Nothing answers: completed where it is from packages, left to its owner where it is not."""
    driver, parts, kind = found["driver"], found["parts"], found["driver"]["origin_kind"]
    there = packages_of(driver)
    foreign = bool(driver["tool"]) and kind not in FROM_PACKAGES
    if foreign:
        return refused("broken", **driver)
    missing = missing_of(found)
    loaded, flavour = (driver.get("loaded") or {}).get("flavour"), found["choice"]["flavour"]
    wrong = bool(loaded and flavour and loaded != flavour)
    change = bool(there) and (wrong or bool(parts["replaces"]))
    # A system that no table knows has no names either: that is no driver that is whole.
    if parts["names"] and not missing and not wrong:
        return {"action": "keep", "because": f"the packages are here; nvidia-smi says: {driver['says']}"}
    if change and not (is_ours(driver) or wanted["replace"]):
        now = f"the {loaded} kernel module" if wrong else ", ".join(parts["replaces"])
        needed = f"the {flavour} one" if wrong else ", ".join(parts["names"])
        return refused("theirs", now=now, needed=needed, says=driver["says"])
    if change:
        return {"action": "change", "because": f"the driver here does not work ({driver['says']})"}
    return {"action": "install", "because": driver["says"]}


def decided(found: Row, wanted: Row) -> Row:
    """Return what is done, before it is known whether it can be."""
    driver, machine = found["driver"], found["machine"]
    if driver["works"]:
        return works(found, wanted)
    if split(driver):
        return {"action": "keep", "because": split(driver), "reboot": split(driver)}
    if wanted["source"] == "preinstalled":
        return refused("preinstalled", **driver)
    if machine.get("kind") == "wsl":
        return refused("wsl")
    if not found["judged"]["cards"] and wanted["kernel_module"] and not packages_of(driver):
        none = {"action": "none", "because": "there is no NVIDIA card, so nothing is installed"}
        return refused("no card") if wanted.get("require_card", True) else none
    return broken(found, wanted)


def remarks(found: Row) -> list[str]:
    """Return what a person should know of the driver that is here."""
    driver, judged = found["driver"], found["judged"]
    said = []
    if driver["works"] and 0 < driver.get("serves", 0) < len(judged["served"]):
        serves = f"{driver['serves']} of {len(judged['served'])} cards"
        said.append(f"The driver serves {serves}; `dmesg | grep NVRM` says why.")
    if "Enabled" in (driver.get("mig") or []):
        said.append(f"MIG is on ({', '.join(driver['mig'])}): left as it is.")
    return said


def driver_plan(found: Row, wanted: Row) -> Row:
    """Return the plan, with everything that the tasks and a person need."""
    driver, choice, parts = found["driver"], found["choice"], found["parts"]
    plan: Row = {
        "action": "none", "refusal": "", "because": "", "reboot": "", "origin": driver.get("origin"),
        "source": "", "branch": None, "version": "", "flavour": "", "packages": [], "gpg": [], "pinning": [],
        "unpins": [], "replaces": [], "repository": {}, "modules": [], "headers": [], "fabric_manager": "",
        "notes": [], "downgrade": False, "kernel": parts["kernel"], "switches": found["judged"]["switches"],
    }  # fmt: skip
    done = decided(found, wanted)
    # A run that was cut off before or while it held; holds that somebody released since then stay released.
    cut_off = not driver["ours"]["holds"] or driver["ours"].get("holding")
    plan["unheld"] = bool(wanted["hold"] and done.get("action") == "keep" and is_ours(driver) and cut_off)
    notes = remarks(found) + done.get("notes", [])
    if done.get("refusal") or done["action"] not in ("install", "change"):
        return {**plan, **done, "notes": notes}
    change = done["action"] == "change"
    only = done.get("names")
    packages = done.get("packages") or [
        name
        for name in parts["changes" if change else "packages"]
        if only is None or name.partition("=")[0] in only
    ]
    return {
        **plan,
        "action": done["action"],
        "because": done["because"],
        "refusal": parts["refusal"] or (parts["held"] if change else ""),
        "source": choice["source"],
        "branch": choice["branch"],
        "version": choice["version"],
        "flavour": choice["flavour"],
        "packages": packages + parts["headers"] if only is None else packages,
        "pinning": parts["pinning"] if only is None else [],
        "unpins": parts["unpins"],
        "replaces": parts["replaces"] if change else [],
        "repository": parts["repository"],
        "gpg": parts["gpg"],
        "modules": parts["modules"],
        "headers": parts["headers"],
        "fabric_manager": parts["fabric_manager"],
        "downgrade": change and parts["downgrade"],
        "notes": notes + choice["notes"],
    }


class FilterModule:
    """The filters, by name."""

    def filters(self) -> Row:
        """Return them."""
        return {"gpu_host_driver_plan": driver_plan}
