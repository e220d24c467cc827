"""NVIDIA's driver as it is on the host: does it work, in which versions, and what is about it."""

from __future__ import annotations

import json
import re
from typing import Any

from .gpu_host_cards import bridges
from .gpu_host_driver_module import loaded, module_facts
from .gpu_host_driver_origin import NONE, origin

OWNED = "/var/lib/gpu-host/owned.json"
MARKER = "/var/lib/gpu-host/reboot-needed.json"
# The driver's packages, never the toolkit's nor a kernel of that name: the second list is taken out again.
PATTERNS = ("nvidia-*", "libnvidia-*", "libcuda1", "cuda-drivers*", "linux-modules-nvidia-*", "kmod-nvidia-*")
OTHERS = re.compile(r"^(lib)?nvidia-(container|docker)|^nvidia-(cuda-|settings|prime|cudnn|system)")
VERSION = re.compile(r"^\s*(\d+\.\d+(?:\.\d+)?)\s*$", re.MULTILINE)
LIBRARY = re.compile(r"libnvidia-ml\.so\.(\d+\.\d+(?:\.\d+)?)$")
LIBRARIES = (
    "/usr/lib/*-linux-gnu/libnvidia-ml.so.*",
    "/usr/lib64/libnvidia-ml.so.*",
    "/usr/lib/libnvidia-ml.so.*",
)
INFOROM = 14  # a card's infoROM is damaged: nvidia-smi works, and warns
UNITS = ("nvidia-persistenced", "nvidia-fabricmanager")


def smi(look: Any, tool: str | None) -> dict[str, Any]:
    """Ask nvidia-smi for the version: one line a card that it serves."""
    if not tool:
        return {"works": False, "says": "nvidia-smi is not installed", "version": None, "serves": 0}
    rc, out = look.run([tool, "--query-gpu=driver_version", "--format=csv,noheader"])
    versions = VERSION.findall(out)
    lines = out.splitlines()
    works = rc in (0, INFOROM)
    return {
        "works": works,
        "says": lines[0] if lines else "",
        "version": versions[0] if works and versions else None,
        "serves": len(versions) if works else 0,
    }


def mig(look: Any, tool: str) -> list[str]:
    """Return the MIG mode of each card as it is reported: it is left alone."""
    rc, out = look.run([tool, "--query-gpu=mig.mode.current", "--format=csv,noheader"])
    return [line.strip() for line in out.splitlines() if line.strip()] if rc == 0 else []


def packages(look: Any) -> tuple[dict[str, str], list[str], list[str]]:
    """Return the driver's packages by name, those that are held, and those that are there in part only."""
    half: list[str] = []
    if look.which("dpkg-query"):
        form = "${Package}\t${db:Status-Abbrev}\t${Version}\n"
        _, out = look.run(["dpkg-query", "-W", "-f", form, *PATTERNS])
        rows = [line.split("\t") for line in out.splitlines() if line.count("\t") == 2]  # noqa: PLR2004
        there = {name: (state, version) for name, state, version in rows if state[1:2] in tuple("iUFHWt")}
        held = [name for name, (state, _) in there.items() if state.startswith("h")]
        half = [name for name, (state, _) in there.items() if state[1:2] != "i"]
        names = {name: version.strip() for name, (_, version) in there.items()}
    elif look.which("rpm"):
        form = "%{NAME}\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n"
        _, out = look.run(["rpm", "-qa", "--qf", form, *PATTERNS])
        names = dict(line.split("\t") for line in out.splitlines() if line.count("\t") == 1)
        locks = [look.text(path) or "" for path in look.paths("/etc/dnf/plugins/versionlock.list")]
        locks += [look.text(path) or "" for path in look.paths("/etc/dnf/versionlock.toml")]
        held = [name for name in names if any(re.search(rf"\b{re.escape(name)}\b", text) for text in locks)]
    else:
        return {}, [], []
    own = {name: version for name, version in names.items() if not OTHERS.match(name)}
    return own, sorted(set(held) & set(own)), sorted(set(half) & set(own))


def ours(look: Any) -> dict[str, Any]:
    """Return what the ownership file has as this role's; ``holding``: a run was cut off while it held."""
    try:
        entry = json.loads(look.text(OWNED) or "{}")["roles"]["nvidia_driver"]
        holding = bool((entry.get("settings") or {}).get("holding"))
        return {
            **{kind: list(entry.get(kind) or []) for kind in ("packages", "files", "holds")},
            **({"holding": True} if holding else {}),
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"packages": [], "files": [], "holds": []}


def boot_id(look: Any) -> str:
    return (look.text("/proc/sys/kernel/random/boot_id") or "").strip()


def marker(look: Any) -> dict[str, Any] | None:
    """Return the mark of a reboot that is due, and whether a boot since then has settled it."""
    try:
        found = json.loads(look.text(MARKER) or "null")
    except ValueError:
        found = {}
    if not isinstance(found, dict):
        return None
    return {
        "because": str(found.get("because", "")),
        "due": str(found.get("boot_id", "")).strip() == boot_id(look),
    }


def units(look: Any) -> dict[str, str]:
    """Return the state of the driver's services that are there."""
    if not look.which("systemctl"):
        return {}
    argv = ["systemctl", "show", "--property=Id,LoadState,ActiveState", *UNITS]
    _, out = look.run(argv, 10.0)
    found = {}
    for block in out.split("\n\n"):
        row = dict(line.partition("=")[::2] for line in block.splitlines())
        if row.get("LoadState") == "loaded":
            found[row.get("Id", "").replace(".service", "")] = row.get("ActiveState", "unknown")
    return found


def driver(look: Any) -> dict[str, Any]:
    """Look at everything that is about the driver."""
    tool = look.which("nvidia-smi")
    asked = smi(look, tool)
    installed, held, half = packages(look)
    paths = [path for pattern in LIBRARIES for path in look.paths(pattern)]
    libraries = {found.group(1) for found in map(LIBRARY.search, paths) if found}
    return {
        "tool": tool,
        **asked,
        **(origin(look, tool) if tool else {"origin": None, "origin_kind": NONE}),
        "packages": installed,
        "held": held,
        "half": half,
        "ours": ours(look),
        "libraries": sorted(libraries),
        "loaded": loaded(look),
        **module_facts(look),
        "bridges": bridges(look),
        "mig": mig(look, tool) if tool and asked["works"] else [],
        "units": units(look),
        "reboot": marker(look),
        "boot_id": boot_id(look),
        "gpg": look.which("gpg"),
    }
