"""What the Docker client and the daemon said, in their own words, to be cited."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from verify.facts.source import cite, cite_command
from verify.json_values import as_list, as_object, json_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.recording import CommandEntry

_UNREACHABLE = re.compile(
    r"Cannot connect to the Docker daemon|Is the docker daemon running|connection refused", re.IGNORECASE
)
_LONGEST = 200
_NO_START = re.compile(
    r"((?:failed to start daemon|unable to configure the Docker daemon|failed to load listeners)[^\n]*)"
)


def last_word(entry: CommandEntry | None) -> str | None:
    """Return why the daemon did not start, by its own last word."""
    lines = _NO_START.findall(entry.stdout) if entry and not entry.timed_out else []
    return lines[-1].strip()[:_LONGEST] if lines else None


def said(entry: CommandEntry | None) -> str:
    """Return what the client complained of, the daemon's absence before anything else."""
    if entry is None:
        return ""
    errors = as_list((json_object(entry.stdout) or {}).get("ServerErrors"))
    if errors:
        return str(errors[0])[:_LONGEST]
    lines = (entry.error or entry.stderr.strip() or entry.stdout.strip()).splitlines()
    unreachable = (line.strip() for line in lines if _UNREACHABLE.search(line))
    return next(unreachable, lines[0] if lines else "")[:_LONGEST]


def said_lines(
    asked: list[CommandEntry], unit: Mapping[str, str], socket: Mapping[str, str], info: Mapping[str, Any]
) -> list[str]:
    """Return the lines to cite: what the engine said of itself, and the state of its unit and its socket."""
    lines = []
    for entry in asked:
        line = None
        if entry.name == "docker-info" and info:
            line = f"ServerVersion {info['ServerVersion']}, DefaultRuntime {info.get('DefaultRuntime')}"
        elif entry.name == "docker-version" and entry.ok:
            server = as_object((json_object(entry.stdout) or {}).get("Server"))
            line = f"Server.Version {server.get('Version')}"
        elif not entry.missing and not entry.timed_out:
            line = said(entry)
        lines.append(cite_command(entry, line))
    if "ActiveState" in unit:
        lines.append(cite("docker-show", f"ActiveState={unit['ActiveState']}"))
    if "ActiveState" in socket:
        lines.append(cite("docker-socket-show", f"ActiveState={socket['ActiveState']}"))
    return lines
