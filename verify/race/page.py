"""race.html: one file that holds all of a race, from race.json alone; it loads nothing and runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import decision, drawing, price, shares, why
from verify.race.conditions import conditions, usage_line
from verify.race.figures import number
from verify.race.markdown import METHOD, TELLING
from verify.race.page_style import STYLE
from verify.race.phrases import shown, title
from verify.race.rows import LANE_COLUMNS, RESULT_COLUMNS, SIZE_COLUMNS, lane_row, result_row, size_rows
from verify.race.svg import NARROW, WIDE, part_title, said_sentence, svg
from verify.race.svg_sweep import even_texts, operation_title
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, Any]

SAMPLE_COLUMNS = ("contestant", "lane", "warmups", "samples", "ended")
_RAW_DIGITS = 6
# Not even a picture of somewhere else's could be asked for: what is not in the file is refused.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(race: Document, lang: str = "en") -> str:
    """Return race.html."""
    heading = text(message("race-title", host=race["host"]), lang)
    sections = [(name, said, body) for name, said, body in _sections(race, lang) if body]
    links = "".join(f'<li><a href="#{name}">{escape(said)}</a></li>' for name, said, _ in sections)
    contents = escape(text(message("page-contents"), lang))
    note = f'<p class="note">{escape(text(message("svg-simulated"), lang))}</p>' if race["simulated"] else ""
    parts = [
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(heading)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
        f"<h1>{escape(heading)}</h1>\n{note}",
        f'<p class="sentence">{escape(said_sentence(race, lang))}</p>',
        f'<nav aria-label="{contents}"><ul>{links}</ul></nav>',
        *(
            f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(said)}</h2>\n{body}\n</section>'
            for name, said, body in sections
        ),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _sections(race: Document, lang: str) -> list[tuple[str, str, str]]:
    """Return each part's id, its heading and what stands in it."""
    shape = {
        name: text(message(f"race-section-{name}"), lang) for name in ("why", "cost", "lanes", "warnings")
    }
    last = {name: text(message(f"race-section-{name}"), lang) for name in ("conditions", "method")}
    method = [text(message(f"race-method-{line}"), lang) for line in METHOD]
    return [
        ("results", part_title(race, "page-results", lang), _results(race, lang)),
        ("picture", part_title(race, "page-picture", lang), _pictures(race, lang)),
        ("why", shape["why"], _list(_why(race, lang))),
        ("cost", shape["cost"], _list(_cost(race, lang))),
        ("lanes", shape["lanes"], _lanes(race, lang)),
        ("warnings", shape["warnings"], _list(_warnings(race, lang))),
        ("sweep", part_title(race, "race-section-sweep", lang), _sweep(race, lang)),
        ("conditions", last["conditions"], _list(conditions(race, lang))),
        ("method", last["method"], _list(method)),
        ("samples", text(message("page-samples"), lang), _samples(race, lang)),
    ]


def _results(race: Document, lang: str) -> str:
    reasons, decided = why.reasons(race), decision.decide(race)
    rows = []
    for contestant in race["contestants"]:
        said = [*reasons[contestant["name"]][:TELLING], decided[contestant["name"]]]
        rows.append(result_row(contestant, race.get("prices"), said, lang))
    return _table("results", [f"race-column-{name}" for name in RESULT_COLUMNS], rows, lang)


def _pictures(race: Document, lang: str) -> str:
    """Return the picture twice, for a screen and for a telephone: the style shows one of them."""
    shapes = (("wide", WIDE), ("narrow", NARROW))
    return "\n".join(
        f'<figure class="{name}">{svg(race, lang, width=width, prefix=name, alone=False)}</figure>'
        for name, width in shapes
    )


