"""``gpu-verify race compare A B``: two races of the same work, and whether they differ beyond chance."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from verify.commands import FINDINGS_FAILED, OK, Parser
from verify.compat.show import line, print_table, table
from verify.console import console
from verify.errors import VerifyError
from verify.race.comparable import brief
from verify.race.compare import TOLERANCE, NotComparableError, compare, slower
from verify.race.phrases import duration, shown
from verify.race.words import LANGUAGES, message, text
from verify.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

Json = dict[str, Any]

_EPILOG = """example:
  gpu-verify race compare before now --fail-slower 10

exit status:
  0    compared, whatever the result
  1    with --fail-slower PERCENT: a lane takes longer by more than that, significantly, and nothing
       disturbed it in either race (others on its CPU or card, a changed clock, throttling, swap);
       a lane that did not run is no slowdown
  2    usage, input that cannot be read, or races that are not of the same work
  3    an error in gpu-verify itself
  130  interrupted"""
# What a race.json that was cut or changed by hand makes of the arithmetic: its fault, not this program's.
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_FOLDERS = ("race.json", "race/race.json")
_STYLES = {"compare-slower": "red", "compare-faster": "green", "compare-small": "yellow"}
_STYLES |= {"compare-disturbed": "yellow"}


def main(arguments: Sequence[str]) -> int:
    """Compare, print, and return the exit status."""
    options = _parser().parse_args(arguments)
    a, b = read(options.a), read(options.b)
    beyond = options.fail_slower
    try:
        found = compare(a, b, options.tolerance)
        status = FINDINGS_FAILED if beyond is not None and slower(found, beyond) else OK
        if options.json:
            said = json.dumps(found, indent=1, allow_nan=False) + "\n"
        else:
            said = _shown(found, options.lang)
    except NotComparableError as error:
        raise VerifyError(_refusal(error, options.lang)) from None
    except DAMAGE as error:
        raise VerifyError(
            f"{options.a} and {options.b}: one of them is no whole race.json ({why(error)}): take the file "
            "that gpu-verify race wrote, as it is"
        ) from None
    print(said, end="")  # noqa: T201
    return status


def _parser() -> Parser:
    parser = Parser(prog="gpu-verify race compare", description=__doc__, epilog=_EPILOG)
    parser.add_argument(
        "a", type=Path, metavar="A", help="race.json, or the folder it lies in: what was before"
    )
    parser.add_argument("b", type=Path, metavar="B", help="what is now, or the other host")
    parser.add_argument(
        "--tolerance",
        type=_share,
        default=TOLERANCE,
        metavar="SHARE",
        help="a smaller difference is nobody's fault, significant or not (default 5%%)",
    )
    parser.add_argument(
        "--fail-slower",
        type=_percent,
        metavar="PERCENT",
        help="for CI: exit with 1 where a lane of B takes longer by more, significantly and undisturbed",
    )
    parser.add_argument("--lang", default="en", choices=sorted(LANGUAGES), help="language (default en)")
    parser.add_argument("--json", action="store_true", help="a versioned document instead of the table")
    return parser


def _share(said: str) -> float:
    try:
        value = float(said.rstrip("%")) / (100 if said.endswith("%") else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{said!r} is no share: give 5% or 0.05, from 0 to below 1")
    return value


def _percent(said: str) -> float:
    try:
        value = float(said.rstrip("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{said!r} is no percentage: give 10 or 10%, from 0")
    return value / 100


def read(path: Path) -> Json:
    """Return the race in a file, or in the folder that a race was written to."""
    file = path
    if path.is_dir():
        found = next((path / name for name in _FOLDERS if (path / name).is_file()), None)
        if found is None:
            raise VerifyError(f"{path} has no race.json: name the folder that gpu-verify race --out wrote to")
        file = found
    try:
        document = json.loads(
            file.read_text(encoding="utf-8"), parse_constant=_no_number, parse_float=_number
        )
    except OSError as error:
        raise VerifyError(
            f"{file} cannot be read ({error.strerror}): name a race.json or its folder"
        ) from None
    except (ValueError, RecursionError) as error:
        raise VerifyError(
            f"{file} is no JSON ({brief(error)}): name a race.json that gpu-verify race wrote"
        ) from None
    if not isinstance(document, dict) or not isinstance(document.get("contestants"), list):
        raise VerifyError(f"{file} is no race (it has no contestants): name a race.json or its folder")
    if not _whole(document["contestants"], "lanes"):
        raise VerifyError(
            f"{file} is no whole race.json (a contestant or a lane in it has no name): take the file that "
            "gpu-verify race wrote, as it is"
        )
    return document


def why(error: Exception) -> str:
    """Return an error in a few words on one line."""
    return f"{type(error).__name__}: {brief(error)}"


def _whole(entries: object, below: str | None = None) -> bool:
    """Whether this is a list of objects with a name each, and so are the lists in it."""
    return isinstance(entries, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and (below is None or _whole(entry.get(below)))
        for entry in entries
    )


def _no_number(said: str) -> float:
    raise ValueError(f"{said} is no number of JSON")


def _number(said: str) -> float:
    found = float(said)
    return found if math.isfinite(found) else _no_number(brief(said))


def _refusal(error: NotComparableError, lang: str) -> str:
    said = "; ".join(text(one, lang) for one in error.differs)
    return (
        f"these two are not races of the same work: {said}. Race both with the same version, the same "
        "options and the same image"
    )


def _shown(found: Json, lang: str) -> str:
    """Return the whole comparison before any of it is printed: a damaged race shows at its end, perhaps."""
    out = console()
    with out.capture() as said:
        show(found, out, lang)
    return said.get()


def show(found: Json, out: Console, lang: str) -> None:
    """Print the comparison for a person."""
    made = table(*(text(message(f"race-column-{name}"), lang) for name in ("contestant", "lane")))
    for name in ("a", "b", "times", "p", "verdict"):
        made.add_column(text(message(f"compare-column-{name}"), lang), overflow="fold")
    for lane in found["lanes"]:
        made.add_row(*_row(lane, lang))
    title = message("compare-title", a=_name(found["a"]), b=_name(found["b"]))
    print_table(out, plain(text(title, lang)), made)
    for warning in found["warnings"]:
        line(out, text(message("compare-label-but"), lang), plain(text(warning, lang)), "yellow")
    exact = all(lane["exact"] for lane in found["lanes"] if lane["p"] is not None)
    for method in ("exact" if exact else "normal", "ratio", "scope"):
        line(
            out,
            text(message("compare-label-method"), lang),
            text(message(f"compare-method-{method}"), lang),
            "dim",
        )


def _name(race: Json) -> str:
    return f"{race['host']} ({race['taken_at']})"


def _row(lane: Json, lang: str) -> tuple[str | Text, ...]:
    first = (plain(lane["contestant"]), plain(lane["lane"]))
    medians = tuple(_median(lane[side], lang) for side in ("a", "b"))
    if lane["p"] is None:
        return (*first, *medians, "", "", Text(plain(text(lane["reason"], lang)), "dim"))
    said = Text(plain(text(lane["said"], lang)), _STYLES.get(lane["said"]["id"], ""))
    return (*first, *medians, _ratio(lane, lang), f"{lane['p_holm']:.2g}", said)


def _median(side: Json | None, lang: str) -> str:
    known = side is not None and side["status"] == "ran" and side["median"] is not None
    return shown(duration(side["median"]), lang) if known and side is not None else "-"


def _ratio(lane: Json, lang: str) -> str:
    low, high = lane["interval"]
    ends = message("compare-interval", low=low, high=high)
    confidence = lane["confidence"]
    if confidence is not None and confidence < 0.95:  # noqa: PLR2004  # what the others have
        ends = message("compare-confidence-low", low=low, high=high, confidence=confidence)
    return f"{text(message('number', value=lane['ratio']), lang)} ({text(ends, lang)})"
