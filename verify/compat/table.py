"""Read one of the tables beside this module."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

Row = dict[str, Any]


def rows(table: str, section: str) -> tuple[Row, ...]:
    """Return a section of a table; every row has ``source`` and ``date``."""
    return tuple(_document(table)[section])


def cited(row: Row) -> str:
    """Return where a row is from, and of when."""
    return f"{row['source']}, {row['date']}"


@cache
def _document(table: str) -> dict[str, Any]:
    """Read a table once, by libyaml where PyYAML has it: the start of every command waits for this.

    A table that the race reads too is JSON, for the race has the standard library alone.
    """
    plain = Path(__file__).with_name(f"{table}.json")
    if plain.exists():
        return dict(json.loads(plain.read_text(encoding="utf-8")))
    text = plain.with_suffix(".yml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return dict(yaml.load(text, Loader=loader))  # noqa: S506  # either of them is the safe one
