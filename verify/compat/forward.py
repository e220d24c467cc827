"""Forward compatibility: which cards run a CUDA that is newer than their driver's."""

from __future__ import annotations

import re
from functools import cache

from verify.compat.table import rows


@cache
def _rows() -> tuple[tuple[re.Pattern[str], bool | None], ...]:
    return tuple((re.compile(row["pattern"].strip()), row["allowed"]) for row in rows("forward", "cards"))


def forward_compatible(name: str | None) -> bool | None:
    """Whether a card of this name may use the compatibility libraries; None where its name does not tell."""
    return next((allowed for pattern, allowed in _rows() if pattern.search(name or "")), None)
