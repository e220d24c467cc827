"""The processes on the cards: what the driver says, joined with owner, command and container."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verify.facts.reading import whole, word
from verify.facts.smi import xml_elements
from verify.json_values import as_text, json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import Recording

_ROW = re.compile(r"^\s*(\d+)\s+(\S+)\s+(.+)$")
_GROUP = re.compile(r"^(\d+) cgroup (.*)$")
_CONTAINER = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_SHORT_ID = 12


@dataclass(frozen=True, slots=True)
class Process:
    """A process that holds a card; what nobody said is None."""

    pid: int
    name: str | None = None
    memory_mib: int | None = None
    user: str | None = None
    container: str | None = None


def holders(recording: Recording) -> dict[int, Process]:
    """Read ``gpu-processes``: who holds a card's device node open, whether the driver lists it or not."""
    entry = recording.command("gpu-processes")
    lines = entry.stdout.splitlines() if entry else []
    containers = _containers(lines, _names(recording))
    found: dict[int, Process] = {}
    for line in lines:
        row = _ROW.match(line)
        if row and row.group(2) != "cgroup":
            pid = int(row.group(1))
            found[pid] = Process(
                pid, name=row.group(3).strip(), user=row.group(2), container=containers.get(pid)
            )
    return found


def card_processes(body: str, held: Mapping[int, Process]) -> tuple[Process, ...]:
    """Read one card's processes from its part of the XML."""
    found: dict[int, Process] = {}
    for values in xml_elements(body, "process_info"):
        pid = whole(values.get("pid"))
        if pid is None:
            continue
        known = held.get(pid, Process(pid))
        name = known.name or word(values.get("process_name"))
        memory = whole(values.get("used_memory"))
        # With MIG, or drawing and computing at once, one process has several rows.
        before = found.get(pid)
        if before is not None and before.memory_mib is not None:
            memory = before.memory_mib + (memory or 0)
        found[pid] = replace(known, name=name, memory_mib=memory)
    return tuple(found.values())


def _names(recording: Recording) -> dict[str, str]:
    entry = recording.command("docker-ps")
    rows = (json_object(line) for line in (entry.stdout.splitlines() if entry else []))
    named = ((as_text(row.get("id")), as_text(row.get("name"))) for row in rows if row)
    return {key: name.lstrip("/") for key, name in named if key and name}


def _containers(lines: list[str], names: Mapping[str, str]) -> dict[int, str]:
    """Return the container of each process: by its name, else by the beginning of its id."""
    found: dict[int, str] = {}
    for line in lines:
        group = _GROUP.match(line)
        ids = _CONTAINER.findall(group.group(2)) if group else []
        if group and ids:
            known = next((names[key] for key in ids if key in names), None)
            pid = int(group.group(1))
            if known or pid not in found:
                found[pid] = known or ids[-1][:_SHORT_ID]
    return found
