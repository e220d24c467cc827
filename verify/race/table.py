"""What a person sees in the terminal when a race is through: plain aligned text, for a host has no rich."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from verify.race.sentence import sentence
from verify.race.story import RESULTS, Teller
from verify.race.words import message
from verify.race.words import text as words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.story import Table

LEAST_WIDTH = 40
_GAP = "  "
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def text(race: Mapping[str, Any], lang: str = "en", width: int = 100) -> str:
    """Return the heading, the sentence, the results with what is to be said of each, and the warnings."""
    told, width = Teller(race, lang), max(width, LEAST_WIDTH)
    sections = {section.name: section for section in told.sections()}
    results = sections[RESULTS]
    lines = [*_wrapped(told.heading, width), "", *_wrapped(sentence(race, lang), width), ""]
    if results.table is not None:
        lines += _table(results.table, width)
        colon = words(message("colon"), lang)
        said = [f"{row[0]}{colon}{row[-1]}" for row in results.table.rows if len(row[-1]) > 1]
        lines += ["", *_bullets(said, width)] if said else [""]
    lines += _bullets(results.after, width)
    if "warnings" in sections:
        lines += ["", sections["warnings"].title, *_bullets(sections["warnings"].before, width)]
    return "\n".join(lines) + "\n"


def _table(table: Table, width: int) -> list[str]:
    """Return the columns but the last, whose sentences stand below; cell under cell where it is narrow."""
    rows = [[_plain(cell) for cell in row[:-1]] for row in (table.heads, *table.rows)]
    wide = [max(map(len, column)) for column in zip(*rows)]  # noqa: B905  # Python 3.9
    if sum(wide) + len(_GAP) * (len(wide) - 1) <= width:
        laid = [_GAP.join(cell.ljust(room) for cell, room in zip(row, wide)) for row in rows]  # noqa: B905
        return [line.rstrip() for line in (laid[0], _GAP.join("-" * room for room in wide), *laid[1:])]
    heads, *body = rows
    room = max(map(len, heads))
    found: list[str] = []
    for row in body:
        for head, cell in zip(heads, row):  # noqa: B905
            found += _wrapped(f"{head.ljust(room)}{_GAP}{cell}", width, room + len(_GAP))
        found.append("")
    return found[:-1]


def _bullets(lines: Sequence[str], width: int) -> list[str]:
    return [part for line in lines for part in _wrapped(f"- {line}", width, 2)]


def _wrapped(said: str, width: int, indent: int = 0) -> list[str]:
    """Return lines of the width; a long name or address stays whole, to be copied."""
    return textwrap.wrap(
        _plain(said),
        width,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _plain(said: str) -> str:
    return _CONTROL.sub(" ", said)
