"""What a Docker Engine can do, by its version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.compat.table import rows
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Collection

_SINCE = {row["name"]: Version.of(row["since"]) for row in rows("engine", "features")}

CDI_SINCE = _SINCE["cdi"]
CDI_BY_DEFAULT_SINCE = _SINCE["cdi-by-default"]
GPUS_BY_CDI_SINCE = _SINCE["gpus-by-cdi"]


def has_cdi(engine: Version) -> bool:
    """Whether the engine knows CDI devices at all."""
    return engine >= CDI_SINCE


def needs_cdi_feature(engine: Version) -> bool:
    """Whether CDI is there and off until ``features.cdi`` is set."""
    return CDI_SINCE <= engine < CDI_BY_DEFAULT_SINCE


def gpus_by_cdi(engine: Version) -> bool:
    """Whether ``--gpus`` goes through CDI first."""
    return engine >= GPUS_BY_CDI_SINCE


def gpus_come_by_cdi(engine: Version | None, devices: Collection[str]) -> bool:
    """Whether ``--gpus`` goes through CDI on a machine whose engine has found these CDI devices."""
    return engine is not None and gpus_by_cdi(engine) and bool(devices)
