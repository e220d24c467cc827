"""race.md: the table that people commit, with all that stands behind it; from race.json alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import decision, price, shares, why
from verify.race.conditions import conditions, usage_line
from verify.race.phrases import shown, significant, title
from verify.race.rows import (
    LANE_COLUMNS,
    RESULT_COLUMNS,
    SIZE_COLUMNS,
    lane_row,
    result_row,
    size_rows,
    table,
)
from verify.race.sentence import sentence
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

METHOD = ("clock", "copy", "interval", "ratio", "mixed", "guard", "money")
# Reasons that stand in the table; all of them stand below it.
TELLING = 2


def markdown(race: Mapping[str, Any], lang: str = "en") -> str:
    """Return race.md."""
    name = text(message("race-title", host=race["host"]), lang)
    heading = text(message("race-simulated", title=name), lang) if race.get("simulated") else name
    lines = [f"# {heading}", "", sentence(race, lang), "", *_results(race, lang), ""]
    sections = {
        "why": _why(race, lang),
        "cost": _cost(race, lang),
        "lanes": _lanes(race, lang),
        "warnings": _warnings(race, lang),
        "sweep": _sweep(race, lang),
        "conditions": [f"- {line}" for line in conditions(race, lang)],
        "method": [f"- {text(message(f'race-method-{line}'), lang)}" for line in METHOD],
    }
    for section, body in sections.items():
        if body:
            lines += [f"## {text(message(f'race-section-{section}'), lang)}", "", *body, ""]
    return "\n".join(lines)


def _results(race: Mapping[str, Any], lang: str) -> list[str]:
    reasons, decided = why.reasons(race), decision.decide(race)
    rows = []
    for contestant in race["contestants"]:
        said = [*reasons[contestant["name"]][:TELLING], decided[contestant["name"]]]
        rows.append(result_row(contestant, race.get("prices"), said, lang))
    return table(RESULT_COLUMNS, rows, lang)


def _why(race: Mapping[str, Any], lang: str) -> list[str]:
    reasons, lines = why.reasons(race), []
    for contestant in race["contestants"]:
        lines += _bullets(contestant, reasons[contestant["name"]], lang)
        card = shares.lane_of(contestant, contestant.get("ratio_card"))
        facts = shares.facts(card, (race.get("card") or {}).get("peak")) if card else []
        if facts:
            said = text(message("race-went-to", facts=facts), lang)
            lines += _bullets(contestant, [said], lang)
    return lines


def _cost(race: Mapping[str, Any], lang: str) -> list[str]:
    decided, lines = decision.decide(race), []
    for contestant in race["contestants"]:
        found = price.bill(contestant, race.get("prices"))
        if found is not None:
            lines += _bullets(contestant, [decided[contestant["name"]], *price.lines(found)], lang)
    return lines


def _lanes(race: Mapping[str, Any], lang: str) -> list[str]:
    lanes = [(contestant, lane) for contestant in race["contestants"] for lane in contestant["lanes"]]
    seen = [
        f"- {contestant['name']}, {lane['name']}{text(message('colon'), lang)}{line}"
        for contestant, lane in lanes
        for line in (usage_line(lane, lang),)
        if line
    ]
    rows = table(LANE_COLUMNS, [lane_row(contestant, lane, lang) for contestant, lane in lanes], lang)
    return [*rows, "", *seen] if seen else rows


def _warnings(race: Mapping[str, Any], lang: str) -> list[str]:
    return [
        f"- {contestant['name']}, {lane['name']}{text(message('colon'), lang)}{shown(warning, lang)}"
        for contestant in race["contestants"]
        for lane in contestant["lanes"]
        for warning in lane["warnings"]
    ]


def _sweep(race: Mapping[str, Any], lang: str) -> list[str]:
    sweep = race.get("sweep") or {}
    operations = sweep.get("operations") or ()
    lines = [f"- {shown(sweep['reason'], lang)}"] if sweep.get("reason") else []
    lines += [
        _even(operation, copy, lang)
        for operation in operations
        if any(point["lane"] != "cpu" for point in operation["points"])
        for copy in operation["break_even"]
    ]
    rows = [row for operation in operations for row in size_rows(operation, lang)]
    return [*lines, "", *table(SIZE_COLUMNS, rows, lang)] if rows else lines


def _even(operation: Mapping[str, Any], copy: str, lang: str) -> str:
    found = operation["break_even"][copy]
    known = {key: found[key] for key in ("size", "low", "high") if found.get(key) is not None}
    numbers = {key: significant(value, 3) for key, value in known.items()}
    where = message(f"race-even-{found['said']}", **numbers)
    what = message(f"race-{copy.replace('_', '-')}")
    said = text(message("race-even", copy=what, where=where), lang)
    return f"- {text(message('race-' + operation['name']), lang)}{text(message('colon'), lang)}{said}"


def _bullets(contestant: Mapping[str, Any], said: Sequence[Message | str], lang: str) -> list[str]:
    name = shown(title(contestant["name"]), lang)
    return [f"- {name}{text(message('colon'), lang)}{shown(part, lang)}" for part in said]
