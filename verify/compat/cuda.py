"""Which driver a program needs that was built for some CUDA, and which torch a driver can serve."""

from __future__ import annotations

from verify.compat.table import rows
from verify.facts.version import Version

_MINIMUM = {row["cuda_major"]: Version.of(row["driver"]) for row in rows("cuda", "minimum_drivers")}
_INDEX = {row["cuda_major"]: row["index"] for row in rows("cuda", "torch_indexes")}


def minimum_driver(cuda: Version) -> Version | None:
    """Return the oldest driver that starts a program built for this CUDA; None for an unknown major."""
    return _MINIMUM.get(cuda.major)


def torch_index(driver: Version) -> str | None:
    """Return the newest index of PyTorch wheels that this driver serves; None where it serves none."""
    served = [major for major, minimum in _MINIMUM.items() if driver >= minimum]
    return f"https://download.pytorch.org/whl/{_INDEX[max(served)]}" if served else None
