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


def in_use(section: str) -> bool:
    return section.startswith("[") and value(section, "enabled") not in ("0", "false", "no")


def without_repo(text: str, prefixes: list) -> tuple:
    """Return (number of sections taken out, the file without them; None where nothing else is in it)."""
    taken, kept, others = 0, [], 0
    for section in sections(text):
        ours = in_use(section) and begins(value(section, "baseurl").replace("$basearch", "*"), prefixes, "*")
        others += in_use(section) and not ours
        taken += ours
        kept += [f"{COMMENT}{line}" for line in section.splitlines(keepends=True)] if ours else [section]
    return taken, "".join(kept) if others else None


def repo(given: dict, keyring: str) -> str:
    """Return our own .repo file; packages are checked against the key that was checked before."""
    lines = [
        f"# Written by gpu-host, role {given['role']}",
        f"[{given['name']}]",
        f"name={given['name']}",
        f"baseurl={given['url']}",
        "enabled=1",
        "gpgcheck=1",
        f"gpgkey=file://{keyring}",
        *[f"{key}={text}" for key, text in sorted((given.get("options") or {}).items())],
        *([f"proxy={given['proxy']}"] if given["proxy"] else []),
        *([f"sslcacert={given['ca_file']}"] if given["ca_file"] else []),
    ]
    return "\n".join(lines) + "\n"
