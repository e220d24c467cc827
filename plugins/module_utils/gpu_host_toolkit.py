"""NVIDIA's container toolkit as it is installed: versions, holds, where they come from, obsolete ones."""

from __future__ import annotations

import re
from typing import Any

from .gpu_host_cdi import cdi, spec_paths

__all__ = ["NAMES", "OBSOLETE", "cdi", "spec_paths", "toolkit"]

NAMES = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
# Dropped by NVIDIA after 1.14; they bring old versions of the others along.
OBSOLETE = ("nvidia-docker2", "nvidia-docker", "nvidia-container-runtime", "nvidia-container-runtime-hook")
COLUMNS = 3
RPM_FORMAT = "%{NAME}\t%{VERSION}-%{RELEASE}\t%{VENDOR}\n"
LOCKS = (
    "/etc/dnf/plugins/versionlock.list",
    "/etc/yum/pluginconf.d/versionlock.list",
    "/etc/dnf/versionlock.toml",
)
# NVIDIA's, and the one that ships with a system's driver: either makes the links at every load of the module.
RULES = ("/etc/udev/rules.d/71-nvidia-dev-char.rules", "/lib/udev/rules.d/71-nvidia-dev-char.rules")
REFRESH_ENV = "/etc/nvidia-container-toolkit/nvidia-cdi-refresh.env"


def apt(look: Any) -> tuple[dict[str, str], list[str]]:
    """Return versions and holds by dpkg; half-configured packages count as not installed."""
    fmt = "${Package}\t${db:Status-Abbrev}\t${Version}\n"
    _, out = look.run(["dpkg-query", "-W", "-f", fmt, *NAMES, *OBSOLETE])
    rows = [row for line in out.splitlines() if len(row := line.split("\t")) == COLUMNS]
    versions = {name: version.strip() for name, status, version in rows if status[1:2] == "i"}
    return versions, sorted({name for name, status, _ in rows if status.startswith("h") and name in NAMES})


def rpm(look: Any) -> tuple[dict[str, str], list[str]]:
    """Return versions by rpm, and what versionlock names."""
    _, out = look.run(["rpm", "-q", "--queryformat", RPM_FORMAT, *NAMES, *OBSOLETE])
    rows = [row for line in out.splitlines() if len(row := line.split("\t")) == COLUMNS]
    locks = "\n".join(filter(None, map(look.text, LOCKS)))
    held = [name for name in NAMES if re.search(rf"(?m)^(?!\s*[#!]).*\b{re.escape(name)}-(?:\d|\*)", locks)]
    held += [name for name in NAMES if re.search(rf"(?m)^\s*name\s*=\s*\"{re.escape(name)}\"", locks)]
    return {name: version for name, version, _ in rows}, sorted(set(held))


def origins(look: Any, names: list[str]) -> dict[str, list[str]]:
    """Return which of apt's repositories offer the installed build of each package."""
    if not names or not look.which("apt-cache"):
        return {}
    rc, out = look.run(["apt-cache", "policy", *names])
    found: dict[str, list[str]] = {}
    name, here = "", False
    for line in out.splitlines() if rc == 0 else []:
        if line and not line.startswith(" "):
            name = line.rstrip(":")
            found[name] = []
        elif re.match(r"\s+(?:\*\*\*\s|\S+ -?\d+$)", line):
            here = line.startswith(" ***")
        elif here and (source := re.match(r"\s+-?\d+ (\S+://\S+)", line)):
            found[name].append(source.group(1))
    return found


def toolkit(look: Any) -> dict[str, Any]:
    """Look at what is installed; where apt cannot read its sources, no origin is known."""
    managers = (("apt", "dpkg-query", apt), ("dnf", "rpm", rpm))
    manager, ask = next(((name, ask) for name, program, ask in managers if look.which(program)), (None, None))
    versions, held = ask(look) if ask else ({}, [])
    here = {name: versions[name] for name in NAMES if name in versions}
    return {
        "ctk": look.which("nvidia-ctk"),
        "manager": manager,
        "installed": here,
        "held": held,
        "origins": origins(look, list(here)) if manager == "apt" else {},
        "obsolete": {name: versions[name] for name in OBSOLETE if name in versions},
        "udev": look.exists("/etc/udev/rules.d"),
        "rule": next((path for path in RULES if look.exists(path)), None),
        "refresh_env": look.text(REFRESH_ENV),
    }
