"""Read one of the tables beside this module."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

Row = dict[str, Any]


def rows(table: str, section: str) -> tuple[Row, ...]:
    """Return a section of a table; every row has ``source`` and ``date``."""
    document = yaml.safe_load(Path(__file__).with_name(f"{table}.yml").read_text(encoding="utf-8"))
    return tuple(document[section])
