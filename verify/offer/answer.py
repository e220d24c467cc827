"""What a question gets: yes, no or unknown, with what was found, what to do, and the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Word(StrEnum):
    """Unknown is no yes: what was not looked at, or not tried, is never promised."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. ``value`` is the summary in a few words, for a column; a no has a remedy.

    ``evidence`` is ``source: line`` strings, as a finding's.
    """

    id: str
    number: int
    question: str
    word: Word
    value: str
    summary: str
    remedy: str | None = None
    evidence: tuple[str, ...] = ()
