"""race.html: one file with all of a race: the story and its picture; it loads nothing and runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import drawing
from verify.race.figures import number
from verify.race.page_style import STYLE
from verify.race.phrases import host_title
from verify.race.sentence import sentence
from verify.race.story import Section, Table, Teller
from verify.race.svg import NARROW, WIDE, svg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, Any]

SAMPLE_COLUMNS = (
    "race-column-contestant",
    "race-column-lane",
    "page-column-warmups",
    "page-column-samples",
    "page-column-ended",
)
_RAW_DIGITS = 6
# Not even a picture of somewhere else's could be asked for: what is not in the file is refused.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(race: Document, lang: str = "en") -> str:
    """Return race.html."""
    told = Teller(race, lang)
    heading = told.said("race-title", host=host_title(race["host"]))
    parts = [(part.name, part.title, _body(part, told)) for part in told.sections()]
    parts.insert(1, ("picture", told.titled("page-picture"), _pictures(race, lang)))
    parts += [("samples", told.said("page-samples"), samples)] if (samples := _samples(told)) else []
    links = "".join(f'<li><a href="#{name}">{escape(said)}</a></li>' for name, said, _ in parts)
    contents = escape(told.said("page-contents"))
    note = f'<p class="note">{escape(told.said("svg-simulated"))}</p>' if race["simulated"] else ""
    whole = [
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(heading)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        f"<h1>{escape(heading)}</h1>\n{note}",
        f'<p class="sentence">{escape(sentence(race, lang))}</p>',
        f'<nav aria-label="{contents}"><ul>{links}</ul></nav>',
        *(
            f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(said)}</h2>\n{body}\n</section>'
            for name, said, body in parts
        ),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(whole)


def _body(section: Section, told: Teller) -> str:
    table = _table(section.name, section.table, told) if section.table else ""
    return _list(section.before) + table + _list(section.after)


def _pictures(race: Document, lang: str) -> str:
    """Return the picture twice, for a screen and for a telephone: the style shows one of them."""
    shapes = (("wide", WIDE), ("narrow", NARROW))
    return "\n".join(
        f'<figure class="{name}">{svg(race, lang, width=width, prefix=name, alone=False)}</figure>'
        for name, width in shapes
    )


def _samples(told: Teller) -> str:
    """Return what only a page has room for: every number behind the medians, folded away."""
    rows = []
    for contestant, lane in told.every():
        if not lane["samples"]:
            continue
        raw = [
            ", ".join(number(value, told.lang, _RAW_DIGITS) for value in lane[key])
            for key in ("warmups", "samples")
        ]
        ended = told.said(f"page-ended-{lane['ended']}") if lane.get("ended") else ""
        rows.append((contestant["name"], lane["name"], *raw, ended))
    heads = tuple(told.said(name) for name in SAMPLE_COLUMNS)
    summary = escape(told.said("page-samples"))
    return (
        f"<details><summary>{summary}</summary>{_table('samples', Table(heads, tuple(rows)), told)}</details>"
        if rows
        else ""
    )


def escape(said: object) -> str:
    """Make a text fit for the page."""
    return drawing.escape(drawing.kept(str(said)))


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _table(section: str, table: Table, told: Teller) -> str:
    """Return a table; it says its roles, for a narrow screen shows it as blocks and would lose them."""
    heads = table.heads
    labels = [f"{name}{told.said('colon')}" for name in heads]  # beside each cell where it is narrow
    head = "".join(f'<th scope="col" role="columnheader">{escape(name)}</th>' for name in heads)
    body = "".join(f'<tr role="row">{_cells(labels, row)}</tr>' for row in table.rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{section}"><table role="table">'
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody>'
        "</table></div>"
    )


def _cells(labels: Sequence[str], row: Sequence[str]) -> str:
    first, *rest = (escape(cell) for cell in row)
    cells = "".join(
        f'<td role="cell" data-name="{escape(labels[k])}">{cell}</td>' for k, cell in enumerate(rest, 1)
    )
    return f'<th scope="row" role="rowheader">{first}</th>{cells}'
