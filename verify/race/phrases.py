"""What sentences and tables are made of: a time, a title, a list; as messages that any language says.

A time is in the unit that a person would say, up to hours; what an axis or a live line needs: figures.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from verify.race.words import Message, catalogue, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MINUTE, HOUR = 60.0, 3600.0
# From here on minutes and hours are easier to read than seconds.
MINUTES_FROM, HOURS_FROM = 3 * MINUTE, 3 * HOUR
MOST_DECIMALS = 12
_SMALL = (("milliseconds", 1e3), ("microseconds", 1e6), ("nanoseconds", 1e9))
HERE = frozenset({"here", "this machine"})  # what a race is called that nobody gave a name


def duration(seconds: float) -> Message:
    """Return a time in the unit in which a person would say it."""
    if seconds < 1:
        unit, factor = next((u for u in _SMALL if seconds * u[1] >= 1), _SMALL[0 if not seconds else -1])
        return message(unit, value=significant(seconds * factor, 3))
    if seconds < MINUTES_FROM:
        return message("seconds", value=significant(seconds, 3))
    if seconds < HOURS_FROM:
        return message("minutes", value=significant(seconds / MINUTE, 3))
    return message("hours", value=significant(seconds / HOUR, 3))


def money(value: float, currency: str) -> Message:
    """Return an amount with three digits that mean something: a training may cost less than a cent."""
    digits = 2 if value <= 0 else min(MOST_DECIMALS, max(0, 2 - math.floor(math.log10(value))))
    return message("money", value=value, digits=digits, currency=currency)


def significant(value: float, digits: int = 2) -> float:
    """Return a number with so many digits that mean something: 21.37 is 21, 0.01234 is 0.012."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def title(name: str) -> Message | str:
    """Return what a contestant is called in a sentence; its name where it has no other."""
    known = f"title-{name}"
    return message(known) if known in catalogue("en") else name


def host_title(host: str) -> Message | str:
    """Return what a host is called in a title: its name, or this machine."""
    return message("this-machine") if host in HERE else host


def shown(value: Mapping[str, object] | str, lang: str) -> str:
    """Say a message; what is text already stays as it is."""
    return value if isinstance(value, str) else text(value, lang)


def joined(parts: Sequence[str], lang: str = "en") -> str:
    """Return parts as a list in words: a, b and c."""
    if len(parts) <= 1:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {text(message('and'), lang)} {parts[-1]}"


def sentences(parts: Sequence[str], lang: str = "en") -> str:
    """Return parts one after the other, as one sentence."""
    return text(message("semicolon"), lang).join(parts)


def capital(sentence: str) -> str:
    """Begin a sentence with a capital letter."""
    return f"{sentence[:1].upper()}{sentence[1:]}"
