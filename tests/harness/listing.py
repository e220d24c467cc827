"""A host's state as one document, and what differs between two of them. Comparing is pure."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.harness.lab import Lab

ON_HOST = Path(__file__).with_name("listing_on_host.py")
# Differs between any two installations, whoever made them: nothing that a role could bring back.
ALWAYS: dict[str, str] = {
    r"files /etc/(passwd|group|shadow|gshadow|subuid|subgid)-": "adduser's copy from before its last change",
    r"files /etc/(mtab|resolv\.conf|hosts|hostname)": "the container engine's, new at every start",
    r"files /etc/ld\.so\.cache": "made anew by ldconfig, with the time of the libraries in it",
    r"files /etc/\.pwd\.lock": "made by the first useradd",
    r"files /root/\.ansible(/.*)?": "where Ansible puts its modules for the time of a task",
}


def listing(lab: Lab) -> dict[str, Any]:
    """Return the state of the host."""
    document: dict[str, Any] = json.loads(lab.exec(["python3", "-"], ON_HOST.read_text()).stdout)
    return document


def flat(document: Any, path: str = "") -> dict[str, str]:
    """Return a nested document as one level: a path and a value each."""
    if isinstance(document, Mapping) and document:
        found: dict[str, str] = {}
        for key, value in document.items():
            found |= flat(value, f"{path} {key}".strip())
        return found
    return {path: json.dumps(document, sort_keys=True)}


def differences(before: Any, after: Any, allowed: Iterable[str] = ()) -> list[str]:
    """Return what is not the same, one line each; paths that fully match an allowed pattern are left out."""
    one, other = flat(before), flat(after)
    patterns = [re.compile(pattern) for pattern in [*ALWAYS, *allowed]]
    lines = []
    for path in sorted(one.keys() | other.keys()):
        was, now = one.get(path, "nothing"), other.get(path, "nothing")
        if was != now and not any(pattern.fullmatch(path) for pattern in patterns):
            lines.append(f"{path}: {was} → {now}")
    return lines


def settled(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state without what names the time of a run: backups of daemon.json by their content alone.

    daemon.json itself is compared by what it says, not by its bytes, and so is the ownership file.
    """
    files, backups = {}, set()
    for path, what in state["files"].items():
        if path.startswith("/etc/docker/daemon.json."):
            backups.add(what)
        elif path not in {"/etc/docker/daemon.json", "/var/lib/gpu-host/owned.json"}:
            files[path] = what
    return {**state, "files": files, "backups": sorted(backups)}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
