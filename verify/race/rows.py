"""The rows of the race's tables: one a contestant, one a lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import price, shares
from verify.race.phrases import duration, sentences, shown, significant, title
from verify.race.price import waited
from verify.race.sentence import CUDA, RAN, best_cpu, no_card
from verify.race.words import Message, catalogue, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.notes import Notes

DASH = "-"
RESULT_COLUMNS = ("contestant", "cpu", "card", "ratio", "copy", "cost", "sentence")
LANE_COLUMNS = ("contestant", "lane", "median", "interval", "first", "copies", "quality")
SIZE_COLUMNS = ("operation", "size", "cpu", "card", "with-copy")


def time_cell(seconds: float | None, lang: str) -> str:
    """Return a time; a dash where there is none."""
    return DASH if seconds is None else text(duration(seconds), lang)


def result_row(
    contestant: Mapping[str, Any],
    prices: Mapping[str, Any] | None,
    said: Sequence[Message],
    notes: Notes,
    lang: str,
) -> list[str]:
    """Return who took how long, the ratio with its interval, the share of the copy, the cost, and why."""
    card = shares.lane_of(contestant, contestant.get("ratio_card")) or _first_card(contestant)
    cpu = shares.lane_of(contestant, contestant.get("ratio_against")) or best_cpu(contestant)
    compared = contestant.get("ratio") is not None
    why = [text(part, lang) for part in said] if compared else []
    noted = [lane["reason"] for lane in contestant["lanes"]]  # the card's cell refers to it
    why = why or [shown(reason, lang) for reason in no_card(contestant) if reason not in noted]
    copied = shares.shares(card, None).copy if card and card["status"] == RAN else None
    return [
        shown(title(contestant["name"]), lang),
        time_cell(waited(cpu), lang) if cpu and cpu["status"] == RAN else _said_of(cpu, notes),
        time_cell(waited(card), lang) if card and card["status"] == RAN else _said_of(card, notes),
        _ratio(contestant, lang),
        DASH if copied is None else text(message("percent", share=copied), lang),
        _cost(contestant, prices, lang),
        sentences(why, lang) or DASH,
    ]


def lane_row(contestant: Mapping[str, Any], lane: Mapping[str, Any], notes: Notes, lang: str) -> list[str]:
    """Return what a lane measured, or why it did not."""
    how = [lane["library"], *([lane["precision"]] if lane.get("precision") else [])]
    name = "race-lane" if lane.get("counts", True) else "race-lane-apart"
    cells = [contestant["name"], text(message(name, lane=lane["name"], how=how), lang)]
    if lane["status"] != RAN:
        return [*cells, notes.status(lane), *[DASH] * (len(LANE_COLUMNS) - len(cells) - 1)]
    first = (lane.get("warmups") or [None])[0]
    copies = [time_cell(lane.get(key), lang) for key in ("transfer_in", "transfer_out")]
    return [
        *cells,
        time_cell(lane["median"], lang),
        _interval(lane, lang),
        time_cell(first, lang),
        DASH if copies == [DASH, DASH] else ", ".join(copies),
        ", ".join(_quality(name, value, lang) for name, value in (lane.get("quality") or {}).items()) or DASH,
    ]


def size_rows(operation: Mapping[str, Any], notes: Notes, lang: str) -> list[list[str]]:
    """Return the times of an operation of the sweep, a row a size."""
    rows = []
    name = text(message(f"race-{operation['name']}"), lang)
    for size in sorted({point["size"] for point in operation["points"]}):
        by_lane = {point["lane"]: point for point in operation["points"] if point["size"] == size}
        cpu, card = by_lane.get("cpu") or {}, by_lane.get("cuda") or {}
        copied, alone = card.get("copy_s"), card.get("seconds")
        both = None if copied is None or alone is None else alone + copied
        times = ((cpu, cpu.get("seconds")), (card, alone), (card, both))
        cells = [
            time_cell(seconds, lang) if point.get("status") in {None, RAN} else notes.status(point)
            for point, seconds in times
        ]
        rows.append([name, text(message("whole", value=size), lang), *cells])
    return rows


def _first_card(contestant: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((x for x in contestant["lanes"] if x["device"] == CUDA and x.get("counts", True)), None)


def _said_of(lane: Mapping[str, Any] | None, notes: Notes) -> str:
    return DASH if lane is None else notes.status(lane)


def _ratio(contestant: Mapping[str, Any], lang: str) -> str:
    ratio, interval = contestant.get("ratio"), shares.shown_interval(contestant)
    if ratio is None or not interval:
        return DASH if ratio is None else text(message("number", value=significant(ratio)), lang)
    low, high = (significant(end, 3) for end in interval)
    sure = shares.sure(contestant)
    return text(message("race-ratio", ratio=significant(ratio, 3), low=low, high=high, sure=sure), lang)


def _cost(contestant: Mapping[str, Any], prices: Mapping[str, Any] | None, lang: str) -> str:
    found = price.bill(contestant, prices)
    if found is None or not found.priced:
        return DASH
    return text(message("race-cost", **price.costs(found)), lang)


def _interval(lane: Mapping[str, Any], lang: str) -> str:
    interval, confidence = lane.get("interval"), lane.get("confidence")
    if not interval or confidence == 0:
        return DASH
    ends = {"low": duration(interval[0]), "high": duration(interval[1])}
    name = "race-interval" if confidence is None else "race-confidence"
    return text(message(name, **ends, confidence=confidence), lang)


def _quality(name: str, value: float, lang: str) -> str:
    known = f"quality-{name}"
    if known in catalogue(lang):
        return text(message(known, value=float(value)), lang)
    return text(message("quality-other", what=name.replace("_", " "), value=float(value)), lang)
