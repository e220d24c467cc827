"""Which index of PyTorch's wheels a driver and its cards can run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.compat.torch import INDEX as ADDRESS
from verify.compat.torch import builds_for

if TYPE_CHECKING:
    from collections.abc import Collection

    from verify.compat.arch import Capability
    from verify.facts.version import Version

__all__ = ["ADDRESS", "wheel_index"]


def wheel_index(driver: Version | None, cards: Collection[Capability] = ()) -> str | None:
    """Return the address of the index of the newest build that they run; None where there is none.

    A driver that nobody knows rules nothing out.
    """
    return next((ADDRESS + build.index for build in builds_for(driver, cards)), None)
