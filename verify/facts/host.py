"""What kind of machine it is."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.container_kind import container_kind
from verify.facts.source import cite, file_text

if TYPE_CHECKING:
    from verify.recording import Recording

_OS_RELEASE = "/etc/os-release"
_KERNEL = "/proc/sys/kernel/osrelease"
_VERSION = "/proc/version"
_ASSIGNMENT = re.compile(r"""^([A-Z_]+)=["']?(.*?)["']?\s*$""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HostFacts:
    """A host's operating system and kernel, and how completely it was recorded."""

    os_id: str | None
    os_name: str | None
    os_family: tuple[str, ...]
    kernel: str | None
    wsl: bool
    container: str | None
    """The kind of container that this is, without a system of its own; None on a machine."""
    uid: int | None
    taken_at: str | None
    timed_out: tuple[str, ...]
    evidence: tuple[str, ...]

    @property
    def month(self) -> str | None:
        """The month of the recording, as ``2026-12``; None where it has no date."""
        try:
            taken = dt.datetime.fromisoformat(self.taken_at or "")
        except ValueError:
            return None
        return f"{taken.year:04}-{taken.month:02}"


def host_facts(recording: Recording) -> HostFacts:
    """Read the host's facts."""
    values = dict(_ASSIGNMENT.findall(file_text(recording, _OS_RELEASE) or ""))
    kernel = (file_text(recording, _KERNEL) or "").strip() or None
    evidence = []
    if values:
        evidence.append(cite(_OS_RELEASE, f"PRETTY_NAME={values.get('PRETTY_NAME', '')}"))
    if kernel:
        evidence.append(cite(_KERNEL, kernel))
    kind = container_kind(recording)
    if kind:
        evidence.append(kind.evidence)
    os_id = values.get("ID") or None
    return HostFacts(
        os_id=os_id,
        os_name=values.get("PRETTY_NAME") or os_id,
        os_family=tuple(filter(None, [os_id, *values.get("ID_LIKE", "").split()])),
        kernel=kernel,
        wsl="microsoft" in f"{kernel or ''} {file_text(recording, _VERSION) or ''}".lower(),
        container=kind.container if kind else None,
        uid=recording.uid,
        taken_at=recording.taken_at,
        timed_out=_timed_out(recording),
        evidence=tuple(evidence),
    )


def _timed_out(recording: Recording) -> tuple[str, ...]:
    entries = ((name, recording.command(name)) for name in recording.command_names)
    return tuple(sorted(name for name, entry in entries if entry and entry.timed_out))
