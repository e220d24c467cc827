"""A picture in SVG: shapes, wrapped text, patterns; nothing of it comes from outside the file.

Blue and vermilion are told apart by every common kind of colour blindness (Okabe and Ito's palette); the
patterns, the shapes and the names beside them say the same once more, so that a black and white print does.
"""

from __future__ import annotations

import html
import re
import textwrap

MARGIN = 16.0
LINE = 17.0
_CHARACTER, _BOLD = 0.53, 0.59  # of the size: the mean width of a letter in a wide system font
_UNFIT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_KEPT = re.compile(r" (?=[%:;!?](?:[\s,.)]|$))|(?<=\d) (?=(?:s|ms|µs|ns|W|°C|MHz)\b)")
_FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif"
_LIGHT = {
    "back": "#ffffff",
    "ink": "#1a1a1a",
    "mute": "#555555",
    "grid": "#d5d5d5",
    "cpu": "#0072b2",
    "card": "#b84a00",
    "note": "#fff3d6",
}
_DARK = {
    "back": "#14171a",
    "ink": "#f0f0f0",
    "mute": "#b5b5b5",
    "grid": "#3c4248",
    "cpu": "#56b4e9",
    "card": "#ff9a55",
    "note": "#3a2f12",
}
SIZES = {"head": 20.0, "part": 16.0, "name": 13.0, "small": 12.0}


def escape(text: object) -> str:
    """Make any text fit for XML: marks escaped, what XML does not allow replaced."""
    return html.escape(_UNFIT.sub("\ufffd", str(text)))


def width_of(text: str, kind: str = "small") -> float:
    """Return about how wide a text is, for there is no font to measure."""
    return len(text) * _size(kind) * _letter(kind)


def _size(kind: str) -> float:
    return SIZES[kind.partition(" ")[0]]


def _letter(kind: str) -> float:
    return _BOLD if set(kind.split()) & {"bold", "head", "part"} else _CHARACTER


def kept(text: str) -> str:
    """Keep a figure with its unit and French punctuation with its word, wherever the line ends."""
    return _KEPT.sub("\N{NO-BREAK SPACE}", text)


def wrapped(said: str, room: float, kind: str) -> list[str]:
    """Break a text into lines that fit."""
    letters = max(12, int(room / (_size(kind) * _letter(kind))))
    return textwrap.wrap(kept(said), letters) or [""]


