"""The command line that systemd starts dockerd with, and what the file must therefore not say again. Pure.

This file stands twice, byte for byte: for the modules that change a host (plugins/module_utils) and for the
doctor (verify/facts/daemon_flags.py); neither can import the other's.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# A flag's name is the file's key, but for these; dockerd refuses a key that is in both, whatever its value.
KEYS = {
    "add-runtime": "runtimes",
    "authorization-plugin": "authorization-plugins",
    "cdi-spec-dir": "cdi-spec-dirs",
    "cluster-store-opt": "cluster-store-opts",
    "default-address-pool": "default-address-pools",
    "default-network-opt": "default-network-opts",
    "default-ulimit": "default-ulimits",
    "dns-opt": "dns-opts",
    "exec-opt": "exec-opts",
    "feature": "features",
    "host": "hosts",
    "host-gateway-ip": "host-gateway-ips",
    "insecure-registry": "insecure-registries",
    "label": "labels",
    "log-opt": "log-opts",
    "node-generic-resource": "node-generic-resources",
    "registry-mirror": "registry-mirrors",
    "storage-opt": "storage-opts",
}
SHORT = {
    "H": "host",
    "D": "debug",
    "G": "group",
    "b": "bridge",
    "g": "graph",
    "l": "log-level",
    "p": "pidfile",
    "r": "restart",
    "s": "storage-driver",
}
SWITCHES = "Dr"  # short ones that take no value
# Objects that dockerd takes as one key; of any other object in the file each key counts by itself.
WHOLE = {
    "builder",
    "cluster-store-opts",
    "default-network-opts",
    "default-ulimits",
    "features",
    "log-opts",
    "runtimes",
}
OLD_NAMES = {"host-gateway-ip": "host-gateway-ips"}
MERGED = {"runtimes"}  # the one key that may be in both
PREFIXES = "-@:+!|"
VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


def words(text: str) -> list[str]:
    """Split as systemd does; a quote that is never closed ends nothing."""
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def lines(text: str) -> list[str]:
    """Return lines with their continuations joined, and no comments, not even between the two."""
    joined: list[str] = []
    open_line = False
    for raw in text.splitlines():
        line = raw.strip()
        if line.startswith(("#", ";")):
            continue
        more = line.endswith("\\")
        line = line[:-1].rstrip() if more else line
        if open_line:
            joined[-1] = f"{joined[-1]} {line}".strip()
        else:
            joined.append(line)
        open_line = more
    return [line for line in joined if line]


def assignments(text: str) -> dict[str, str]:
    """Return what an environment file sets."""
    found = {}
    for line in lines(text):
        name, equals, value = line.partition("=")
        if equals:
            found[name.strip()] = " ".join(words(value))
    return found


def command_line(unit: str, read: Callable[[str], str | None]) -> list[str]:
    """Return dockerd's argv from `systemctl cat docker`; ``read`` returns the text of an environment file.

    A later file adds to an earlier one, and an empty assignment forgets all that came before it.
    """
    section = ""
    started: list[str] = []
    environment: dict[str, str] = {}
    files: list[str] = []
    for line in lines(unit):
        if line.startswith("["):
            section = line
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if section not in ("", "[Service]") or not equals:
            continue
        if key == "ExecStart":
            started = [*started, value] if value else []
        elif key == "Environment":
            pairs = (word.partition("=") for word in words(value))
            environment = {**environment, **{name: text for name, _, text in pairs}} if value else {}
        elif key == "EnvironmentFile":
            files = [*files, value.lstrip("-")] if value else []
    for file in files:
        environment.update(assignments(read(file) or ""))
    return expanded(started[-1], environment) if started else []


def expanded(line: str, environment: dict[str, str]) -> list[str]:
    """Return the words of one ExecStart, its variables put in."""
    argv: list[str] = []
    for word in words(line.lstrip(PREFIXES)):
        alone = re.fullmatch(r"\$(\w+)", word)
        if alone:
            # Alone and without braces, a variable becomes as many words as it holds.
            argv += words(environment.get(alone.group(1), ""))
        else:
            argv.append(
                VARIABLE.sub(
                    lambda found: environment.get(found.group(1) or found.group(2), ""),
                    word.replace("$$", "\0"),
                ).replace("\0", "$")
            )
    return argv


def flags(argv: list[str]) -> list[tuple[str, str, str]]:
    """Return (flag's long name, value, as it is written) for each; dockerd has no other arguments."""
    found: list[tuple[str, str, str]] = []
    waiting = False
    for word in argv[1:]:
        if not word.startswith("-") or word == "-":
            if waiting:
                name, _, written = found[-1]
                found[-1] = (name, word, f"{written} {word}")
            waiting = False
            continue
        waiting = True
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found.append((name, value, word))
            waiting = not equals
            continue
        rest = word[1:]
        while rest and rest[0] in SWITCHES and not rest[1:].startswith("="):
            found.append((SHORT[rest[0]], "", f"-{rest[0]}"))
            rest, waiting = rest[1:], False
        if rest:
            value = rest[1:].lstrip("=")
            found.append((SHORT.get(rest[0], rest[0]), value, f"-{rest}"))
            waiting = not value
    return found


def by_key(found: list[tuple[str, str, str]]) -> dict[str, list[str]]:
    """Return the flags as written, by the file's key."""
    keys: dict[str, list[str]] = {}
    for name, _, written in found:
        keys.setdefault(KEYS.get(name, name), []).append(written)
    return keys


def values(found: list[tuple[str, str, str]], name: str) -> list[str]:
    """Return what a flag was given, each time that it stands there."""
    return [value for given, value, _ in found if given == name]


def keys_of(document: dict[str, Any]) -> dict[str, Any]:
    """Return what the file sets as dockerd counts it."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        inner = value if isinstance(value, dict) and key not in WHOLE else {key: value}
        found.update({OLD_NAMES.get(name, name): below for name, below in inner.items()})
    return found


def clashes(found: list[tuple[str, str, str]], document: dict[str, Any]) -> dict[str, list[str]]:
    """Return the flags, as written, that dockerd refuses beside this file, by the file's key."""
    there = keys_of(document)
    return {key: said for key, said in by_key(found).items() if key in there and key not in MERGED}


def runtime_by_flag(found: list[tuple[str, str, str]], name: str) -> str | None:
    """Return the program of a runtime that a flag registers."""
    given = (value.partition("=") for value in values(found, "add-runtime"))
    return next((path for key, _, path in given if key == name), None)


def cdi_by_flag(found: list[tuple[str, str, str]]) -> bool | None:
    """Tell whether a flag switches CDI on or off; None where none does."""
    given = (value.partition("=") for value in values(found, "feature"))
    said = [value for key, _, value in given if key == "cdi"]
    return said[-1].lower() not in ("false", "0", "f") if said else None
