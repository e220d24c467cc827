"""dnf's repository files: which sections name a repository that we bring, and the file without them. Pure."""

from __future__ import annotations

import re

from .gpu_host_sources import COMMENT, begins


def sections(text: str) -> list:
    """Split a .repo file; joined again with "" it is the same text."""
    return re.split(r"(?m)^(?=\[)", text)


def value(section: str, key: str) -> str:
    shown = re.search(rf"(?mi)^\s*{key}\s*=\s*(.*?)\s*$", section)
    return shown.group(1) if shown else ""


def urls(section: str) -> list:
    """Return a section's addresses; dnf takes several, on lines of their own too."""
    shown = re.search(r"(?mi)^\s*baseurl\s*=((?:.*\n?)(?:[ \t]+\S.*\n?)*)", section)
    return [url for url in re.split(r"[\s,]+", shown.group(1)) if url] if shown else []


def in_use(section: str) -> bool:
    return section.startswith("[") and value(section, "enabled").lower() not in ("0", "false", "no", "off")


def without_repo(text: str, prefixes: list) -> tuple:
    """Return (number of sections taken out, the file without them; None where nothing else is in it)."""
    taken, kept, others = 0, [], 0
    for section in sections(text):
        ours = in_use(section) and any(begins(url, prefixes, "") for url in urls(section))
        others += in_use(section) and not ours
        taken += ours
        kept += [f"{COMMENT}{line}" for line in section.splitlines(keepends=True)] if ours else [section]
    return taken, "".join(kept) if others else None


def repo(given: dict, keyring: str) -> str:
    """Return our own .repo file; its key was checked before, and a role's options come over the usual."""
    lines = {
        "name": given["name"],
        "baseurl": given["url"],
        "enabled": "1",
        "gpgcheck": "1",
        "gpgkey": f"file://{keyring}",
        **(given.get("options") or {}),
    }
    head = [f"# Written by gpu-host, role {given['role']}", f"[{given['name']}]"]
    return "\n".join([*head, *(f"{key}={text}" for key, text in lines.items())]) + "\n"
