"""The flags that systemd starts dockerd with, and the keys of daemon.json that they set (case A5)."""

from __future__ import annotations

import re
import shlex

# A flag's name is the file's key, but for these.
_KEYS = {
    "add-runtime": "runtimes",
    "authorization-plugin": "authorization-plugins",
    "cdi-spec-dir": "cdi-spec-dirs",
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
_SHORT = {
    "H": "host",
    "D": "debug",
    "G": "group",
    "b": "bridge",
    "g": "data-root",
    "l": "log-level",
    "p": "pidfile",
    "s": "storage-driver",
}
_SWITCHES = "D"  # short ones that take no value
# Objects that dockerd takes as one key; of any other object in the file each key counts by itself.
_WHOLE = ("builder", "default-network-opts", "default-ulimits", "features", "log-opts", "runtimes")
# The one key that may be in both.
_MERGED = ("runtimes",)
_PREFIXES = "-@:+!|"


def command_line(unit: str) -> tuple[str, ...]:
    """Return dockerd's words from ``systemctl cat docker``: an empty assignment forgets all before it.

    What an environment file adds is not recorded: a variable stays as it is written.
    """
    section, started = "", ""
    for line in _lines(unit):
        key, equals, value = (part.strip() for part in line.partition("="))
        if line.startswith("["):
            section = line
        elif section in ("", "[Service]") and equals and key == "ExecStart":
            started = value
    try:
        return tuple(shlex.split(started.lstrip(_PREFIXES)))
    except ValueError:  # a quote that is never closed
        return tuple(started.split())


def _lines(unit: str) -> list[str]:
    """Return the lines that say something, those that go on in the next joined."""
    said = (line for line in unit.splitlines() if line.strip()[:1] not in "#;")
    return [line.strip() for line in re.sub(r"\\\n", " ", "\n".join(said)).splitlines()]


def flags(argv: tuple[str, ...]) -> tuple[tuple[str, str, str], ...]:
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
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            found.append((name, value, word))
            waiting = not equals
            continue
        rest = word[1:]
        while rest and rest[0] in _SWITCHES:
            found.append((_SHORT[rest[0]], "", f"-{rest[0]}"))
            rest, waiting = rest[1:], False
        if rest:
            value = rest[1:].lstrip("=")
            found.append((_SHORT.get(rest[0], rest[0]), value, f"-{rest}"))
            waiting = not value
    return tuple(found)


def clashes(
    found: tuple[tuple[str, str, str], ...], document: dict[str, object]
) -> tuple[tuple[str, str, object], ...]:
    """Return (key, flags as written, the file's value) that dockerd refuses, whatever the values are."""
    there: dict[str, object] = {}
    for key, value in document.items():
        there.update(value if isinstance(value, dict) and key not in _WHOLE else {key: value})
    said: dict[str, list[str]] = {}
    for name, _, written in found:
        said.setdefault(_KEYS.get(name, name), []).append(written)
    return tuple(
        (key, ", ".join(written), there[key])
        for key, written in said.items()
        if key in there and key not in _MERGED
    )
