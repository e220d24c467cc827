"""JSON has no NaN and no infinity: what is no number is null."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(document: Any) -> str:  # noqa: ANN401  # JSON's own types
    """Return a document as JSON that every parser reads."""
    return json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def finite(value: Any) -> Any:  # noqa: ANN401
    """Return it with null for every number that JSON does not have."""
    if isinstance(value, dict):
        return {key: finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
