"""Read and write /etc/nvidia-container-runtime/config.toml."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from .errors import ToolkitError

PATH = Path("/etc/nvidia-container-runtime/config.toml")
Settings = dict[str, Any]


def load(path: Path = PATH) -> Settings:
    """Return the settings; a missing file means the defaults, a broken one is an error."""
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ToolkitError(f"error loading config: failed to load config file {path}: {error}") from error


def get(settings: Settings, dotted: str, default: Any) -> Any:
    """Return a setting by its dotted name."""
    value: Any = settings
    for part in dotted.split("."):
        if not isinstance(value, dict) or part not in value:
            return default
        value = value[part]
    return value


def changed(settings: Settings, assignment: str) -> Settings:
    """Return the settings with ``name=value`` set, unchecked, as the real one does."""
    name, _, text = assignment.partition("=")
    *parents, last = name.split(".")
    result: Settings = json.loads(json.dumps(settings))
    table = result
    for part in parents:
        table = table.setdefault(part, {})
    if text in {"true", "false"}:
        table[last] = text == "true"
    elif isinstance(table.get(last), list):
        table[last] = text.split(",")
    else:
        table[last] = text
    return result


def dumps(settings: Settings, prefix: str = "") -> str:
    """Return the settings as TOML: values first, then the tables, sorted. Comments do not survive."""
    values = {k: v for k, v in sorted(settings.items()) if not isinstance(v, dict)}
    tables = {k: v for k, v in sorted(settings.items()) if isinstance(v, dict)}
    # JSON's strings, numbers, booleans and flat lists are TOML's.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()]
    if prefix and (lines or not tables):
        lines.insert(0, f"[{prefix}]")
    blocks = ["\n".join(lines)] if lines else []
    blocks += [
        dumps(table, f"{prefix}.{key}" if prefix else key).rstrip("\n") for key, table in tables.items()
    ]
    return "\n\n".join(blocks) + "\n"
