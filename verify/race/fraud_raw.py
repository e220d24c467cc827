"""A table as it was read: what its readers share, and what both take for a number or for a hole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union

from verify.race.device import Array

# What pandas takes for "no value" when it reads a CSV: both readers must find the same holes.
MISSING = frozenset((
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
))  # fmt: skip
TRUTHS = {"True": 1.0, "TRUE": 1.0, "true": 1.0, "False": 0.0, "FALSE": 0.0, "false": 0.0}
Value = Union[str, float]  # noqa: UP007  # Python 3.9


class Refused(Exception):  # noqa: N818  # it is an answer
    """The table cannot be raced: the text says what was found, what is needed and what to do."""


@dataclass(frozen=True)
class Shape:
    """What a file's first bytes say about it: the names of its columns and about how many rows there are."""

    kind: str
    names: tuple[str, ...]
    rows: int
    delimiter: str = ","


@dataclass(frozen=True)
class Raw:
    """All columns but the target as numbers, one row a record; the target as codes into its values."""

    x: Array
    names: tuple[str, ...]
    codes: Array  # -1 where there is none
    values: tuple[Value, ...]
    missing: dict[str, int] = field(default_factory=dict)
    text: dict[str, str] = field(default_factory=dict)  # column to the first value in it that is no number


def isnumber(entry: str) -> bool:
    """Whether a CSV's entry is a number."""
    return number(entry) is not None


def decimal(entry: str) -> float:
    """Read a number as pandas does: Python's own 1_000 is none; raise ValueError where it is none."""
    if "_" in entry:
        raise ValueError(entry)
    return float(entry)


def number(entry: str) -> float | None:
    """Return a CSV's entry as a number; None where it is none."""
    entry = entry.strip()
    try:
        return TRUTHS[entry] if entry in TRUTHS else decimal(entry)
    except ValueError:
        return None


def count(np: Any, missing: dict[str, int], name: str, column: Array) -> None:  # noqa: ANN401
    """Remember how many holes a column has, if any."""
    holes = int(np.isnan(column).sum())
    if holes:
        missing[name] = holes
