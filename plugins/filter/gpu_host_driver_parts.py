"""Ansible filter: what the installation of the chosen driver consists of, or why it cannot be. Pure."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

TABLES = Path(__file__).resolve().parents[2] / "verify/compat"
PINNING = re.compile(r"^nvidia-driver-pinning-[\d.]+$")
EPOCH = re.compile(r"^\d+:")
# Debian names a kernel 6.12.48+deb13-amd64 or 6.1.0-28-cloud-amd64; the metapackages have its last part.
DEBIAN = re.compile(r"(?:cloud-|rt-)?(?:amd64|arm64)$")
UBUNTU = re.compile(r"^\d+\.\d+\.\d+-\d+-(?!pve)[a-z]")
RHEL = re.compile(r"\.el\d+[\w.]*$")
Row = dict[str, Any]


@cache
def table(name: str) -> Row:
    """Read a table once: reading is what takes the time."""
    found: Row = yaml_load((TABLES / f"{name}.yml").read_text(encoding="utf-8"))
    return found


def rows(name: str, section: str) -> list[Row]:
    found: list[Row] = table(name)[section]
    return found


def upstream(version: str) -> str:
    """Return NVIDIA's number in a package's version."""
    found = re.match(r"\d+(?:\.\d+)*", EPOCH.sub("", version))
    return found[0] if found else ""


def installed(driver: Row) -> Row:
    """Return the driver's packages that are there, the pinning ones left out."""
    return {name: v for name, v in (driver.get("packages") or {}).items() if not PINNING.match(name)}


def names_of(found: Row, wanted: Row) -> list[str]:
    """Return the names of the packages that are wanted, without versions."""
    choice, row = found["choice"], found["choice"]["row"]
    module = row.get("signed") if signed(found, wanted) else row.get("module")
    names = [*row.get("user_space", []), *((module or {}).get(choice["flavour"], []))]
    if wanted["kernel_module"] and wanted["persistence"]:
        names += row.get("persistence", [])
    facts = {"branch": choice["branch"], "kernel": kernel_of(found, wanted)}
    return list(dict.fromkeys(name.format(**facts) for name in names))


def kernel_of(found: Row, wanted: Row) -> str:
    return str(wanted["kernel"] or found["machine"].get("kernel") or "")


def signed(found: Row, wanted: Row) -> bool:
    """Tell whether modules that the distribution built and signed are taken."""
    asked = wanted["secure_boot"] == "signed" or (
        wanted["secure_boot"] == "auto" and bool(found["driver"].get("secure_boot"))
    )
    return bool(asked and wanted["kernel_module"] and found["choice"]["row"].get("signed"))


def templates(found: Row) -> list[tuple[str, bool]]:
    """Return the names of what cannot stay beside another driver, and whether the same branch may have it."""
    choice = found["choice"]
    numbered = [(name, True) for row in rows("driver_packages", "numbered") for name in row["names"]]
    for row in rows("driver_packages", "packages"):
        if choice["system"] not in row["systems"]:
            continue
        kinds = [*row["module"].values(), *(row.get("signed") or {}).values()]
        # A second kernel module of the same branch is one too many; a helper is not.
        numbered += [(name, False) for kind in kinds for name in kind if not name.endswith("-modprobe")]
        mine = row["from"] == choice["source"]
        numbered += [(name, mine) for name in row["user_space"] if "{branch}" in name]
    return numbered


def replaceable(found: Row, names: list[str]) -> list[str]:
    """Return the packages of another branch or flavour that are installed, each by its exact name."""
    there, branch = installed(found["driver"]), found["choice"]["branch"]
    unnumbered = not any(re.search(r"-\d{3}\b", name) for name in names)
    kernels = {kernel_of(found, {"kernel": ""}), *found["driver"]["on_disk"]}
    versions = {upstream(version) for version in there.values()}
    known = set()
    for template, shared in templates(found):
        for number_ in {row["branch"] for row in rows("driver", "branches")} | {branch}:
            if shared and number_ == branch and not unnumbered:
                continue
            known |= {
                template.format(branch=number_, version=version, kernel=kernel)
                for version in versions
                for kernel in kernels
            }
    return sorted(name for name in there if name in known and name not in names)


