"""NVIDIA's runtime as /etc/docker/daemon.json names it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import as_object, as_text, cite

if TYPE_CHECKING:
    from verify.recording import Recording

DAEMON_JSON = "/etc/docker/daemon.json"
_FLAG = re.compile(r"--add-runtime[= ]\"?nvidia=(\S+)")


@dataclass(frozen=True, slots=True)
class RuntimeFacts:
    """``path`` is the runtime's program; None where the file does not name it."""

    recorded: bool
    readable: bool
    damage: str | None
    empty: bool
    path: str | None
    cdi_feature: bool | None
    by_flag: str | None
    evidence: tuple[str, ...]


def runtime_facts(recording: Recording) -> RuntimeFacts:
    """Read daemon.json, and the flags of the unit."""
    entry = recording.file(DAEMON_JSON)
    unit = recording.command("docker-unit")
    flag = _FLAG.search(unit.stdout if unit else "")
    text = entry.text if entry else None
    document, damage = _parse(text) if text is not None else ({}, None)
    runtime = as_object(as_object(document.get("runtimes")).get("nvidia"))
    feature = as_object(document.get("features")).get("cdi")
    path = as_text(runtime.get("path")) or as_text(runtime.get("runtimeType"))
    evidence = []
    if entry is not None:
        line = (
            damage
            or entry.error
            or ("missing" if entry.missing else f"runtimes.nvidia = {json.dumps(runtime)}")
        )
        evidence.append(
            cite(
                DAEMON_JSON, line if runtime or damage or entry.missing or entry.error else _without(document)
            )
        )
    if flag:
        evidence.append(cite("docker-unit", flag.group(0)))
    return RuntimeFacts(
        recorded=entry is not None,
        readable=entry is not None and (entry.missing or text is not None),
        damage=damage,
        empty=text is not None and not text.strip(),
        path=path,
        cdi_feature=feature if isinstance(feature, bool) else None,
        by_flag=flag.group(1) if flag else None,
        evidence=tuple(evidence),
    )


def _without(document: dict[str, object]) -> str:
    names = ", ".join(document) or "none"
    return f"no runtimes.nvidia (keys: {names})"


def _parse(text: str) -> tuple[dict[str, object], str | None]:
    if not text.strip():
        return {}, None
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        line = (text.splitlines() or [""])[min(error.lineno, len(text.splitlines())) - 1].strip()
        return {}, f"line {error.lineno}, column {error.colno}: {error.msg}: {line}"
    except (ValueError, RecursionError) as error:
        return {}, str(error)
    if not isinstance(document, dict):
        return {}, "it must hold a JSON object"
    return document, None
