"""Several offers side by side: the cheapest that passes first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from verify.errors import VerifyError
from verify.offer.document import document
from verify.offer.facts import OfferFacts, offer_facts
from verify.offer.pull import Price, first_pull
from verify.offer.show import STYLE, USES, hourly
from verify.offer.verdict import Judgement, Use, judge
from verify.recording import load
from verify.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

_LEAST, _MOST = 0.0001, 1e6
_LONGEST = 28


@dataclass(frozen=True, slots=True)
class Compared:
    """One offer with its price."""

    name: str
    offer: OfferFacts
    judged: Judgement
    price: Price
    passes: bool


def named(text: str) -> tuple[Path, float | None]:
    """Read FILE or FILE:PRICE; a colon that is followed by no number belongs to the file's name."""
    head, colon, tail = text.rpartition(":")
    try:
        price = float(tail.replace(",", ".")) if colon and head else None
    except ValueError:
        return Path(text), None
    if price is None:
        return Path(text), None
    if not _LEAST <= price <= _MOST or not math.isfinite(price):
        raise VerifyError(f"{text}: {tail} is no price an hour: give a number from {_LEAST:g} to {_MOST:g}")
    return Path(head), price


def compare(files: Sequence[str], wanted: tuple[Use, ...], price: Price) -> list[Compared]:
    """Judge every recording; those that pass first, of them the cheapest first, without a price last."""
    found = []
    for text in files:
        path, each = named(text)
        offer = offer_facts(load(path))
        judged = judge(offer)
        mine = Price(each if each is not None else price.per_hour, price.currency, price.mbit)
        found.append(Compared(path.stem, offer, judged, mine, judged.passes(wanted)))
    return sorted(found, key=_rank)


def _rank(one: Compared) -> tuple[bool, float]:
    return not one.passes, math.inf if one.price.per_hour is None else one.price.per_hour


def print_compared(found: Sequence[Compared], wanted: tuple[Use, ...], out: Console) -> None:
    """Print one column an offer, one row a matter: terminals are narrow, and so are columns of prose."""
    table = Table(pad_edge=False)
    table.add_column("", no_wrap=True)
    for one in found:
        table.add_column(plain(one.name)[:_LONGEST], overflow="fold")
    table.add_row("an hour", *[hourly(one.price.per_hour, one.price.currency) for one in found])
    for number, use in enumerate(Use):
        verdicts = [one.judged.verdicts[number] for one in found]
        chosen = "bold" if use in wanted else ""
        table.add_row(Text(USES[use], chosen), *[Text(v.word, STYLE[v.word]) for v in verdicts])
    names = dict.fromkeys((a.id, a.question) for one in found for a in one.judged.answers)
    for name, question in names:
        cells = []
        for one in found:
            answer = next((a for a in one.judged.answers if a.id == name), None)
            cells.append(Text(plain(answer.value), STYLE[answer.word]) if answer else Text("-"))
        table.add_row(question, *cells)
    pulls = [first_pull(one.offer, one.price) for one in found]
    if any(pulls):
        table.add_row("first pull", *[plain(str(pull)) if pull else "-" for pull in pulls])
    out.print(table)
    best = found[0]
    what = " and ".join(USES[use] for use in wanted) or "anything"
    if not best.passes:
        out.print(Text(f"none of them passes for: {what}", style="bold red"))
        return
    costs = f" at {hourly(best.price.per_hour, best.price.currency)} an hour" if best.price.per_hour else ""
    out.print(Text(f"first: {plain(best.name)}{costs}, it passes for: {what}", style="bold green"))


def compared_document(found: Sequence[Compared], wanted: tuple[Use, ...]) -> dict[str, Any]:
    """Return the comparison with names that stay, in its order."""
    rows = [{"name": one.name, **document(one.offer, one.judged, one.price, wanted)} for one in found]
    return {"schema": 1, "wanted": [use.value for use in wanted], "offers": rows}
