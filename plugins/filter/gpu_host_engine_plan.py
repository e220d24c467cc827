"""Ansible filter: from what the probe found to what docker_engine does, or why it does not. Pure."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

TABLE = Path(__file__).resolve().parents[2] / "verify/compat/engine_packages.yml"
# Kinds of engine that are no engine for these roles.
AGAINST = {
    "snap": (
        "Docker comes from a snap here ({because}); a snap cannot load the toolkit's hook and keeps a "
        "daemon.json of its own. Needed is a Docker Engine from packages: `snap remove docker` (its "
        "images go with it), then run again."
    ),
    "two": (
        "Two Docker Engines stand side by side here ({because}), and which of them answers is chance. "
        "Needed is one: `snap remove docker` (its images go with it), then run again."
    ),
    "podman-docker": (
        "The command docker is Podman's stand-in here ({because}). Needed is a Docker Engine: remove the "
        "package podman-docker (Podman itself can stay) and run again, or leave this host out of the "
        "inventory: Podman takes cards by CDI (`podman run --device nvidia.com/gpu=all`)."
    ),
    "rootless": (
        "Docker runs rootless here ({because}); these roles look after the system's own engine, which "
        "can stand beside it. Start that (`systemctl enable --now docker`), and run again."
    ),
}
# Where the system's own engine can be put beside what is there: only when it is asked for by name.
BESIDE = {
    "desktop": (
        "Docker is Docker Desktop here ({because}): its daemon runs in a virtual machine and has no "
        "card. Needed is a Docker Engine of this system, which can stand beside it: set "
        "docker_engine_source: {sources}."
    ),
    "rootless": (
        "Docker runs rootless here ({because}); these roles look after the system's own engine, which is "
        "not installed and can stand beside it: set docker_engine_source: {sources}."
    ),
    "podman": (
        "There is Podman here ({because}). Podman takes cards by CDI (`podman run --device "
        "nvidia.com/gpu=all`); these roles look after a Docker Engine, which can stand beside it: set "
        "docker_engine_source: {sources}, or leave this host out of the inventory."
    ),
}


@lru_cache
def table(section: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = yaml_load(TABLE.read_text(encoding="utf-8"))[section]
    return rows


def engine_packages(_: Any = None) -> list[str]:
    """Return every name that the plan asks about, for the probe."""
    return sorted({name for row in table("packages") for key in ("names", "conflicts") for name in row[key]})


def system_of(machine: dict[str, Any]) -> str:
    """Return the system as the tables name it: a derivative counts as what it is made from."""
    base = machine.get("base") or {"os": machine.get("os"), "version": machine.get("os_version")}
    version = str(base.get("version") or "")
    # Only the RHEL family has minor versions that share their packages.
    return f"{base.get('os')} {version.partition('.')[0] if base.get('os') == 'rhel' else version}"


def engine_plan(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return refusal (a sentence, or empty), install, start, names, replaces, repository, notes."""
    engine, machine, installed = found["engine"], found["machine"], set(found.get("packages") or {})
    rows = {row["from"]: row for row in table("packages") if row["system"] == system_of(machine)}
    plan: dict[str, Any] = {"refusal": "", "install": False, "start": False, "names": [], "replaces": [],
                            "repository": {}, "notes": notes(engine, settings)}  # fmt: skip
    there = engine["daemon"] is not None and engine["client"] is not None
    plan["refusal"] = against(engine, settings, rows, there=there)
    if plan["refusal"]:
        return plan
    source = source_of(settings["source"], installed, rows)
    row = rows.get(source)
    missing = [name for name in row["names"] if name not in installed] if row else []
    # An engine from anywhere is kept; where it is the distribution's own, what is missing beside it is added.
    adds = bool(missing) and (not there or (source == "distro" and "docker.io" in installed))
    if settings["source"] == "preinstalled" or not (adds or not there):
        return {**plan, "start": not engine["active"]}
    plan["refusal"] = cannot_install(found, settings, row, source)
    if plan["refusal"] or row is None:
        return plan
    repository = repository_of(row, machine, settings) if not settings.get("packages_folder") else {}
    unsigned = repository and not repository["fingerprint"]
    return {
        **plan,
        "refusal": no_fingerprint(repository) if unsigned else "",
        "install": not unsigned,
        "start": not unsigned,
        "names": missing,
        "replaces": [name for name in row["conflicts"] if name in settings["replaces"]],
        "repository": repository,
    }


def source_of(asked: str, installed: set[str], rows: dict[str, Any]) -> str:
    """Return where the packages come from; half an engine is completed from where it came."""
    if asked in ("distro", "docker"):
        return asked
    if installed & {"docker-ce", "docker-ce-cli", "containerd.io"} and "docker" in rows:
        return "docker"
    return "distro" if "distro" in rows else "docker"


