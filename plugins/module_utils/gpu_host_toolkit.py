"""The container toolkit, and the CDI specification."""

from __future__ import annotations

import re
from typing import Any

SPEC_PATTERNS = tuple(
    f"{folder}/nvidia*.{kind}" for folder in ("/etc/cdi", "/var/run/cdi") for kind in ("yaml", "json")
)
# `path: /dev/nvidia0`, `hostPath: /usr/lib/…`, and the same in JSON. A node's path is the host's too.
SPEC_ENTRY = re.compile(r"""["']?\b(hostPath|path)["']?\s*:\s*["']?(/[^"',\s]+)""")
CARD_NODE = re.compile(r"/dev/nvidia(\d+)$")


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
