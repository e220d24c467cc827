"""The race's lanes, as far as the stack is concerned: which of them ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.facts.source import cite
from verify.json_values import as_list, as_number, as_object, as_text
from verify.race.words import text

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Lane:
    """One contestant on one device."""

    contestant: str
    name: str
    status: str
    reason: str | None
    reason_id: str | None
    median: float | None
    warnings: tuple[str, ...]
    evidence: str


def lanes(race: Mapping[str, Any]) -> tuple[Lane, ...]:
    """Read all lanes of race.json."""
    found = []
    for contestant in map(as_object, as_list(race.get("contestants"))):
        name = as_text(contestant.get("name")) or "?"
        found += [_lane(name, as_object(lane)) for lane in as_list(contestant.get("lanes"))]
    return tuple(found)


def _lane(contestant: str, lane: Mapping[str, Any]) -> Lane:
    name, status = as_text(lane.get("name")) or "?", as_text(lane.get("status")) or "?"
    reason, seconds = _said(lane.get("reason")), as_number(lane.get("median"))
    detail = f"median {seconds:.4g} s" if seconds is not None else reason or "no number"
    return Lane(
        contestant=contestant,
        name=name,
        status=status,
        reason=reason,
        reason_id=as_text(as_object(lane.get("reason")).get("id")),
        median=seconds,
        warnings=tuple(filter(None, map(_said, as_list(lane.get("warnings"))))),
        evidence=cite("race.json", f"{contestant}, {name}: {status}, {detail}"),
    )


def _said(message: Any) -> str | None:  # noqa: ANN401  # JSON
    """Return a message in words; those of an older race are words already."""
    return text(message) if isinstance(message, dict) else as_text(message)
