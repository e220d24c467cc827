"""What of NVIDIA's software is there: driver and its origin, container toolkit, CDI specification."""

from __future__ import annotations

import re
from typing import Any

SPEC_PATTERNS = tuple(
    f"{folder}/nvidia*.{kind}" for folder in ("/etc/cdi", "/var/run/cdi") for kind in ("yaml", "json")
)
# `path: /dev/nvidia0`, `hostPath: /usr/lib/…`, and the same in JSON. A node's path is the host's too.
SPEC_ENTRY = re.compile(r"""["']?\b(hostPath|path)["']?\s*:\s*["']?(/[^"',\s]+)""")
CARD_NODE = re.compile(r"/dev/nvidia(\d+)$")


def packages(look: Any, names: list[str]) -> dict[str, str]:
    """Return the versions of those names that are installed (fully: not half-configured, not removed)."""
    if not names or not look.which("dpkg-query"):
        return {}
    _, out = look.run(["dpkg-query", "-W", "-f", "${Package}\t${db:Status-Abbrev}\t${Version}\n", *names])
    rows = (line.split("\t") for line in out.splitlines())
    return {row[0]: row[2].strip() for row in rows if len(row) == 3 and row[1].startswith(("ii", "hi"))}  # noqa: PLR2004


def origin(look: Any, tool: str) -> str:
    """Say where the driver's user space came from."""
    if tool.startswith("/usr/lib/wsl/"):
        return "the Windows host's driver (WSL)"
    for path in dict.fromkeys((look.real(tool), tool)):
        rc, out = look.run(["dpkg-query", "-S", path])
        owner = [line.partition(":")[0] for line in out.splitlines() if not line.startswith("diversion ")]
        if rc == 0 and owner:
            name = owner[0].split(",")[0]
            return f"package {name} {packages(look, [name]).get(name, '')}".strip()
    if look.exists("/usr/bin/nvidia-uninstall"):
        return "NVIDIA's .run installer"
    return "no package of this system"


def dkms(look: Any) -> list[str]:
    """Return the lines of `dkms status` about NVIDIA's module: apt's exit status does not tell."""
    rc, out = look.run(["dkms", "status"]) if look.which("dkms") else (None, "")
    return [line for line in out.splitlines() if line.startswith("nvidia")] if rc == 0 else []


def driver(look: Any) -> dict[str, Any]:
    tool = look.which("nvidia-smi")
    rc, out = (None, "nvidia-smi is not installed")
    if tool:
        rc, out = look.run([tool, "--query-gpu=driver_version", "--format=csv,noheader"])
    lines = out.splitlines()
    return {
        "tool": tool,
        "works": rc == 0,
        "says": lines[0] if lines else "",
        "version": lines[0].strip() if rc == 0 and lines else None,
        "origin": origin(look, tool) if tool else None,
        "dkms": dkms(look),
    }


def toolkit(look: Any) -> dict[str, Any]:
    """Look for what the toolkit's installation needs: gpg reads a key's fingerprint."""
    return {"gpg": look.which("gpg")}


def spec_paths(text: str) -> set[str]:
    """Return the host paths that a CDI specification names."""
    named = SPEC_ENTRY.findall(text)
    return {path for key, path in named if key == "hostPath" or path.startswith("/dev/")}


def stale(look: Any, text: str, driver_version: str | None) -> str | None:
    """Say why a specification no longer fits this machine; None where it does."""
    named = spec_paths(text)
    gone = sorted(path for path in named if not look.exists(path))
    if gone:
        return f"it names {gone[0]}, which does not exist"
    listed = {path for path in named if CARD_NODE.search(path)}
    there = {path for path in look.paths("/dev/nvidia[0-9]*") if CARD_NODE.search(path)}
    if listed != there:
        names = [" ".join(sorted(paths)) or "no card" for paths in (listed, there)]
        return f"it lists {names[0]}, the machine has {names[1]}"
    others = {found for path in named for found in re.findall(r"libnvidia-ml\.so\.(\d+\.\d+[.\d]*)$", path)}
    if driver_version and others - {driver_version}:
        return f"it was made for driver {min(others)}, the driver is {driver_version}"
    return None


def cdi(look: Any, driver_version: str | None) -> dict[str, Any]:
    """Judge the specification that counts: the last folder has the highest priority."""
    found = [path for pattern in SPEC_PATTERNS for path in look.paths(pattern)]
    if not found:
        return {"path": None, "fresh": False, "because": "there is none"}
    because = stale(look, look.text(found[-1]) or "", driver_version)
    return {"path": found[-1], "fresh": because is None, "because": because}
