"""NVIDIA's runtime as /etc/docker/daemon.json names it, and the toolkit's own configuration."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.daemon_file import DAEMON_JSON, engine_argv, parse
from verify.facts.daemon_flags import flags
from verify.facts.source import cite
from verify.facts.version import Version
from verify.json_values import as_object, as_text, as_truth

if TYPE_CHECKING:
    from verify.recording import Recording

TOOLKIT_CONFIG = "/etc/nvidia-container-runtime/config.toml"
_CLI = "nvidia-container-cli"


@dataclass(frozen=True, slots=True)
class RuntimeFacts:
    """``path`` is the runtime's program; None where the file does not name it.

    ``no_cgroups`` and ``mode`` are None where the toolkit's configuration was not recorded or is damaged.
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
    mode: str | None
    disable_require: bool
    compose: Version | None
    config_damage: str | None
    config_evidence: tuple[str, ...]
    evidence: tuple[str, ...]


def runtime_facts(recording: Recording) -> RuntimeFacts:
    """Read daemon.json, and the flags of the unit."""
    entry = recording.file(DAEMON_JSON)
    given = flags(engine_argv(recording))
    flag = next((row for row in given if row[0] == "add-runtime" and row[1].startswith("nvidia=")), None)
    elsewhere = [value for name, value, _ in given if name == "config-file" and value]
    config, config_damage, config_evidence = _toolkit_config(recording)
    compose = recording.command("compose-version")
    text = entry.text if entry else None
    document, damage = parse(text) if text is not None else ({}, None)
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
        evidence.append(cite("docker-unit", flag[2]))
    return RuntimeFacts(
        recorded=entry is not None,
        readable=entry is not None and (entry.missing or text is not None),
        damage=damage,
        empty=text is not None and not text.strip(),
        path=path,
        cdi_feature=as_truth(feature),
        by_flag=flag[1].partition("=")[2] if flag else None,
        config_file=elsewhere[-1] if elsewhere else DAEMON_JSON,
        no_cgroups=None if config is None else as_object(config.get(_CLI)).get("no-cgroups", False) is True,
        mode=None if config is None else _mode(config),
        disable_require=as_object(config).get("disable-require") is True,
        compose=Version.parse(compose.stdout) if compose and compose.ok else None,
        config_damage=config_damage,
        config_evidence=config_evidence,
        evidence=tuple(evidence),
    )


def _toolkit_config(recording: Recording) -> tuple[dict[str, object] | None, str | None, tuple[str, ...]]:
    """Return what is configured, what is wrong with the file, and the lines to cite."""
    entry = recording.file(TOOLKIT_CONFIG)
    if entry is None or (entry.text is None and not entry.missing):
        return None, None, ()
    if entry.missing:
        return {}, None, (cite(TOOLKIT_CONFIG, "missing"),)
    try:
        config = tomllib.loads(entry.text or "")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return None, str(error), (cite(TOOLKIT_CONFIG, str(error)),)
    section = as_object(config.get(_CLI))
    line = (
        f"no-cgroups = {json.dumps(section['no-cgroups'], default=str)}"
        if "no-cgroups" in section
        else "no-cgroups is not set"
    )
    return config, None, (cite(TOOLKIT_CONFIG, f"{line}, mode = {_mode(config)}"),)


def _mode(config: dict[str, object]) -> str:
    """Return how the runtime gives cards; without a setting it finds out by itself."""
    return str(as_object(config.get("nvidia-container-runtime")).get("mode") or "auto")


def _without(document: dict[str, object]) -> str:
    names = ", ".join(document) or "none"
    return f"no runtimes.nvidia (keys: {names})"