def against(engine: dict[str, Any], settings: dict[str, Any], rows: dict[str, Any], *, there: bool) -> str:
    """Say why what is here cannot be worked with; empty where it can."""
    kind = "snap" if engine["snap"] else engine["kind"]
    by_name = settings["source"] in ("distro", "docker")
    sources = " or ".join(sorted(rows)) or "preinstalled, once one is installed in that system's way"
    if kind in BESIDE and not there:
        return "" if by_name else BESIDE[kind].format(because=engine["because"], sources=sources)
    if kind == "desktop":  # it answers in the place of the system's own engine
        return BESIDE[kind].format(because=engine["because"], sources=sources)
    if kind in AGAINST:
        return AGAINST[kind].format(because=engine["because"])
    if settings["source"] == "preinstalled" and not there:
        return (
            "docker_engine_source is preinstalled, but there is no Docker Engine here "
            f"(docker: {engine['client'] or 'not found'}, dockerd: {engine['daemon'] or 'not found'}). "
            f"Install one, or set docker_engine_source: {sources}."
        )
    return ""


def cannot_install(
    found: dict[str, Any], settings: dict[str, Any], row: dict[str, Any] | None, source: str
) -> str:
    """Say why nothing can be installed; empty where it can."""
    engine, machine, installed = found["engine"], found["machine"], set(found.get("packages") or {})
    if engine.get("kubelet"):
        return (
            "A kubelet runs here and there is no Docker Engine: this is a node of Kubernetes, whose "
            "containerd these roles leave alone. Needed is a host of its own; cards for Kubernetes are "
            "NVIDIA's GPU Operator's. Leave this host out of the inventory."
        )
    if row is None and source == "distro" and machine.get("family") == "redhat":
        return (
            f"{machine['os_name']} has no Docker Engine of its own, and docker_engine_source is distro. "
            "Needed is Docker's own repository: set docker_engine_source: docker."
        )
    if row is None:
        known = sorted({each["system"] for each in table("packages") if each["from"] == source})
        return (
            f"The operating system is {machine['os_name']}; the role docker_engine installs "
            f"{'from Docker' if source == 'docker' else 'from the distribution'} on {', '.join(known)} "
            "and what is made from them. Install Docker Engine in the way of that system, then set "
            "docker_engine_source: preinstalled."
        )
    blocking = [name for name in row["conflicts"] if name in installed and name not in settings["replaces"]]
    if blocking:
        return (
            f"Installed here is {', '.join(blocking)}, which cannot stay beside {' '.join(row['names'])}. "
            f"Needed is your word that it may go: set docker_engine_replaces: [{', '.join(blocking)}], or "
            "remove it yourself, or set docker_engine_source to where it came from."
        )
    return ""


def repository_of(row: dict[str, Any], machine: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return Docker's repository as gpu_host_repository takes it; nothing for the distribution's own."""
    known = next((each for each in table("repositories") if each["name"] == row.get("repository")), None)
    if known is None:
        return {}
    version = row["system"].split()[1]
    mirror = settings.get("repository_url") or ""
    return {
        "name": "docker",
        "url": (mirror or known["url"]).replace("{version}", version),
        "suite": (known.get("suites") or {}).get(version, ""),
        "components": [known["component"]] if known.get("component") else [],
        "key_url": settings.get("key_url") or known["key_url"],
        "fingerprint": settings.get("key_fingerprint") or known.get("fingerprint") or "",
        "same_as": [known["url"].split("/{version}")[0].removeprefix("https://")],
        "system": machine["os_name"],
    }


def no_fingerprint(repository: dict[str, Any]) -> str:
    return (
        f"The fingerprint of the key that signs Docker's packages for {repository['system']} is not known "
        "to this role. Needed is one that you checked: set docker_engine_key_fingerprint to what `gpg "
        f"--show-keys` says of {repository['key_url']} and Docker's own documentation confirms."
    )


def notes(engine: dict[str, Any], settings: dict[str, Any]) -> list[str]:
    """Return what a person should know of an engine that is kept."""
    said = [
        f"{user}: that docker command talks to another daemon than the one looked after here."
        for user in engine.get("elsewhere") or []
    ]
    if engine["kind"] == "engine" and engine.get("rootless"):
        said.append(f"Docker also runs rootless ({', '.join(engine['rootless'])}): left alone.")
    if engine["kind"] == "engine" and engine.get("desktop"):
        said.append(f"Docker Desktop is here too ({engine['desktop'][0]}): left alone.")
    if engine["kind"] == "engine" and engine.get("podman"):
        said.append("Podman is here too: left alone.")
    if engine["kind"] == "engine" and settings["source"] in ("distro", "docker"):
        said.append(f"Docker {engine['version']} is kept, wherever it came from.")
    return said


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_engine_plan": engine_plan, "gpu_host_engine_packages": engine_packages}
