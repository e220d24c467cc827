"""apt's source files, one-line and deb822: which entries name a repository of ours. Pure."""

from __future__ import annotations

import re

# apt ignores other names without a word, and names with these ends too.
IGNORED = re.compile(r"(~|\.(disabled|bak|save|orig|distUpgrade|dpkg-[a-z]+|ucf-[a-z]+))$")
COMMENT = "# gpu-host: "
OFF = ("no", "false", "without", "off", "disable", "0")  # apt's own words for it


def normal(url: str, architecture: str) -> str:
    """Return an address as it is compared: no scheme, user, usual port, $(ARCH) or last slash."""
    plain = url.strip().replace("$(ARCH)", architecture)
    plain = re.sub(r"^[a-z0-9+]+:/*", "", plain, flags=re.IGNORECASE)
    host, slash, path = plain.partition("/")
    host = re.sub(r":(80|443)$", "", host.rpartition("@")[2].lower())
    return re.sub(r"/+", "/", host + slash + path).rstrip("/")


def begins(url: str, prefixes: list, architecture: str) -> bool:
    """Tell whether an address is one of these, or lies below one of them; one after "=" is that one alone."""
    plain = normal(url, architecture)
    alone = [normal(prefix[1:], architecture) for prefix in prefixes if prefix.startswith("=")]
    heads = [normal(prefix, architecture) for prefix in prefixes if not prefix.startswith("=")]
    return plain in alone or any(plain == head or plain.startswith(f"{head}/") for head in heads)


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
    return [] if given.get("enabled", "yes").lower() in OFF else given.get("uris", "").split()


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
            words = "|".join(re.escape(url) for url in ours)
            kept.append(re.sub(rf"(?<![^\s:])(?:{words})(?!\S)[ \t]?", "", piece))
        else:
            kept += [f"{COMMENT}{line}" for line in piece.splitlines(keepends=True)]
    return taken, "".join(kept) if others else None


def restored(text: str) -> str:
    """Return a file without our comment marks."""
    return re.sub(rf"^{re.escape(COMMENT)}", "", text, flags=re.MULTILINE)


def blocks(name: str, text: str) -> bool:
    """Tell whether apt reads no source at all with this file: it has more than entries and comments."""
    if name.endswith(".sources"):
        plain = [re.sub(r"(?m)^#.*\n?", "", piece) for piece in stanzas(text)]
        return any(piece.strip() and "types" not in fields(piece) for piece in plain)
    lines = [line.strip() for line in text.splitlines()]
    return any(line and not re.match(r"#|(deb|deb-src)\s", line) for line in lines)


def strange(name: str, text: str) -> str | None:
    """Say what is wrong with a file that names no repository; None where it does or is simply empty."""
    if any(urls for _, urls in parts(name, text)):
        return None
    if text.lstrip()[:1] == "<":
        return "a web page (HTML or XML) saved in the place of a source list"
    if blocks(name, text):
        return "no source list, but what a server answered or a slip of the keyboard"
    if text.strip() and not re.search(r"^\s*#?\s*deb\b|^\s*#?\s*Types:", text, re.MULTILINE):
        return "no line in it names a repository"
    return None


def entries(name: str, text: str) -> list:
    """Return (address, suite, key) of each entry in use."""
    found = []
    for piece, urls in parts(name, text):
        if name.endswith(".sources"):
            given = fields(piece)
            suites, key = given.get("suites", "").split(), given.get("signed-by", "")
        else:
            shown = re.match(r"\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s*)?\S+\s+(\S+)", piece)
            suites = [shown[2]] if shown else []
            signed = re.search(r"signed-by=(\S+)", (shown[1] or "") if shown else "", re.IGNORECASE)
            key = signed[1] if signed else ""
        found += [(url, suite, key) for url in urls for suite in suites]
    return found


def conflicts(files: dict, architecture: str) -> list:
    """Say which entries name one repository with different keys: apt then reads no source at all."""
    keys: dict = {}
    for path, text in sorted(files.items()):
        for url, suite, key in entries(path, text):
            keys.setdefault((normal(url, architecture), suite), {}).setdefault(key, set()).add(path)
    return [
        f"{' and '.join(sorted(set().union(*by_key.values())))} name {url} {suite} with different keys"
        for (url, suite), by_key in sorted(keys.items())
        if len(by_key) > 1
    ]


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
