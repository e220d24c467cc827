"""The sweep in race.svg: seconds over size, and the size from which the card wins as a band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race.drawing import MARGIN, width_of
from verify.race.figures import duration, number
from verify.race.phrases import capital, significant
from verify.race.scales import Scale, log_between, log_marks, log_over
from verify.race.words import catalogue, message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.drawing import Canvas
    from verify.race.notes import Notes

    Document = Mapping[str, Any]
    Line = list[tuple[float, float, "list[float] | None"]]

_HEIGHT = 190.0
_LEFT = 66.0  # room for the times beside the axis
_KINDS = (
    ("cpu", "circle", "r-cpu", "r-line r-cpu-line"),
    ("card", "square", "r-card", "r-line r-card-line r-dash"),
    ("copy", "diamond", "r-hollow r-edge r-card-line", "r-line r-card-line r-dots"),
)
BETWEEN = "between"


def sweep(canvas: Canvas, found: Document, title: str, notes: Notes, lang: str) -> None:
    """Draw each operation over its sizes."""
    canvas.y += 22
    canvas.say(title, "part")
    if found["operations"]:
        canvas.say(text(message("svg-sweep-note"), lang), "small mute")
    if found.get("reason"):
        canvas.say(reason_text(found, notes, lang), "name")
    for operation in found["operations"]:
        _operation(canvas, operation, lang)


def reason_text(found: Document, notes: Notes, lang: str) -> str:
    """Say why the sweep has no card, or nothing at all, by the number of the reason."""
    name = "svg-sweep-reason" if found.get("operations") else "svg-sweep-none"
    return text(message(name, reason=notes.see(found["reason"])), lang)


def operation_title(operation: Document, lang: str) -> str:
    """Name an operation in words; one that this version does not know by its own name."""
    known = f"race-{operation['name']}"
    said = (
        text(message(known), lang)
        if known in catalogue(lang)
        else f"{operation['name']}, {operation['size_is']}"
    )
    return capital(said)


def even_texts(operation: Document, lang: str) -> list[str]:
    """Say from which size the card wins, without the copy and with it; nothing where no card was measured."""
    if not any(point["lane"] != "cpu" for point in operation["points"]):
        return []
    return [
        even_text(operation["break_even"].get(f"{which}_copy"), which, lang) for which in ("without", "with")
    ]


def even_text(even: Document | None, which: str, lang: str) -> str:
    """Say one crossing, with its uncertainty."""
    sizes = {key: (even or {}).get(key) for key in ("size", "low", "high")}
    said = str((even or {}).get("said") or "unknown")
    if said == BETWEEN:
        known = {key: significant(size, 3) for key, size in sizes.items() if size is not None}
        where = (
            message("race-even-between", **known)
            if len(known) == len(sizes)
            else message("race-even-unknown")
        )
    else:
        where = message(f"race-even-{said}")
    return text(message("race-even", copy=message(f"race-{which}-copy"), where=where), lang)


def lines(operation: Document) -> dict[str, Line]:
    """Return the CPU's line, the card's, and the card's with the copy: size, seconds, interval."""
    found: dict[str, Line] = {"cpu": [], "card": [], "copy": []}
    for point in sorted(operation["points"], key=lambda point: float(point["size"])):
        seconds = point["seconds"]
        if seconds is None or point.get("status") not in (None, "ran"):
            continue
        card = point["lane"] != "cpu"
        found["card" if card else "cpu"].append((point["size"], seconds, point["interval"]))
        if card and point["copy_s"] is not None:
            found["copy"].append((point["size"], seconds + point["copy_s"], None))
    return found


def _operation(canvas: Canvas, operation: Document, lang: str) -> None:
    canvas.y += 10
    canvas.say(operation_title(operation, lang), "name bold")
    drawn = lines(operation)
    if drawn["card"]:
        for said in even_texts(operation, lang):
            canvas.say(capital(said), "name")
    points = [point for line in drawn.values() for point in line]
    if not points:
        canvas.say(text(message("svg-nothing"), lang), "small mute")
        return
    _legend(canvas, [kind for kind in _KINDS if drawn[kind[0]]], lang)
    top, bottom = canvas.y + 10, canvas.y + 10 + _HEIGHT
    x = log_between([size for size, _, _ in points], _LEFT + 14, canvas.right)
    y = log_over([seconds for _, seconds, _ in points], bottom, top)
    for k, which in enumerate(("without", "with")):
        _crossing(canvas, operation["break_even"].get(f"{which}_copy"), x, y, dotted=bool(k))
    _axes(canvas, sorted({size for size, _, _ in points}), x, y, lang)
    for name, shape, mark, line in _KINDS:
        canvas.path([(x.at(size), y.at(seconds)) for size, seconds, _ in drawn[name]], line)
        for size, seconds, interval in drawn[name]:
            if interval:
                canvas.line(x.at(size), y.at(interval[0]), x.at(size), y.at(interval[1]), "r-whisker")
            canvas.mark(x.at(size), y.at(seconds), shape, mark)
    canvas.y = bottom + 22


def _crossing(canvas: Canvas, even: Document | None, x: Scale, y: Scale, *, dotted: bool) -> None:
    if not even or even["said"] != BETWEEN or None in (even["low"], even["high"], even["size"]):
        return
    left, right = x.at(even["low"]), x.at(even["high"])
    canvas.put(
        f'<rect x="{left:.1f}" y="{y.end:.1f}" width="{max(1.0, right - left):.1f}" '
        f'height="{y.start - y.end:.1f}" class="r-band"/>'
    )
    middle = x.at(even["size"])
    canvas.line(middle, y.end, middle, y.start, "r-line r-cross" + (" r-dots" if dotted else " r-dash"))


def _legend(canvas: Canvas, kinds: Sequence[tuple[str, str, str, str]], lang: str) -> None:
    canvas.y += 20
    x = MARGIN
    for name, shape, mark, line in kinds:
        canvas.line(x, canvas.y - 4, x + 30, canvas.y - 4, line)
        canvas.mark(x + 15, canvas.y - 4, shape, mark)
        said = text(message(f"svg-line-{name}"), lang)
        canvas.text(x + 36, canvas.y, said)
        x += 36 + width_of(said) + 18


def _axes(canvas: Canvas, sizes: list[float], x: Scale, y: Scale, lang: str) -> None:
    canvas.line(_LEFT, y.start, canvas.right, y.start, "r-whisker")
    for value in log_marks(y, 22):
        if y.at(value) < y.start:
            canvas.line(_LEFT, y.at(value), canvas.right, y.at(value), "r-axis")
        canvas.text(_LEFT - 6, y.at(value) + 4, duration(value, lang), "small mute", "end")
    last = 0.0
    for size in sizes:
        here, said = x.at(size), number(size, lang)
        room = width_of(said) / 2 + 4
        if here - room < last:
            continue
        canvas.line(here, y.start, here, y.start + 5, "r-whisker")
        canvas.text(here, y.start + 18, said, "small mute", "middle")
        last = here + room
