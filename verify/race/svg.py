"""race.svg: the race as one picture, from race.json alone; it is readable in black and white, and unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.conditions import conditions
from verify.race.drawing import Canvas
from verify.race.notes import Notes
from verify.race.phrases import host_title
from verify.race.sentence import sentence
from verify.race.svg_bars import bars, lane_texts
from verify.race.svg_busy import busy, busy_texts
from verify.race.svg_sweep import even_texts, operation_title, sweep
from verify.race.words import message, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    Document = Mapping[str, Any]

WIDE, NARROW = 760, 344


def svg(
    race: Document, lang: str = "en", *, width: float = WIDE, prefix: str = "race", alone: bool = True
) -> str:
    """Return race.svg. ``prefix`` keeps the ids of two pictures in one page apart.

    ``alone`` is False where the title, the sentence, the notes and the conditions stand around the picture.
    """
    canvas = Canvas(width, prefix)
    title = text(message("race-title", host=host_title(race["host"])), lang)
    if alone:
        canvas.say(title, "head")
        canvas.y += 8
    if race["simulated"]:
        canvas.boxed(text(message("svg-simulated"), lang))
    if alone:
        canvas.say(sentence(race, lang), "name")
        canvas.y += 18
    notes = Notes(race, lang)
    bars(canvas, race, part_title(race, "svg-bars", lang), notes, lang)
    for line in notes.lines if alone else ():
        canvas.say(line, "small mute")
    found = race.get("sweep")
    if found:
        sweep(canvas, found, part_title(race, "race-section-sweep", lang), notes, lang)
    busy(canvas, race, part_title(race, "svg-busy", lang), lang)
    canvas.y += 16
    for line in conditions(race, lang) if alone else ():
        canvas.say(line, "small mute")
    return canvas.svg(title, description(race, lang))


def part_title(race: Document, name: str, lang: str) -> str:
    """Return a part's title; a simulated race says so at each, for a part may be cut out and shown alone."""
    said = message(name)
    return text(message("race-simulated", title=said) if race["simulated"] else said, lang)


def description(race: Document, lang: str) -> str:
    """Say the whole picture in words."""
    said = [text(message("svg-simulated"), lang)] if race["simulated"] else []
    notes = Notes(race, lang)
    said += [sentence(race, lang), *lane_texts(race, notes, lang), *notes.lines]
    for operation in (race.get("sweep") or {}).get("operations", ()):
        said += [operation_title(operation, lang), *even_texts(operation, lang)]
    return "\n".join([*said, *busy_texts(race, lang)])
