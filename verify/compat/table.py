"""Read one of the tables beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

Row = dict[str, Any]


def rows(table: str, section: str) -> tuple[Row, ...]:
    """Return a section of a table; every row has ``source`` and ``date``."""
    return tuple(_document(table)[section])


@cache
def _document(table: str) -> dict[str, Any]:
    """Read a table once, by libyaml where PyYAML has it: the start of every command waits for this."""
    text = Path(__file__).with_name(f"{table}.yml").read_text(encoding="utf-8")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return dict(yaml.load(text, Loader=loader))  # noqa: S506  # either of them is the safe one