def headers(found: Row, wanted: Row) -> tuple[list[str], str]:
    """Return the packages with the kernel's headers, and why there are none."""
    kernel, system = kernel_of(found, wanted), found["choice"]["system"]
    if (
        not wanted["kernel_module"]
        or kernel in (found["driver"].get("headers") or [])
        or signed(found, wanted)
    ):
        return [], ""
    if system.startswith("debian") and DEBIAN.search(kernel):
        # The metapackage too: without it the next kernel comes without its headers, and so without a module.
        return [f"linux-headers-{kernel}", f"linux-headers-{DEBIAN.findall(kernel)[0]}"], ""
    if system.startswith("ubuntu") and UBUNTU.match(kernel):
        return [f"linux-headers-{kernel}"], ""
    if system.startswith("rhel") and RHEL.search(kernel):
        return [f"kernel-devel={kernel.rpartition('.')[0]}"], ""
    return [], (
        f"The kernel is {kernel}, which is not one of {found['machine'].get('os_name')}, and "
        f"/lib/modules/{kernel}/build is not there; the module needs headers of exactly that kernel. "
        "Install them, or boot the distribution's kernel, or set nvidia_driver_kernel_module: false for "
        "the user space only."
    )


def repository(found: Row, wanted: Row) -> tuple[Row, str]:
    """Return NVIDIA's repository as gpu_host_repository takes it, and why it cannot be used."""
    choice, machine = found["choice"], found["machine"]
    if choice["source"] != "nvidia" or wanted["packages_folder"]:
        return {}, ""
    row = next((r for r in rows("repositories", "repositories") if r["system"] == choice["system"]), None)
    architecture = machine.get("architecture")
    if row is None or (architecture not in row["architectures"] and not wanted["repository_url"]):
        return {}, (
            f"NVIDIA's repository for {machine.get('os_name')} on {architecture} is in no source that this "
            "role's table was made from. Needed is its address: set nvidia_driver_repository_url (and the "
            "key's), or nvidia_driver_source: distro."
        )
    own = row["url"].replace("{arch}", "sbsa" if architecture == "aarch64" else "x86_64")
    fingerprint = wanted["key_fingerprint"] or row["fingerprint"]
    key_url = wanted["key_url"] or f"{wanted['repository_url'] or own}/{row['key']}"
    if not fingerprint:
        return {}, (
            f"The fingerprint of the key that signs NVIDIA's packages for {machine.get('os_name')} is not "
            "known to this role. Needed is one that you checked: set nvidia_driver_key_fingerprint to "
            f"what `gpg --show-keys` says of {key_url}, once NVIDIA's own documentation confirms it."
        )
    return {
        "name": "nvidia-driver",
        "url": wanted["repository_url"] or own,
        "suite": "/",
        "key_url": key_url,
        "fingerprint": fingerprint,
        "same_as": [own.partition("//")[2]],
    }, ""


def fabric_manager(found: Row, wanted: Row) -> tuple[str, str]:
    """Return the package of the Fabric Manager where an NVSwitch is on the bus, and why there is none."""
    switches, choice = found["judged"]["switches"], found["choice"]
    if wanted["fabric_manager"] is False or not (switches or wanted["fabric_manager"]):
        return "", ""
    family, branch = found["machine"].get("family") or "debian", choice["branch"] or 10**6
    for row in rows("driver_packages", "fabric_manager"):
        fits = row["family"] == family and row.get("from_branch", 0) <= branch <= row.get("to_branch", 10**6)
        if fits and choice["source"] == "nvidia":
            return row["name"].format(branch=branch), ""
    return "", (
        f"There is an NVSwitch ({', '.join(switches) or 'by nvidia_driver_fabric_manager'}), whose cards "
        "run no CUDA without a Fabric Manager of the driver's very version, and the distribution's archive "
        "has none that this role knows. Needed is nvidia_driver_source: nvidia; or "
        "nvidia_driver_fabric_manager: false, and one of your own."
    )


def versioned(found: Row, names: list[str], *, change: bool) -> list[str]:
    """Return names with the version that the package manager shall take; where streams do, without."""
    choice, apt = found["choice"], found["machine"].get("family") != "redhat"
    if choice["source"] != "nvidia" or choice["branch"] is None:
        return names
    if choice["version"]:
        version = f"{choice['version']}-*" if apt else choice["version"]
    elif apt or change:
        version = f"{choice['branch']}.*"
    else:
        return names
    loose = [name.format(branch=choice["branch"]) for name in choice["row"].get("persistence", [])]
    return [name if name in loose and apt else f"{name}={version}" for name in names]


