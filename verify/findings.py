"""What a check says: one finding, and the words it may use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a check ended. A skip looked at nothing and is never a pass."""

    PASS = "pass"  # noqa: S105  # not a password
    WARN = "warn"
    FAIL = "fail"
    BLOCKED = "blocked"
    SKIP = "skip"


class Layer(StrEnum):
    """The stack from the silicon up, in order."""

    HOST = "host"
    CARD = "card"
    MODULE = "module"
    DRIVER = "driver"
    ENGINE = "engine"
    TOOLKIT = "toolkit"
    RUNTIME = "runtime"
    CONTAINER = "container"
    IMAGE = "image"
    FRAMEWORK = "framework"
    RACE = "race"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check's result on one host.

    ``culprit`` is the id of the failed finding that blocks this one; ``between`` names the two
    neighbouring layers that disagree, lower one first; ``evidence`` is ``source: line`` strings,
    where source is a recorded file's path or a recorded command's name.
    """

    id: str
    layer: Layer
    status: Status
    summary: str
    expected: bool = False
    culprit: str | None = None
    between: tuple[Layer, Layer] | None = None
    remedy: str | None = None
    evidence: tuple[str, ...] = ()
