"""Ansible filter: from the probe's findings and the settings to what is installed, or why not. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

COMPAT = Path(__file__).resolve().parents[2] / "verify/compat"
NAMES = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
EXACT = re.compile(r"\d+\.\d+\.\d+(~rc\.\d+)?-\d+")
INSTALL = "1.20.2-1"


@lru_cache
def table(section: str, name: str = "toolkit") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml_load((COMPAT / f"{name}.yml").read_text(encoding="utf-8"))[section]
    return rows


def upstream(version: str | None) -> tuple[int, ...]:
    """Return the numbers that a version begins with; an epoch is none of them."""
    found = re.match(r"(?:\d+:)?(\d+(?:\.\d+)*)", version or "")
    return tuple(int(part) for part in found.group(1).split(".")) if found else ()


def floor() -> str:
    """Return the lowest version without a known hole."""
    return str(table("safe_floor")[0]["version"])


def safe(version: str) -> bool:
    """Tell whether a version is not below the floor; a candidate for a version comes before it."""
    numbers, lowest = upstream(version), upstream(floor())
    return numbers > lowest if "~" in version else numbers >= lowest


def cves(version: str) -> str:
    """Name the known holes of a version, with their scores where the source has them."""
    rows = [row for row in table("cves") if upstream(version) <= upstream(row["last_affected"])]
    named = [f"{row['id']} ({row['score']})" if "score" in row else str(row["id"]) for row in rows]
    return ", ".join(named) or "holes that are closed there"


def refusal(found: dict[str, Any], settings: dict[str, Any]) -> str:
    """Say why nothing can be done; empty where something can."""
    version, machine = str(settings["version"]), found["machine"]
    if not EXACT.fullmatch(version):
        return (
            f"nvidia_container_toolkit_version is {version}; needed is one exact package version such as "
            f"{INSTALL}, which all four packages get. `apt-cache madison nvidia-container-toolkit` "
            "(`dnf list --showduplicates nvidia-container-toolkit`) on a host with the repository lists them."
        )
    if not safe(version) and not settings["allow_vulnerable"]:
        return (
            f"nvidia_container_toolkit_version is {version}, below {floor()}, the lowest without a known way "
            f"out of a container: it has {cves(version)}. Set {INSTALL}, or, knowing that, "
            "nvidia_container_toolkit_allow_vulnerable: true."
        )
    if found["toolkit"]["manager"] is None or machine["family"] is None:
        return (
            f"The operating system is {machine['os_name']}; needed is one with apt or dnf. Install the "
            "toolkit in the way of that system, and leave the role nvidia_container_toolkit out."
        )
    return ""


def foreign(installed: dict[str, str]) -> str | None:
    """Return the version where all four are one build by somebody else (Pop!_OS, Lambda); None elsewhere."""
    versions = set(installed.values())
    if len(installed) < len(NAMES) or len(versions) != 1:
        return None
    version = versions.pop()
    return None if EXACT.fullmatch(version) else version


def repository(family: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the repository as gpu_host_repository takes it; the settings win over the table."""
    known = next(row for row in table("repositories", "toolkit_repositories") if row["family"] == family)
    return {
        "url": settings["repository_url"] or known["url"],
        "suite": settings["suite"] if known["suite"] else "",
        "key_url": settings["key_url"] or known["key_url"],
        "fingerprint": settings["key_fingerprint"] or known["fingerprint"],
        "same_as": [row["address"] for row in table("same_as", "toolkit_repositories")],
        "options": known["options"],
    }


def repositories(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the repository for each family of systems: the one look compares it, and knows the family."""
    if settings["packages_folder"]:
        return {}
    same = {"role": "nvidia_container_toolkit", "name": "nvidia-container-toolkit"}
    families = [row["family"] for row in table("repositories", "toolkit_repositories")]
    return {family: {**repository(family, settings), **same} for family in families}


def listed(packages: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in sorted(packages.items()))


def origin(origins: dict[str, list[str]]) -> str:
    """Say which of the host's repositories offer what is installed."""
    urls = sorted({url for named in origins.values() for url in named})
    return f"from {', '.join(urls)}" if urls else "which no repository of this host offers"


def kept_note(kept: str, toolkit: dict[str, Any]) -> str:
    return (
        f"The toolkit {kept} here is not NVIDIA's own build ({origin(toolkit['origins'])}). Its four "
        f"packages agree and it is not below {floor()}, so it is kept. "
        "nvidia_container_toolkit_replace_foreign: true puts NVIDIA's in its place."
    )


def obsolete_note(obsolete: dict[str, str]) -> str:
    return (
        f"Obsolete and left alone: {listed(obsolete)}. NVIDIA makes them no longer, and the toolkit does all "
        "that they did. `apt-get remove` takes them away (no purge: nvidia-docker2 owns "
        "/etc/docker/daemon.json); nvidia_container_toolkit_replaces names what may go if it is in the way."
    )


def containers_note(names: list[str]) -> str:
    return (
        f"Containers that hold a card: {', '.join(names)}. Installing packages makes systemd read its units "
        "anew, which can take the card from these (`Failed to initialize NVML: Unknown Error`): restart them "
        "afterwards."
    )


def notes(found: dict[str, Any], settings: dict[str, Any], *, kept: str | None, differs: bool) -> list[str]:
    """Return what a person should know, a sentence or two each."""
    toolkit, said = found["toolkit"], []
    version = kept or str(settings["version"])
    if kept:
        said.append(kept_note(kept, toolkit))
    elif differs and toolkit["installed"]:
        before = f"{listed(toolkit['installed'])} ({origin(toolkit['origins'])})"
        said.append(f"Installed before: {before}. All four become {version}.")
    if not safe(version):
        said.append(
            f"Toolkit {version} is below {floor()} and has {cves(version)}: allowed by your settings."
        )
    said += [
        f"Toolkit {version}: {row['summary']}; {row['fixed']} corrects it ({row['source']})."
        for row in table("field_bugs")
        if upstream(version) in [upstream(text) for text in row["versions"]]
    ]
    left = {name: old for name, old in toolkit["obsolete"].items() if name not in settings["replaces"]}
    if left:
        said.append(obsolete_note(left))
    if differs and found["engine"].get("gpu_containers"):
        said.append(containers_note(found["engine"]["gpu_containers"]))
    return said


def toolkit_plan(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return refusal (a sentence, or empty), version, install, packages, repository and notes."""
    toolkit, version = found["toolkit"], str(settings["version"])
    said = refusal(found, settings)
    if said:
        return {"refusal": said}
    kept = foreign(toolkit["installed"])
    if kept and (settings["replace_foreign"] or not safe(kept)):
        kept = None
    differs = not kept and toolkit["installed"] != dict.fromkeys(NAMES, version)
    hold = settings["hold"] and toolkit["held"] != sorted(NAMES)
    exact = "" if kept else f"={version}"
    # Where all is as wanted without a file of ours, another entry serves, and needs none beside it.
    ours = (text for path, text in found["files"].items() if Path(path).stem == "nvidia-container-toolkit")
    named = differs or any(ours)
    serves = named and not kept and not settings["packages_folder"]
    return {
        "refusal": "",
        "version": kept or version,
        "differs": differs,
        "install": bool(differs or hold),
        "packages": [f"{name}{exact}" for name in NAMES],
        "repository": repository(found["machine"]["family"], settings) if serves else {},
        "notes": notes(found, settings, kept=kept, differs=differs),
    }


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_toolkit_plan": toolkit_plan, "gpu_host_toolkit_repositories": repositories}
