"""The bars of race.svg: one a lane on one logarithmic scale, with its interval; what did not run says why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.race import shares
from verify.race.drawing import LINE, MARGIN, width_of
from verify.race.figures import duration, span
from verify.race.libraries import CUDA
from verify.race.phrases import capital
from verify.race.scales import Scale, log_marks, log_over
from verify.race.stats import CONFIDENCE
from verify.race.words import message, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.race.drawing import Canvas
    from verify.race.notes import Notes

    Document = Mapping[str, Any]

_BAR = 14.0
_PATTERNS = {
    "cpu": "plain",
    "cpu-torch": "rows",
    "cuda": "slanted",
    "cuda-mixed": "dotted",
    "cuml": "crossed",
}
RAN = "ran"


def bars(canvas: Canvas, race: Document, title: str, notes: Notes, lang: str) -> None:
    """Draw every contestant's lanes; what did not run refers to its reason among the notes."""
    canvas.say(title, "part")
    times = [value for lane in _lanes(race) for value in _values(lane)]
    scale = log_over(times, MARGIN, canvas.right) if times else None
    canvas.say(_note(race, lang), "small mute")
    for contestant in race["contestants"]:
        canvas.y += 12
        canvas.say(str(contestant["name"]), "name bold")
        said = ratio_text(contestant, lang)
        if said:
            canvas.say(said, "name")
        for lane in contestant["lanes"]:
            _lane(canvas, lane, scale, notes, lang)
    if scale:
        _axis(canvas, scale, lang)


def _note(race: Document, lang: str) -> str:
    """Say how the bars are to be read: of what there is, and no more."""
    shown = [lane for lane in _lanes(race) if measured(lane)]
    names = ["svg-bars-note"] if shown else ["svg-nothing"]
    names += ["svg-bars-whisker"] if any(median_interval(lane) for lane in shown) else []
    names += ["svg-bars-diamond"] if any(copied(lane) is not None for lane in shown) else []
    return " ".join(text(message(name), lang) for name in names)


def _lanes(race: Document) -> list[Document]:
    return [lane for contestant in race["contestants"] for lane in contestant["lanes"]]


def measured(lane: Document) -> bool:
    """Whether a lane has a time that may be shown as one."""
    return lane["status"] == RAN and lane["median"] is not None


def _values(lane: Document) -> list[float]:
    if not measured(lane):
        return []
    total = copied(lane)
    return [lane["median"], *(median_interval(lane) or ()), *([] if total is None else [total])]


def median_interval(lane: Document) -> tuple[float, float] | None:
    """Return the interval of the median; None where too few repeats give it no confidence at all."""
    interval = lane.get("interval")
    return None if not interval or lane.get("confidence") == 0 else (interval[0], interval[1])


def copied(lane: Document) -> float | None:
    """Return the time with the copies; None for a lane that copies nothing."""
    copies = (lane.get("transfer_in"), lane.get("transfer_out"))
    return None if copies == (None, None) else lane.get("total")


def ratio_text(contestant: Document, lang: str) -> str | None:
    """Say how many times as fast the card is, as far as the interval allows."""
    ratio = contestant["ratio"]
    if ratio is None:
        return None
    interval = shares.interval_of(contestant)
    if interval is None:
        return capital(text(message("no-interval"), lang))
    low, high = interval
    name = "svg-ratio" if low > 1 else "svg-ratio-lost" if high < 1 else "svg-ratio-same"
    against = contestant["ratio_against"]
    return text(
        message(name, ratio=ratio, low=low, high=high, sure=shares.sure(contestant), against=against), lang
    )


def lane_name(lane: Document, lang: str) -> str:
    """Name a lane: what calculates, in which precision, and whether it may enter the ratio."""
    if not measured(lane):
        return str(lane["name"])
    parts = [str(lane[key]) for key in ("name", "library", "precision") if lane.get(key)]
    parts += [] if lane.get("counts", True) else [text(message("svg-outside-ratio"), lang)]
    return " \N{MIDDLE DOT} ".join(parts)


def time_text(lane: Document, notes: Notes, lang: str) -> str:
    """Say a lane's time with its interval and the copies; of one that has none, why."""
    if not measured(lane):
        return notes.status(lane)
    said = duration(lane["median"], lang)
    interval, confidence, total = median_interval(lane), lane.get("confidence"), copied(lane)
    if interval:
        low = confidence is not None and confidence < CONFIDENCE
        sure = f", {text(message('svg-confidence', share=confidence), lang)}" if low else ""
        said += f" ({span(*interval, lang)}{sure})"
    if total is not None:
        said += ", " + text(message("svg-total", total=duration(total, lang)), lang)
    return said


def _lane(canvas: Canvas, lane: Document, scale: Scale | None, notes: Notes, lang: str) -> None:
    name, said = lane_name(lane, lang), time_text(lane, notes, lang)
    canvas.y += 6
    if scale is None or not measured(lane):
        canvas.say(f"{name}{text(message('colon'), lang)}{said}", "small mute")
        return
    canvas.y += LINE
    canvas.text(MARGIN, canvas.y, name)
    fits = width_of(name) + width_of(said, "small bold") + MARGIN < canvas.right - MARGIN
    if fits:
        canvas.text(canvas.right, canvas.y, said, "small bold", "end")
    else:
        canvas.say(said, "small bold")
    canvas.y += 8
    _bar(canvas, lane, scale)
    for warning in lane["warnings"]:
        canvas.say(text(message("svg-warning", warning=warning), lang), "small mute")


def _bar(canvas: Canvas, lane: Document, scale: Scale) -> None:
    kind = "card" if lane["device"] == CUDA else "cpu"
    pattern = _PATTERNS.get(str(lane["name"]), "slanted" if kind == "card" else "plain")
    end, top, middle = scale.at(lane["median"]), canvas.y, canvas.y + _BAR / 2
    canvas.put(  # moved, not placed: so that every bar's pattern begins at its own corner
        f'<rect transform="translate({MARGIN} {top:.1f})" width="{end - MARGIN:.1f}" height="{_BAR}" '
        f'class="r-edge r-{kind}-line" {canvas.fill(pattern)}/>'
    )
    interval, total = median_interval(lane), copied(lane)
    if interval:
        low, high = (scale.at(value) for value in interval)
        canvas.line(low, middle, high, middle, "r-whisker")
        for x in (low, high):
            canvas.line(x, top - 3, x, top + _BAR + 3, "r-whisker")
    if total is not None:
        canvas.mark(scale.at(total), middle, "diamond", f"r-hollow r-edge r-{kind}-line")
    canvas.y += _BAR + 3


def _axis(canvas: Canvas, scale: Scale, lang: str) -> None:
    canvas.y += 10
    canvas.line(MARGIN, canvas.y, canvas.right, canvas.y, "r-whisker")
    marks = log_marks(scale, 58)
    for value in marks:
        x = scale.at(value)
        canvas.line(x, canvas.y, x, canvas.y + 5, "r-whisker")
        last = x > canvas.right - 24
        anchor = "end" if last else "start" if x < MARGIN + 24 else "middle"
        canvas.text(x, canvas.y + 18, duration(value, lang), "small mute", anchor)
    canvas.y += 24


def lane_texts(race: Document, notes: Notes, lang: str) -> Sequence[str]:
    """Return every lane as a line of text, for those who do not see the picture."""
    colon = text(message("colon"), lang)
    return [
        f"{contestant['name']}, {lane_name(lane, lang)}{colon}{time_text(lane, notes, lang)}"
        for contestant in race["contestants"]
        for lane in contestant["lanes"]
    ]
