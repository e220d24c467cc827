"""NVIDIA's runtime as /etc/docker/daemon.json names it, and the toolkit's switch no-cgroups."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import as_object, as_text, cite

if TYPE_CHECKING:
    from verify.recording import Recording

DAEMON_JSON = "/etc/docker/daemon.json"
TOOLKIT_CONFIG = "/etc/nvidia-container-runtime/config.toml"
_FLAG = re.compile(r"--add-runtime[= ]\"?nvidia=(\S+)")
_CONFIG_FILE = re.compile(r"--config-file[= ]\"?([^\s\"]+)")
# What stands before an empty assignment does not count any more.
_RESET = re.compile(r"^ExecStart=[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class RuntimeFacts:
    """``path`` is the runtime's program; None where the file does not name it.

    ``no_cgroups`` is None where the toolkit's configuration was not recorded, or cannot be read.
    """

    recorded: bool
    readable: bool
    damage: str | None
    empty: bool
    path: str | None
    cdi_feature: bool | None
    by_flag: str | None
    config_file: str
    no_cgroups: bool | None
    config_damage: str | None
    config_evidence: tuple[str, ...]
    evidence: tuple[str, ...]


def runtime_facts(recording: Recording) -> RuntimeFacts:
    """Read daemon.json, and the flags of the unit."""
    entry = recording.file(DAEMON_JSON)
    unit = recording.command("docker-unit")
    started = _RESET.split(unit.stdout if unit else "")[-1]
    flag = _FLAG.search(started)
    elsewhere = _CONFIG_FILE.findall(started)
    no_cgroups, config_damage, config_evidence = _toolkit_config(recording)
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
        config_file=elsewhere[-1] if elsewhere else DAEMON_JSON,
        no_cgroups=no_cgroups,
        config_damage=config_damage,
        config_evidence=config_evidence,
        evidence=tuple(evidence),
    )


def _toolkit_config(recording: Recording) -> tuple[bool | None, str | None, tuple[str, ...]]:
    """Return the switch, what is wrong with the file, and the line to cite; the file may be missing."""
    entry = recording.file(TOOLKIT_CONFIG)
    if entry is None or (entry.text is None and not entry.missing):
        return None, None, ()
    if entry.missing:
        return False, None, (cite(TOOLKIT_CONFIG, "missing"),)
    try:
        section = tomllib.loads(entry.text or "").get("nvidia-container-cli")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, str(error), (cite(TOOLKIT_CONFIG, str(error)),)
    value = as_object(section).get("no-cgroups", False)
    line = (
        f"no-cgroups = {json.dumps(value)}" if "no-cgroups" in as_object(section) else "no-cgroups is not set"
    )
    return value is True, None, (cite(TOOLKIT_CONFIG, line),)


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
