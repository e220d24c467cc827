"""The package manager: is it in the middle of something, and does something else hold its locks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, cite_command

if TYPE_CHECKING:
    from verify.recording import CommandEntry, Recording

AUDIT = "dpkg-audit"
LOCKS = "package-locks"
CLOUD_INIT = "cloud-init-status"
JOURNAL = "/var/lib/dpkg/updates/*"
# The headings of `dpkg --audit` that stop every later run; the others (triggers, missing md5sums) do not.
_HALF = (
    (re.compile(r"only half configured"), "half configured"),
    (re.compile(r"only half installed"), "half installed"),
    (re.compile(r"unpacked but not yet configured"), "unpacked, not configured"),
    (re.compile(r"are in a mess"), "in a mess"),
)
_NAME = re.compile(r"^ ([a-z0-9][a-z0-9+.-]*(?::[a-z0-9]+)?)(?:\s|$)")
_LOCK = re.compile(r"^(/\S+) (-?\d+) ?(.*)$")
_STATUS = re.compile(r"^status:\s*(.+)$", re.MULTILINE)
_DETAIL = re.compile(r"^detail:\s*\n?(.*)$", re.MULTILINE)
_DEGRADED = 2


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock that is held, and by whom."""

    path: str
    pid: int
    holder: str


@dataclass(frozen=True, slots=True)
class ManagerFacts:
    """None where nobody looked. ``half`` are packages that dpkg left half done, with their state."""

    half: tuple[tuple[str, str], ...] | None
    interrupted: bool | None
    locks: tuple[Lock, ...] | None
    cloud_init: str | None
    cloud_says: str
    evidence: tuple[str, ...]

    @property
    def recorded(self) -> bool:
        """Whether there is anything to go by."""
        return self.half is not None or self.locks is not None or self.cloud_init is not None


def manager_facts(recording: Recording) -> ManagerFacts:
    """Read what would stop the next installation."""
    audit, locks = recording.command(AUDIT), recording.command(LOCKS)
    cloud = recording.command(CLOUD_INIT)
    journal = recording.globs.get(JOURNAL)
    half, held = _half(audit), _locks(locks)
    status, says = _cloud_init(cloud)
    evidence = []
    if audit is not None:
        names = ", ".join(f"{name} ({state})" for name, state in half or ())
        evidence.append(cite_command(audit, names or None))
    if journal:
        evidence.append(cite(JOURNAL, f"{len(journal)} unfinished steps of dpkg"))
    evidence += [cite(LOCKS, f"{lock.path} {lock.pid} {lock.holder}") for lock in held or ()]
    if locks is not None and not held:
        evidence.append(cite_command(locks))
    if cloud is not None and status:
        evidence.append(cite(CLOUD_INIT, f"status: {status} {says}"))
    return ManagerFacts(
        half=half,
        interrupted=None if journal is None else bool(journal),
        locks=held,
        cloud_init=status,
        cloud_says=says,
        evidence=tuple(evidence),
    )


def _half(entry: CommandEntry | None) -> tuple[tuple[str, str], ...] | None:
    if entry is None or not entry.ran:
        return None
    found: list[tuple[str, str]] = []
    state: str | None = None
    for line in entry.stdout.splitlines():
        if line.startswith("The following"):
            state = None
        state = next((word for pattern, word in _HALF if pattern.search(line)), state)
        name = _NAME.match(line)
        if state and name:
            found.append((name.group(1).partition(":")[0], state))
    return tuple(found)


def _locks(entry: CommandEntry | None) -> tuple[Lock, ...] | None:
    if entry is None or not entry.ok:
        return None
    rows = (_LOCK.match(line) for line in entry.stdout.splitlines())
    return tuple(Lock(row[1], int(row[2]), row[3].strip() or "a process") for row in rows if row)


def _cloud_init(entry: CommandEntry | None) -> tuple[str | None, str]:
    """Return cloud-init's state; status 2 of the command is "done, with complaints"."""
    if entry is None or entry.missing or entry.timed_out:
        return None, ""
    found, detail = _STATUS.search(entry.stdout), _DETAIL.search(entry.stdout)
    if found is None:
        return None, ""
    status = found.group(1).strip()
    if status == "done" and entry.rc == _DEGRADED:
        status = "degraded"
    return status, detail.group(1).strip() if detail else ""
