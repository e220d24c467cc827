"""race.md: the table that people commit, with all that stands behind it; the story in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from verify.race.sentence import sentence
from verify.race.story import RESULTS, Section, Teller

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.story import Table

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")


def markdown(race: Mapping[str, Any], lang: str = "en") -> str:
    """Return race.md."""
    told = Teller(race, lang)
    lines = [f"# {_line(told.heading)}", "", _line(sentence(race, lang)), ""]
    for section in told.sections():
        if section.name != RESULTS:
            lines += [f"## {section.title}", ""]
        lines += _body(section)
    return "\n".join(lines)


def _body(section: Section) -> list[str]:
    parts = [_bullets(section.before), _table(section.table), _bullets(section.after)]
    return [line for part in parts if part for line in (*part, "")]


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"- {_line(line)}" for line in lines]


def _table(table: Table | None) -> list[str]:
    if table is None:
        return []
    return [_row(table.heads), _row(["---"] * len(table.heads)), *map(_row, table.rows)]


def _row(cells: Sequence[str]) -> str:
    """Return a row; what would end a cell or a line inside it is kept from it."""
    return f"| {' | '.join(_line(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _line(said: str) -> str:
    """Return a text on one line: what a script said last must not steer a terminal, nor become a tag."""
    return _TAG.sub("&lt;", _CONTROL.sub("\ufffd", " ".join(said.splitlines())))
