"""Ansible filter: which driver fits the cards and the system: source, branch, flavour, or why none. Pure."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

TABLES = Path(__file__).resolve().parents[2] / "verify/compat"
VERSION = re.compile(r"^(?:auto|(?P<branch>\d{3})|(?P<exact>\d{3}\.\d+(?:\.\d+)?))$")
EPOCH = re.compile(r"^\d+:")
CUDA_NOW = 13
Row = dict[str, Any]


@cache
def table(name: str) -> Row:
    """Read a table once: reading is what takes the time."""
    found: Row = yaml_load((TABLES / f"{name}.yml").read_text(encoding="utf-8"))
    return found


def rows(name: str, section: str) -> list[Row]:
    found: list[Row] = table(name)[section]
    return found


def system_of(machine: Row) -> str:
    """Return the system as the tables name it: a derivative counts as what it is made from."""
    base = machine.get("base") or {"os": machine.get("os"), "version": machine.get("os_version")}
    version = str(base.get("version") or "")
    return f"{base.get('os')} {version.partition('.')[0] if base.get('os') == 'rhel' else version}"


def branch_row(branch: int | None) -> Row:
    """Return what is known of a branch; of one that the table has not, that of the branch before it."""
    known = rows("driver", "branches")
    before = [row for row in known if branch is None or row["branch"] <= branch]
    return max(before or known[:1], key=lambda row: int(row["branch"]))


def packages_of(system: str, source: str) -> list[Row]:
    return [r for r in rows("driver_packages", "packages") if system in r["systems"] and r["from"] == source]


def repository_of(system: str) -> Row | None:
    return next((row for row in rows("repositories", "repositories") if row["system"] == system), None)


def source_of(found: Row, wanted: Row, system: str) -> str:
    """Return where the packages come from."""
    machine, driver, last = found["machine"], found["driver"], found["judged"]["last"]
    if wanted["source"] in ("distro", "nvidia"):
        return str(wanted["source"])
    # What is there already is completed from where it came.
    there = {"distribution": "distro", "nvidia": "nvidia"}.get(driver.get("origin_kind", ""))
    if there and driver.get("packages") and not wanted["replace"]:
        return there
    archive, repository = packages_of(system, "distro"), repository_of(system)
    if archive and (machine.get("kind") == "simulated" or not wanted["kernel_module"]):
        return "distro"
    signed = driver.get("secure_boot") and wanted["secure_boot"] in ("auto", "signed")
    if signed and any(row.get("signed") for row in archive):
        return "distro"
    asked = VERSION.match(str(wanted["version"]))
    free = asked is not None and not asked["branch"] and not asked["exact"]
    branches = (repository or {}).get("branches")
    late = free and last and branches and min(branches) > last
    # Without a key that can be checked NVIDIA's repository is for those who set one; a living branch does.
    unsigned = not (repository or {}).get("fingerprint") and not wanted["key_fingerprint"]
    alive = any(branch_row(row["branch"])["cuda"] >= CUDA_NOW for row in archive)
    return "distro" if archive and (repository is None or late or (free and unsigned and alive)) else "nvidia"


def branch_of(found: Row, wanted: Row, system: str, source: str) -> int | None:
    """Return the branch; None where the repository cannot be held to one, and any will do."""
    driver, last = found["driver"], found["judged"]["last"]
    if source == "distro":
        return next((row["branch"] for row in packages_of(system, "distro")), None)
    if driver.get("origin_kind") == "nvidia" and not wanted["replace"] and driver.get("version"):
        return int(driver["version"].partition(".")[0])
    if system == "rhel 10" and not last:
        return None
    best = next(row["branch"] for row in rows("driver", "branches") if row.get("recommended"))
    known = (repository_of(system) or {}).get("branches")
    return int(best if not known or best in known else max(known))


def row_of(system: str, source: str, kind: str, branch: int | None) -> Row:
    for row in packages_of(system, source):
        if row["set"] == kind and row.get("from_branch", 0) <= (branch or 0) <= row.get("to_branch", 10**6):
            return row
    return {}


def driver_choice(found: Row, wanted: Row) -> Row:
    """Return what was found, with ``choice``: refusal, source, branch, version, flavour, row, notes."""
    system, judged = system_of(found["machine"]), found["judged"]
    read = VERSION.match(str(wanted["version"]))
    exact = (read and read["exact"]) or ""
    asked = (read and read["branch"]) or exact.partition(".")[0]
    source = source_of(found, wanted, system)
    branch = int(asked) if asked else branch_of(found, wanted, system, source)
    row, flavour = row_of(system, source, wanted["packages"], branch), judged["flavour"]
    prefers = row.get("prefers")
    if (
        prefers
        and flavour
        and wanted["flavour"] == "auto"
        and all(c["kind"][prefers] for c in judged["served"])
    ):
        flavour = prefers
    if system == "rhel 10" and source == "nvidia" and branch and not exact:
        # Without module streams a branch is held by a version: the oldest one of it that is safe.
        floors = {floor["branch"]: floor["version"] for floor in rows("driver", "security_floors")}
        exact = floors.get(branch, "")
    choice = {
        "system": system,
        "source": source,
        "branch": branch,
        "version": exact,
        "flavour": flavour,
        "row": row,
        "notes": judged["notes"] + notes(branch, source),
    }
    refusal = judged["refusal"] or impossible(found, wanted, choice)
    if not read:
        refusal = (
            f"nvidia_driver_version is {wanted['version']!r}. Needed is auto, a branch (580) or a whole "
            "version (580.159.03)."
        )
    return {**found, "choice": {**choice, "refusal": refusal}}


def impossible(found: Row, wanted: Row, choice: Row) -> str:
    """Say why this choice cannot be installed."""
    name, branch = found["machine"].get("os_name"), choice["branch"]
    if not choice["row"]:
        known = sorted(
            {
                s
                for r in rows("driver_packages", "packages")
                for s in r["systems"]
                if r["from"] == choice["source"]
            }
        )
        return (
            f"The operating system is {name}; this role installs R{branch or ' any'} "
            f"{'from NVIDIA' if choice['source'] == 'nvidia' else 'from the distribution'} on "
            f"{', '.join(known)} and what is made from them. Install a driver in the way of that system, "
            "then set nvidia_driver_source: preinstalled."
        )
    archive = choice["row"].get("branch")
    if archive and (branch != archive or choice["version"]):
        return (
            f"The archive of {name} has one version, of R{archive}, and nvidia_driver_version is "
            f"{wanted['version']}. Needed is NVIDIA's repository for that: set nvidia_driver_source: "
            "nvidia; or leave the version auto."
        )
    return too_new(found, wanted, choice) or unfit(found, wanted, choice)


def too_new(found: Row, wanted: Row, choice: Row) -> str:
    """Say which cards the branch does not know."""
    judged, branch, newest = found["judged"], choice["branch"], choice["row"].get("newest")
    last = judged["last"]
    old = [c["shown"] for c in judged["served"] if last and (branch or 0) > last and c["kind"]["last_branch"]]
    if old:
        return (
            f"nvidia_driver_version is {wanted['version']}, and R{last} is the last branch that knows "
            f"{', '.join(old)}. "
            f'Needed is nvidia_driver_version: auto or "{last}".'
        )
    order = {row["name"]: number for number, row in enumerate(rows("cards", "architectures"))}
    new = [c["shown"] for c in judged["served"] if newest and c["kind"]["order"] > order[newest]]
    if new:
        return (
            f"The archive of {found['machine'].get('os_name')} has R{branch}, which does not know "
            f"{', '.join(new)}. Needed is a newer driver: set nvidia_driver_source: nvidia."
        )
    return ""


def unfit(found: Row, wanted: Row, choice: Row) -> str:
    """Say why a branch does not go with the flavour, the repository or the kernel."""
    branch, flavours = choice["branch"], branch_row(choice["branch"])["flavours"]
    if choice["flavour"] and choice["flavour"] not in flavours:
        return (
            f"R{branch} comes with the {' and '.join(flavours)} kernel module only, and needed would be "
            f"the {choice['flavour']} one (nvidia_driver_flavour). Needed is nvidia_driver_flavour: auto, "
            "or a branch before R615."
        )
    if choice["system"] == "rhel 10" and branch and not choice["version"]:
        return (
            f"NVIDIA's repository for {found['machine'].get('os_name')} has no module streams, so "
            f"R{branch} cannot be held as a branch. "
            'Needed is a whole version, as nvidia_driver_version: "580.159.03".'
        )
    kernel = str(wanted["kernel"] or found["machine"].get("kernel") or "")
    for row in rows("driver", "unbuildable") if wanted["kernel_module"] else []:
        if row["version"] == choice["version"] and kernel.startswith(row["kernel"]):
            return (
                f"Driver {row['version']} does not compile for kernel {kernel} ({row['source']}). Needed "
                f"is {row['fixed']} or newer, or an older kernel: change nvidia_driver_version."
            )
    return ""


def notes(branch: int | None, source: str) -> list[str]:
    known = next((row for row in rows("driver", "branches") if row["branch"] == branch), None)
    if branch and known is None:
        return [f"R{branch} is not in this role's table; taken to be like R{branch_row(branch)['branch']}."]
    if known and source == "distro" and known["cuda"] < CUDA_NOW:
        end = f"its last month was {known['end']}" if known["end"] else "it is past its end"
        said = (
            f"R{branch} is the distribution's: {end}, and it cannot carry CUDA 13 (PyTorch from 2.11 on). "
            "nvidia_driver_source: nvidia brings a newer one."
        )
        return [said]
    return []


class FilterModule:
    """The filters, by name."""

    def filters(self) -> Row:
        """Return them."""
        return {"gpu_host_driver_choice": driver_choice}
