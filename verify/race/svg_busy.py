"""How busy the card was, in race.svg: every lane that ran on it, one after the other, as it was sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.figures import duration
from verify.race.libraries import CUDA
from verify.race.scales import Scale, even, even_marks
from verify.race.words import message, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race.drawing import Canvas

    Document = Mapping[str, Any]
    Points = list[tuple[float, "float | None"]]

_HEIGHT = 110.0
_LEFT = 66.0
_MOST = 600  # points a lane, as the sampler keeps them
_RAN = ("ran", "invalid")


def busy(canvas: Canvas, race: Document, title: str, lang: str) -> None:
    """Draw the card's utilisation over the lanes that used it."""
    canvas.y += 22
    canvas.say(title, "part")
    for said in busy_texts(race, lang):
        canvas.say(said, "name")
    shown = [(k, points) for k, (_, lane) in enumerate(on_card(race), 1) if (points := points_of(lane))]
    if shown:
        _chart(canvas, shown, lang)


def on_card(race: Document) -> list[tuple[str, Document]]:
    """Return the lanes that used the card, each with its contestant's name."""
    return [
        (str(contestant["name"]), lane)
        for contestant in race["contestants"]
        for lane in contestant["lanes"]
        if lane["device"] == CUDA and lane["status"] in _RAN
    ]


def points_of(lane: Document) -> Points:
    """Return seconds from the lane's first sample, and percent; empty where no percent was told at all."""
    rows = ((lane.get("usage") or {}).get("points") or [])[:_MOST]
    if not any(row[1] is not None for row in rows):
        return []
    return [(row[0] - rows[0][0], row[1]) for row in rows]


def busy_texts(race: Document, lang: str) -> list[str]:
    """Say each lane's utilisation in words, numbered as in the chart; what was not told is said to be so."""
    said = []
    for k, (contestant, lane) in enumerate(on_card(race), 1):
        names = {"number": k, "contestant": contestant, "lane": lane["name"]}
        told = (lane.get("usage") or {}).get("utilisation")
        if told is None:
            said.append(text(message("svg-busy-untold", **names), lang))
        else:
            said.append(
                text(message("svg-busy-lane", **names, median=told["median"], most=told["max"]), lang)
            )
    return said or [text(message("svg-busy-none"), lang)]


def _chart(canvas: Canvas, shown: list[tuple[int, Points]], lang: str) -> None:
    top = canvas.y + 24
    bottom = top + _HEIGHT
    gap = 0.02 * sum(points[-1][0] for _, points in shown)
    whole = sum(points[-1][0] + gap for _, points in shown)
    x, y = even(whole, _LEFT, canvas.right), even(100, bottom, top)
    for value in (0.0, 50.0, 100.0):
        canvas.line(_LEFT, y.at(value), canvas.right, y.at(value), "r-axis")
        canvas.text(_LEFT - 6, y.at(value) + 4, f"{value:.0f} %", "small mute", "end")
    start = 0.0
    for number, points in shown:
        here = x.at(start)
        canvas.line(here, top - 14, here, bottom, "r-whisker")
        canvas.text(here + 4, top - 5, str(number), "small bold")
        _lane(canvas, [(start + t, percent) for t, percent in points], x, y)
        start += points[-1][0] + gap
    canvas.line(_LEFT, bottom, canvas.right, bottom, "r-whisker")
    for value in even_marks(x, 70):
        canvas.line(x.at(value), bottom, x.at(value), bottom + 5, "r-whisker")
        canvas.text(x.at(value), bottom + 18, duration(value, lang), "small mute", "middle")
    canvas.y = bottom + 24


def _lane(canvas: Canvas, points: Points, x: Scale, y: Scale) -> None:
    """Draw steps; a moment at which the card told nothing is a gap, not a zero."""
    run: list[tuple[float, float]] = []
    for k, (t, percent) in enumerate(points):
        if percent is None:
            _step(canvas, run, y)
            run = []
            continue
        until = points[k + 1][0] if k + 1 < len(points) else t
        run += [(x.at(t), y.at(percent)), (x.at(until), y.at(percent))]
    _step(canvas, run, y)


def _step(canvas: Canvas, run: list[tuple[float, float]], y: Scale) -> None:
    if not run:
        return
    outline = " ".join(f"{px:.1f},{py:.1f}" for px, py in [(run[0][0], y.start), *run, (run[-1][0], y.start)])
    canvas.put(f'<polygon points="{outline}" class="r-shade" {canvas.fill("slanted")}/>')
    canvas.path(run, "r-line r-card-line")
