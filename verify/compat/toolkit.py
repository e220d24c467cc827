"""Which versions of the NVIDIA Container Toolkit are safe, and which are safe but broken."""

from __future__ import annotations

from dataclasses import dataclass

from verify.compat.table import cited, rows
from verify.facts.version import Version


@dataclass(frozen=True, slots=True)
class FieldBug:
    """A safe version's known fault."""

    summary: str
    fixed: str
    source: str


_FLOOR = rows("toolkit", "safe_floor")[0]
_CVES = tuple((row["id"], Version.of(row["last_affected"])) for row in rows("toolkit", "cves"))
_BUGS = rows("toolkit", "field_bugs")

SAFE_FLOOR = Version.of(_FLOOR["version"])
SAFE_FLOOR_SOURCE = cited(_FLOOR)


def cves(version: Version) -> tuple[str, ...]:
    """Return the known holes of a version."""
    return tuple(name for name, last in _CVES if version <= last)


def field_bug(version: Version) -> FieldBug | None:
    """Return the known fault of a version that is otherwise safe."""
    for row in _BUGS:
        if version in [Version.of(text) for text in row["versions"]]:
            return FieldBug(str(row["summary"]), str(row["fixed"]), str(row["source"]))
    return None


@dataclass(frozen=True, slots=True)
class SchemaNeeds:
    """The engine that reads a CDI schema, and the flag that makes the toolkit write an older one."""

    docker: Version
    flag: str


def schema_needs(schema: Version) -> SchemaNeeds | None:
    """Return what a specification of this schema needs; None where every engine that knows CDI reads it."""
    known = [row for row in rows("toolkit", "cdi_schemas") if schema >= Version.of(row["schema"])]
    newest = max(known, key=lambda row: Version.of(row["schema"]), default=None)
    return SchemaNeeds(Version.of(newest["docker"]), str(newest["feature_flag"])) if newest else None
