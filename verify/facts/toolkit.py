"""The NVIDIA Container Toolkit: its four packages, who holds or built them, its CDI specification."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.cdi import CdiSpec, cdi_specs, unread_specs
from verify.facts.source import cite, cite_command
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import Recording

PACKAGES = (
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "libnvidia-container-tools",
    "libnvidia-container1",
)
OBSOLETE = ("nvidia-docker2", "nvidia-container-runtime")
HOOK = "/usr/bin/nvidia-container-runtime-hook"
DAEMON_PID = "/var/run/docker.pid"
_PACKAGE_COLUMNS = 3
_POLICY = re.compile(r"^([a-z0-9][a-z0-9+.-]*)(?::\w+)?:$")
_TABLE_VERSION = re.compile(r"^ (?:\*\*\*|   ) (\S+) (\d+)$")
_TABLE_ORIGIN = re.compile(r"^\s{8,}-?\d+ (\S+)")


@dataclass(frozen=True, slots=True)
class Offer:
    """What apt would install of one package: the candidate, and the address that offers it."""

    candidate: str
    origin: str | None


@dataclass(frozen=True, slots=True)
class ToolkitFacts:
    """``packages``, ``held`` and ``offers`` are None where nobody asked the package manager.

    ``hook`` says whether the hook's program is there, ``hook_since`` and ``daemon_since`` (UTC, ISO 8601)
    since when it and the running daemon are.
    """

    packages: dict[str, str] | None
    obsolete: tuple[str, ...]
    held: tuple[str, ...] | None
    offers: Mapping[str, Offer] | None
    hook: bool | None
    hook_since: str | None
    daemon_since: str | None
    specs: tuple[CdiSpec, ...] | None
    unreadable_specs: tuple[str, ...]
    unread_specs: tuple[str, ...]
    evidence: tuple[str, ...]
    held_evidence: tuple[str, ...]
    spec_evidence: tuple[str, ...]
    hook_evidence: tuple[str, ...]

    @property
    def versions(self) -> dict[str, Version]:
        """The upstream version of each installed package."""
        read = {name: Version.parse(text) for name, text in (self.packages or {}).items()}
        return {name: version for name, version in read.items() if version}


def toolkit_facts(recording: Recording) -> ToolkitFacts:
    """Read the toolkit's state on a host."""
    packages, obsolete, evidence = _packages(recording)
    held, held_evidence = _held(recording)
    specs, unreadable, spec_evidence = cdi_specs(recording)
    hook = recording.paths.get(HOOK)
    seen = recording.file(HOOK)
    return ToolkitFacts(
        packages=packages,
        obsolete=obsolete,
        held=held,
        offers=_offers(recording),
        hook=seen.present if hook is None and seen else hook,
        hook_since=_since(recording, HOOK),
        daemon_since=_since(recording, DAEMON_PID),
        specs=specs,
        unreadable_specs=unreadable,
        unread_specs=unread_specs(recording),
        evidence=evidence,
        held_evidence=held_evidence,
        spec_evidence=spec_evidence,
        hook_evidence=_hook_evidence(recording),
    )


def _since(recording: Recording, path: str) -> str | None:
    """Return the later of a file's times: in a package it keeps the mtime of its build."""
    entry = recording.file(path)
    times = [time for time in (entry.mtime, entry.ctime) if time] if entry and entry.present else []
    return max(times, default=None)


def _packages(recording: Recording) -> tuple[dict[str, str] | None, tuple[str, ...], tuple[str, ...]]:
    entry = recording.command("toolkit-packages")
    if entry is None or not entry.ran:
        return None, (), (cite_command(entry),) if entry else ()
    rows = [line.split() for line in entry.stdout.splitlines()]
    rows = [row for row in rows if len(row) >= _PACKAGE_COLUMNS and row[-1] == "installed"]
    installed = {row[0].partition(":")[0]: row[1] for row in rows}
    found = {name: installed[name] for name in PACKAGES if name in installed}
    old = tuple(f"{name} {installed[name]}" for name in OBSOLETE if name in installed)
    lines = [cite("toolkit-packages", f"{name} {version} installed") for name, version in found.items()]
    lines += [cite("toolkit-packages", f"{row} installed") for row in old]
    return found, old, tuple(lines) or (cite("toolkit-packages", "none of the four is installed"),)


def _held(recording: Recording) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """Return which of the four are held; dnf's list holds names with versions, or patterns."""
    entry = recording.command("held-packages")
    if entry is None or not entry.ok:
        return None, ()
    lines = [line.strip() for line in entry.stdout.splitlines() if line.strip()]
    found = {name: line for name in PACKAGES for line in lines if _names(line, name)}
    cited = [cite("held-packages", line) for line in found.values()]
    return tuple(found), tuple(cited) or (cite("held-packages", "none of the four"),)


def _names(line: str, package: str) -> bool:
    """Whether a line is this package: ``name``, ``name:amd64`` or ``name-0:1.20.2-1.*``."""
    return re.fullmatch(rf"{re.escape(package)}(?::\w+|-(?:\d+:)?\d\S*)?", line) is not None


def _offers(recording: Recording) -> Mapping[str, Offer] | None:
    """Read ``apt-cache policy``: the candidate of each of the four, and who offers it."""
    entry = recording.command("apt-policy")
    if entry is None or not entry.ok:
        return None
    offers: dict[str, Offer] = {}
    name, candidate, row = "", None, None
    for line in entry.stdout.splitlines():
        head, version, origin = _POLICY.match(line), _TABLE_VERSION.match(line), _TABLE_ORIGIN.match(line)
        if head:
            name, candidate, row = head.group(1), None, None
        elif line.strip().startswith("Candidate:"):
            candidate = line.partition(":")[2].strip()
            if name in PACKAGES and candidate != "(none)":
                offers[name] = Offer(candidate, None)
        elif version:
            row = version.group(1)
        elif origin and row == candidate and name in offers and offers[name].origin is None:
            address = origin.group(1)
            # The list of what is installed is an origin to apt; it offers nothing.
            if not address.startswith("/"):
                offers[name] = Offer(offers[name].candidate, address)
    return offers


def _hook_evidence(recording: Recording) -> tuple[str, ...]:
    """Cite the times of the hook and of the daemon."""
    found = ((path, _since(recording, path)) for path in (HOOK, DAEMON_PID))
    return tuple(cite(path, f"there since {since}") for path, since in found if since)