def blocked(found: Row, wanted: Row) -> str:
    """Say what of the host stands in the way of a module."""
    driver = found["driver"]
    off = not driver.get("secure_boot") or not wanted["kernel_module"]
    if off or wanted["secure_boot"] == "enrolled" or signed(found, wanted):
        return ""
    own = any(
        row.get("signed") and found["choice"]["system"] in row["systems"]
        for row in rows("driver_packages", "packages")
    )
    first = (
        "(1) Ubuntu's own signed modules: nvidia_driver_source: distro and nvidia_driver_secure_boot: signed"
        if own
        else "(1) modules signed by somebody whom the firmware trusts, which this system's packages have not"
    )
    return (
        "Secure Boot is on, and a module that DKMS builds here would be rejected. Needed is one of three "
        f"choices: {first}; (2) enrol a key of this host: `mokutil --import` its certificate (DKMS keeps "
        "it as /var/lib/dkms/mok.pub, Debian's and Ubuntu's as /var/lib/shim-signed/mok/MOK.der), reboot, "
        'choose "Enroll MOK" at the console, then set nvidia_driver_secure_boot: enrolled; (3) switch '
        "Secure Boot off in the firmware. This role changes neither the firmware nor its keys."
    )


def held_by_others(found: Row, names: list[str]) -> str:
    """Say which packages in the way somebody else holds."""
    driver = found["driver"]
    theirs = sorted((set(driver.get("held") or []) - set(driver["ours"]["holds"])) & set(names))
    if not theirs:
        return ""
    return (
        f"Held by somebody on this host, and in the way: {', '.join(theirs)}. Needed is that they may "
        f"change: `apt-mark unhold {' '.join(theirs)}` (dnf: `dnf versionlock delete`), or leave the "
        "driver as it is."
    )


def number(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def driver_parts(found: Row, wanted: Row) -> Row:
    """Return what was found, with ``parts``: all that an installation of the choice consists of."""
    driver, choice = found["driver"], found["choice"]
    names = names_of(found, wanted)
    heads, no_headers = headers(found, wanted)
    source, no_source = repository(found, wanted)
    fabric, no_fabric = fabric_manager(found, wanted)
    gone = replaceable(found, names)
    apt = found["machine"].get("family") != "redhat"
    what = choice["version"] or choice["branch"]
    newest = number(choice["version"] or f"{choice['branch']}.999999")
    pins = apt and choice["source"] == "nvidia" and not wanted["packages_folder"]
    streams = choice["row"].get("stream" if choice["branch"] else "newest_stream") or {}
    stream = streams.get(choice["flavour"] or "open", "").format(branch=choice["branch"])
    refusals = (choice["refusal"], blocked(found, wanted), no_headers, no_source, no_fabric)
    olds = [upstream(version) for version in installed(driver).values()]
    parts = {
        "refusal": next(filter(None, refusals), ""),
        "held": held_by_others(found, [*names, *gone]),
        "names": names,
        "headers": heads,
        "packages": versioned(found, [*names, *([fabric] if fabric else [])], change=False),
        "changes": versioned(found, [*names, *([fabric] if fabric else [])], change=True),
        "pinning": [row["name"].format(what=what) for row in rows("driver_packages", "pinning") if pins],
        "unpins": sorted(
            name
            for name in driver.get("packages") or {}
            if PINNING.match(name) and not name.endswith(f"-{what}")
        ),
        "replaces": gone,
        "repository": source,
        # What reads a key's fingerprint; dnf's systems have it with rpm.
        "gpg": ["gpg"] if source and apt and not driver["gpg"] else [],
        "modules": [stream] if stream and not wanted["packages_folder"] else [],
        "fabric_manager": fabric,
        "downgrade": bool(what) and any(number(old) > newest for old in olds),
        "kernel": kernel_of(found, wanted),
    }
    return {**found, "parts": parts}


class FilterModule:
    """The filters, by name."""

    def filters(self) -> Row:
        """Return them."""
        return {"gpu_host_driver_parts": driver_parts}
