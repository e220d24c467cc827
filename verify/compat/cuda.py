"""Which driver a program needs that was built for some CUDA."""

from __future__ import annotations

from verify.compat.table import rows
from verify.facts.version import Version

_MINIMUM = {row["cuda_major"]: Version.of(row["driver"]) for row in rows("cuda", "minimum_drivers")}


def minimum_driver(cuda: Version) -> Version | None:
    """Return the oldest driver that starts a program built for this CUDA; None for an unknown major."""
    return _MINIMUM.get(cuda.major)
