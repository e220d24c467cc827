"""apt's source files, one-line and deb822: which entries name a repository that we bring, and the file without them. Pure."""

from __future__ import annotations

import re

# apt ignores other names without a word, and names with these ends too.
IGNORED = re.compile(r"(~|\.(disabled|bak|save|orig|distUpgrade|dpkg-[a-z]+|ucf-[a-z]+))$")
COMMENT = "# gpu-host: "


def normal(url: str, architecture: str) -> str:
    """Return an address as it is compared: no scheme, $(ARCH) put in, no slashes at the end."""
    plain = url.strip().replace("$(ARCH)", architecture)
    plain = re.sub(r"^[a-z0-9+]+:/*", "", plain, flags=re.IGNORECASE)
    host, slash, path = plain.partition("/")
    return re.sub(r"/+", "/", host.lower() + slash + path).rstrip("/")


def begins(url: str, prefixes: list, architecture: str) -> bool:
    """Tell whether an address is one of these, or lies below one of them."""
    plain = normal(url, architecture)
    heads = [normal(prefix, architecture) for prefix in prefixes]
    return any(plain == head or plain.startswith(f"{head}/") for head in heads)


def reads(name: str) -> bool:
    """Tell whether apt reads a file of that name in sources.list.d."""
    return name.endswith((".list", ".sources")) and not IGNORED.search(name)


def line_url(line: str) -> str | None:
    """Return the address of a one-line entry; None for comments and anything else."""
    shown = re.match(r"\s*deb(?:-src)?\s+(?:\[[^\]]*\]\s*)?(\S+)", line)
    return shown.group(1) if shown else None


def stanzas(text: str) -> list:
    """Split a deb822 file; joined again with "" it is the same text."""
    return re.findall(r"(?:.+\n?)+|\n+", text) if text else []


def fields(stanza: str) -> dict:
    """Return the fields of a stanza, continued lines joined."""
    found: dict = {}
    key = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and key:
            found[key] += " " + line.strip()
        elif ":" in line:
            key, _, value = line.partition(":")
            key = key.strip().lower()
            found[key] = value.strip()
    return found


def stanza_urls(stanza: str) -> list:
    """Return the addresses of a stanza that is in use."""
    given = fields(stanza)
    off = given.get("enabled", "yes").lower() in ("no", "false", "0", "off")
    return [] if off else given.get("uris", "").split()


def parts(name: str, text: str) -> list:
    """Split a file into (piece, addresses in use)."""
    if name.endswith(".sources"):
        return [(piece, stanza_urls(piece)) for piece in stanzas(text)]
    return [(line, [url] if (url := line_url(line)) else []) for line in text.splitlines(keepends=True)]


def without(name: str, text: str, prefixes: list, architecture: str) -> tuple:
    """Return (number of entries taken out, the file without them; None where nothing else is in it).

    A stanza that also names other addresses keeps these.
    """
    taken, kept, others = 0, [], 0
    for piece, urls in parts(name, text):
        ours = [url for url in urls if begins(url, prefixes, architecture)]
        others += len(urls) - len(ours)
        if not ours:
            kept.append(piece)
            continue
        taken += len(ours)
        if len(ours) < len(urls):
            for url in ours:
                piece = re.sub(rf"(?<=\s){re.escape(url)}(?=\s)[ \t]?", "", piece)
            kept.append(piece)
        else:
            kept += [f"{COMMENT}{line}" for line in piece.splitlines(keepends=True)]
    return taken, "".join(kept) if others else None


def strange(name: str, text: str) -> str | None:
    """Say what is wrong with a file that names no repository at all; None where it does or is simply empty."""
    if any(urls for _, urls in parts(name, text)):
        return None
    if text.lstrip()[:1] == "<":
        return "a web page (HTML or XML) saved in the place of a source list"
    if text.strip() and not re.search(r"^\s*#?\s*deb\b|^\s*#?\s*Types:", text, re.MULTILINE):
        return "no line in it names a repository"
    return None


def source(given: dict, keyring: str) -> str:
    """Return our own deb822 file."""
    lines = [
        f"# Written by gpu-host, role {given['role']}",
        "Types: deb",
        f"URIs: {given['url']}",
        f"Suites: {given['suite'] or '/'}",
        *([f"Components: {' '.join(given['components'])}"] if given["components"] else []),
        *[f"{key}: {value}" for key, value in sorted((given.get("options") or {}).items())],
        f"Signed-By: {keyring}",
    ]
    return "\n".join(lines) + "\n"