def _why(race: Document, lang: str) -> list[str]:
    reasons, lines = why.reasons(race), []
    for contestant in race["contestants"]:
        lines += [_named(contestant, reason, lang) for reason in reasons[contestant["name"]]]
        card = shares.lane_of(contestant, contestant.get("ratio_card"))
        facts = shares.facts(card, (race.get("card") or {}).get("peak")) if card else []
        lines += [_named(contestant, message("race-went-to", facts=facts), lang)] if facts else []
    return lines


def _cost(race: Document, lang: str) -> list[str]:
    decided, lines = decision.decide(race), []
    for contestant in race["contestants"]:
        found = price.bill(contestant, race.get("prices"))
        said = [decided[contestant["name"]], *price.lines(found)] if found else []
        lines += [_named(contestant, part, lang) for part in said]
    return lines


def _lanes(race: Document, lang: str) -> str:
    rows = [lane_row(contestant, lane, lang) for contestant, lane in _every(race)]
    used = [_of_lane(c, lane, line, lang) for c, lane in _every(race) if (line := usage_line(lane, lang))]
    return _table("lanes", [f"race-column-{name}" for name in LANE_COLUMNS], rows, lang) + _list(used)


def _warnings(race: Document, lang: str) -> list[str]:
    return [
        _of_lane(contestant, lane, shown(warning, lang), lang)
        for contestant, lane in _every(race)
        for warning in lane["warnings"]
    ]


def _sweep(race: Document, lang: str) -> str:
    found = race.get("sweep") or {}
    operations = found.get("operations") or ()
    colon = text(message("colon"), lang)
    lines = [shown(found["reason"], lang)] if found.get("reason") else []
    lines += [
        f"{operation_title(operation, lang)}{colon}{said}"
        for operation in operations
        for said in even_texts(operation, lang)
    ]
    rows = [row for operation in operations for row in size_rows(operation, lang)]
    return _list(lines) + (
        _table("sweep", [f"race-column-{n}" for n in SIZE_COLUMNS], rows, lang) if rows else ""
    )


def _samples(race: Document, lang: str) -> str:
    rows = []
    for contestant, lane in _every(race):
        if not lane["samples"]:
            continue
        raw = [", ".join(_raw(value, lang) for value in lane[key]) for key in ("warmups", "samples")]
        ended = text(message(f"page-ended-{lane['ended']}"), lang) if lane.get("ended") else ""
        rows.append([contestant["name"], lane["name"], *raw, ended])
    names = [f"{'page' if name in SAMPLE_COLUMNS[2:] else 'race'}-column-{name}" for name in SAMPLE_COLUMNS]
    summary = escape(text(message("page-samples"), lang))
    return (
        f"<details><summary>{summary}</summary>{_table('samples', names, rows, lang)}</details>"
        if rows
        else ""
    )


def escape(said: object) -> str:
    """Make a text fit for the page."""
    return drawing.escape(drawing.kept(str(said)))


def _raw(value: float, lang: str) -> str:
    return number(value, lang, _RAW_DIGITS)


def _every(race: Document) -> list[tuple[Document, Document]]:
    return [(contestant, lane) for contestant in race["contestants"] for lane in contestant["lanes"]]


def _named(contestant: Document, said: Message, lang: str) -> str:
    return f"{shown(title(contestant['name']), lang)}{text(message('colon'), lang)}{text(said, lang)}"


def _of_lane(contestant: Document, lane: Document, said: str, lang: str) -> str:
    return f"{contestant['name']}, {lane['name']}{text(message('colon'), lang)}{said}"


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _table(section: str, names: Sequence[str], rows: Sequence[Sequence[str]], lang: str) -> str:
    """Return a table; it says its roles, for a narrow screen shows it as blocks and would lose them."""
    heads = [text(message(name), lang) for name in names]
    labels = [
        f"{name}{text(message('colon'), lang)}" for name in heads
    ]  # beside each cell where it is narrow
    head = "".join(f'<th scope="col" role="columnheader">{escape(name)}</th>' for name in heads)
    body = "".join(f'<tr role="row">{_cells(labels, row)}</tr>' for row in rows)
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