class Canvas:
    """Parts one below the other; ``y`` is where the next begins."""

    def __init__(self, width: float, prefix: str) -> None:
        self.width = width
        self.y = MARGIN
        self.prefix = prefix
        self._parts: list[str] = []

    @property
    def right(self) -> float:
        """Where the room ends."""
        return self.width - MARGIN

    def put(self, part: str) -> None:
        """Add a shape as it is."""
        self._parts.append(part)

    def text(self, x: float, y: float, said: str, kind: str = "small", anchor: str = "start") -> None:
        """Write one line; ``kind`` is head, part, name or small, and may be followed by mute."""
        classes = " ".join(f"r-{word}" for word in kind.split())
        self.put(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">{escape(said)}</text>'
        )

    def say(self, said: str, kind: str = "small") -> None:
        """Write a text over as many lines as it needs, and move on."""
        size = _size(kind)
        for line in wrapped(said, self.right - MARGIN, kind):
            self.y += size * 1.3
            self.text(MARGIN, self.y, line, kind)

    def boxed(self, said: str) -> None:
        """Write a text that must not be overlooked."""
        start, place = self.y, len(self._parts)
        self.y += 4
        inner = Canvas(self.width - 2 * 8, self.prefix)
        inner.y = 0
        inner.say(said, "name bold")
        self._parts += [f'<g transform="translate(8 {self.y:.1f})">', *inner._parts, "</g>"]
        self.y += inner.y + 10
        self._parts.insert(
            place,
            f'<rect x="{MARGIN}" y="{start:.1f}" width="{self.right - MARGIN:.1f}" '
            f'height="{self.y - start:.1f}" class="r-note" rx="3"/>',
        )
        self.y += 4

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """Draw a line."""
        self.put(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def path(self, points: list[tuple[float, float]], kind: str) -> None:
        """Draw a line through points."""
        if len(points) > 1:
            self.put(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>')

    def mark(self, x: float, y: float, shape: str, kind: str) -> None:
        """Draw a circle, a square or a diamond around a point."""
        if shape == "circle":
            self.put(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="{kind}"/>')
        else:
            turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if shape == "diamond" else ""
            self.put(f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" class="{kind}"{turn}/>')

    def fill(self, pattern: str) -> str:
        """Return the fill of a pattern."""
        return f'fill="url(#{self.prefix}-{pattern})"'

    def svg(self, title: str, description: str) -> str:
        """Return the whole picture."""
        height = self.y + MARGIN
        size = f'viewBox="0 0 {self.width:.0f} {height:.0f}" width="{self.width:.0f}" height="{height:.0f}"'
        named = f"{self.prefix}-title {self.prefix}-desc"
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{named}">',
                f'<title id="{self.prefix}-title">{escape(title)}</title>',
                f'<desc id="{self.prefix}-desc">{escape(description)}</desc>',
                f"<style>{_style()}</style>",
                f"<defs>{_patterns(self.prefix)}</defs>",
                f'<rect width="{self.width:.0f}" height="{height:.0f}" class="r-back"/>',
                *self._parts,
                "</svg>\n",
            )
        )


def _style() -> str:
    sizes = "".join(f".r-{kind}{{font-size:{size:.0f}px}}" for kind, size in SIZES.items())
    return (
        f"text{{font-family:{_FONT}}}{sizes}.r-head,.r-part,.r-bold{{font-weight:600}}"
        ".r-line{fill:none;stroke-width:2}.r-dash{stroke-dasharray:7 4}.r-dots{stroke-dasharray:2 4}"
        ".r-axis{stroke-width:1}.r-whisker{stroke-width:2}.r-edge{stroke-width:1.5}"
        f"{_colours(_LIGHT)}@media(prefers-color-scheme:dark){{{_colours(_DARK)}}}"
    )


def _colours(of: dict[str, str]) -> str:
    return (
        f"text,.r-ink{{fill:{of['ink']}}}.r-mute{{fill:{of['mute']}}}.r-back{{fill:{of['back']}}}"
        f".r-note{{fill:{of['note']};stroke:{of['ink']};stroke-width:1.5}}"
        f".r-axis{{stroke:{of['grid']}}}.r-whisker{{stroke:{of['ink']}}}"
        f".r-cpu{{fill:{of['cpu']}}}.r-card{{fill:{of['card']}}}.r-hollow{{fill:{of['back']}}}"
        f".r-cpu-line{{stroke:{of['cpu']}}}.r-card-line{{stroke:{of['card']}}}"
        f".r-band{{fill:{of['mute']};fill-opacity:.22;stroke:none}}.r-cross{{stroke:{of['ink']}}}"
    )


def _patterns(prefix: str) -> str:
    """One for each kind of lane: plain, rows, slanted, dotted, crossed."""
    ground = '<rect width="8" height="8" class="r-hollow"/>'
    drawn = {
        "plain": '<rect width="8" height="8" class="r-cpu"/>',
        "rows": ground + '<rect width="8" height="5" class="r-cpu"/>',
        "slanted": ground + '<rect width="5" height="8" class="r-card"/>',
        "dotted": ground + '<circle cx="4" cy="4" r="2.4" class="r-card"/>',
        "crossed": ground + '<path d="M0 2h8M2 0v8" class="r-line r-card-line"/>',
    }
    slant = {"slanted": ' patternTransform="rotate(45)"'}
    return "".join(
        f'<pattern id="{prefix}-{name}" width="8" height="8" patternUnits="userSpaceOnUse"'
        f"{slant.get(name, '')}>{shapes}</pattern>"
        for name, shapes in drawn.items()
    )
