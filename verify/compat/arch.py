"""Whether code that was compiled for some architectures runs on a card: NVIDIA's rules, not list membership.

Machine code (``sm_86``) runs on its own major version, from its minor version on. PTX (``compute_90``, also
written ``sm_90+PTX``) is compiled by the driver for every newer card. The suffix ``a`` ties either to exactly
one capability, ``f`` to its family: the same major version, from its minor version on.
Sources: NVIDIA's CUDA programming guide (compute capabilities) and its article "NVIDIA Blackwell and NVIDIA
CUDA 12.9 introduce family-specific architecture features", read 2026-12-02.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Capability: TypeAlias = tuple[int, int]
_NAME = re.compile(r"^(sm|compute)_(\d+)(\d)([af]?)(\+PTX)?$", re.IGNORECASE)


class Code(StrEnum):
    """What runs on the card."""

    MACHINE_CODE = "machine code"
    PTX = "PTX"


def parsed(name: str) -> tuple[bool, Capability, str, bool] | None:
    """Read ``sm_90a``: whether it is machine code, for what, its suffix, whether it has PTX."""
    match = _NAME.match(name.strip())
    if match is None:
        return None
    kind, major, minor, suffix, ptx = match.groups()
    code = kind.lower() == "sm"
    return code, (int(major), int(minor)), suffix.lower(), bool(ptx) or not code


def shown(capability: Capability) -> str:
    """Write (8, 6) as 8.6."""
    return ".".join(str(part) for part in capability)


def runs(arch_list: Iterable[str], capability: Capability) -> Code | None:
    """Say what of an arch list runs on a card of this capability; None where nothing does."""
    found = [_one(name, capability) for name in arch_list]
    return Code.MACHINE_CODE if Code.MACHINE_CODE in found else Code.PTX if Code.PTX in found else None


def _one(name: str, capability: Capability) -> Code | None:
    target = parsed(name)
    if target is None:
        return None
    code, built, suffix, ptx = target
    same_major = built[0] == capability[0] and built[1] <= capability[1]
    if code and (built == capability if suffix == "a" else same_major):
        return Code.MACHINE_CODE
    newer = {"a": built == capability, "f": same_major}.get(suffix, built <= capability)
    return Code.PTX if ptx and newer else None
