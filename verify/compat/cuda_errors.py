"""What CUDA's error numbers mean, and what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from verify.compat.table import rows

if TYPE_CHECKING:
    from collections.abc import Mapping

# "CUDA error: no kernel image…" has no number; "Error 802: system not yet initialized" does.
_NAME = re.compile(r"\bCUDA_ERROR_[A-Z_]+\b")
_NUMBER = re.compile(r"\b(?:Error (\d{1,3}):|cuda runtime error \((\d{1,3})\))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CudaError:
    """One row of the table."""

    number: int
    name: str
    meaning: str
    remedy: str


@cache
def _rows() -> Mapping[int, CudaError]:
    return {
        row["number"]: CudaError(row["number"], row["name"], row["meaning"].strip(), row["remedy"].strip())
        for row in rows("cuda_errors", "errors")
    }


def cuda_error(number: int) -> CudaError | None:
    """Return the row of a number; None where the table does not know it."""
    return _rows().get(number)


def number_in(text: str | None) -> int | None:
    """Find the number in what a framework wrote, or that of the name; None where it wrote neither."""
    found = _NUMBER.search(text or "")
    if found:
        return int(found.group(1) or found.group(2))
    name = _NAME.search(text or "")
    return next((row.number for row in _rows().values() if row.name == name.group()), None) if name else None
