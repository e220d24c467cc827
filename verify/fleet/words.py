"""How the page says things; everything recorded is made harmless first."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from verify.report.standings import DASH, best_lane
from verify.text import plain

if TYPE_CHECKING:
    from verify.report.model import HostReport
    from verify.report.standings import Standing

_DIGEST = 12


def safe(text: object) -> str:
    """Make any text fit for the page: marks escaped, nothing in it that hides or turns the direction."""
    return html.escape(plain(str(text)))


def short_digest(text: str) -> str:
    """Return the beginning of an image's digest, as docker shows it."""
    kind, colon, digits = text.rpartition("sha256:")
    return digits[:_DIGEST] if colon and not kind else text


def race_cell(report: HostReport) -> tuple[list[str], float | None]:
    """Return a line a contestant, and the seconds of the first; what was not measured says why."""
    if report.race is None:
        return ([report.sentence] if report.damage else []), None
    found = [
        (str(c["name"]), best_lane(report.host, report.race, c["name"])) for c in report.race["contestants"]
    ]
    lines = [f"{name}: {_line(one)}" for name, one in found]
    return lines, next((one.seconds for _, one in found), None)


def _line(one: Standing) -> str:
    if one.seconds is None:
        return one.remark
    _, _, lane, taken, span, cost, _ = one.cells(None)
    parts = [f"{taken} on {lane}", *([f"({span})"] if span != DASH else [])]
    return " ".join(parts) + (f", {cost} a thousand" if cost != DASH else "")
