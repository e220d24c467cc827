"""Reasons said once: what kept a lane from a number stands below the first table, and cells refer to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.phrases import shown
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping


class Notes:
    """The distinct reasons of a race in a language, numbered in the order in which they come up."""

    def __init__(self, race: Mapping[str, Any], lang: str) -> None:
        self._lang = lang
        lanes = [lane for contestant in race["contestants"] for lane in contestant["lanes"]]
        sweep = race.get("sweep") or {}
        points = [point for operation in sweep.get("operations") or () for point in operation["points"]]
        reasons = [holder.get("reason") for holder in (*lanes, *points, sweep)]
        said = (shown(reason, lang) for reason in reasons if reason)
        self._numbers = {reason: number for number, reason in enumerate(dict.fromkeys(said), 1)}

    @property
    def lines(self) -> list[str]:
        """Return the notes, as they stand below the table."""
        return [
            text(message("note", number=number, reason=reason), self._lang)
            for reason, number in self._numbers.items()
        ]

    def status(self, lane: Mapping[str, Any]) -> str:
        """Return why there is no number: absent (1)."""
        reason = lane.get("reason")
        if not reason:
            return text(message(f"race-only-{lane['status']}"), self._lang)
        number = self._numbers[shown(reason, self._lang)]
        return text(message(f"race-noted-{lane['status']}", number=number), self._lang)

    def see(self, reason: Message | str) -> str:
        """Refer to a reason: see (1)."""
        number = self._numbers[shown(reason, self._lang)]
        return text(message("see-note", number=number), self._lang)
