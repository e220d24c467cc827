"""An offer on a terminal: the questions as a table, then the machine, then the verdict for each use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from verify.image.words import money, size
from verify.offer.answer import Word
from verify.offer.interruption import interruption
from verify.offer.pull import FirstPull, Price, first_pull
from verify.text import hang, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from verify.offer.answer import Answer
    from verify.offer.facts import OfferFacts
    from verify.offer.places import Place
    from verify.offer.verdict import Judgement, Verdict

STYLE = {Word.YES: "green", Word.NO: "red", Word.UNKNOWN: "yellow"}
USES = {"train": "train here", "serve": "serve here", "build": "build images here", "ci": "CI here"}
_LABEL = 18
_GIB = 2**30
_MB = 1_000_000


def print_offer(offer: OfferFacts, judged: Judgement, price: Price, out: Console, *, evidence: bool) -> None:
    """Print everything that is known of an offer."""
    table = Table(title_justify="left", pad_edge=False)
    for heading in ("", "question", "", "what was found"):
        table.add_column(heading, overflow="fold")
    said: set[str | None] = {None}
    for answer in judged.answers:
        word = Text(answer.word, STYLE[answer.word])
        # What several answers advise is said once.
        table.add_row(str(answer.number), answer.question, word, _found(answer, answer.remedy not in said))
        said.add(answer.remedy)
    out.print(table)
    for place in offer.places:
        _line(out, place.path[: _LABEL - 1], _place(place))
    for label, text in rows(offer, first_pull(offer, price)):
        _line(out, label, text)
    out.print()
    for verdict in judged.verdicts:
        _verdict(out, verdict, simulated=offer.simulated)
    if offer.tries.left:
        _line(out, "left behind", f"{', '.join(offer.tries.left)}: remove it by hand", "bold red")
    if offer.tries.interrupted:
        _line(out, "interrupted", "what was tried until then is shown, and was taken away", "yellow")
    if evidence:
        _evidence(out, judged.answers)


def _found(answer: Answer, advised: bool) -> Text:  # noqa: FBT001
    text = Text(plain(answer.summary))
    if answer.remedy and advised:
        text.append(f"\n→ {plain(answer.remedy)}", style="dim")
    return text


def _line(out: Console, label: str, text: str, style: str = "") -> None:
    first, *rest = hang(text, out.width, _LABEL)
    out.print(Text.assemble((plain(label).ljust(_LABEL), "bold"), (first, style)), soft_wrap=True)
    for more in rest:
        out.print(Text(more, style=style), soft_wrap=True)


def _verdict(out: Console, verdict: Verdict, *, simulated: bool) -> None:
    but = f"; but {', '.join(verdict.but)}" if verdict.but else ""
    why = f": {'; '.join(verdict.reasons)}" if verdict.reasons else ""
    card = " (simulated card)" if simulated else ""
    _line(out, USES[verdict.use], f"{verdict.word.upper()}{card}{why}{but}", f"bold {STYLE[verdict.word]}")


def _place(place: Place) -> str:
    words = [place.kind or "kind not recorded"]
    words += ["over the network"] if place.network else []
    if place.total is not None and place.free is not None:
        words.append(f"{size(place.free)} free of {size(place.total)}")
    if place.write is not None:
        words.append(f"writes {place.write / _MB:.0f} MB/s")
    if place.read is not None:
        cached = "" if place.cold else " (perhaps from memory)"
        words.append(f"reads {place.read / _MB:.0f} MB/s{cached}")
    words += [place.trouble] if place.trouble else []
    return f"{', '.join(words)}; {place.survival}"


def rows(offer: OfferFacts, pull: FirstPull | None) -> Iterator[tuple[str, str]]:
    """Return the machine's measures, a label and a sentence each; what is not known says so."""
    machine = offer.machine
    if pull is not None:
        yield "first pull", str(pull)
    yield "interruption", interruption(offer.metadata).text
    yield "cores", _cores(machine.cores, machine.quota)
    memory = _gib(machine.memory)
    limit = machine.limit
    limited = limit is not None and (machine.memory is None or limit < machine.memory)
    yield "memory", f"{memory}, limited to {_gib(limit)}" if limited else memory
    yield "/dev/shm", _gib(machine.shm)  # noqa: S108  # a label
    named = [card.name or "a card" for card in offer.state.driver.cards]
    yield "cards", ", ".join(f"{named.count(one)} x {one}" for one in dict.fromkeys(named)) or "none named"
    if machine.links:
        links = [str(link) for link in machine.links]
        yield "PCI Express", ", ".join(dict.fromkeys(links)) + " (idle cards run at a lower generation)"
    if machine.nvlink is not None:
        yield "NVLink", "joins every pair of cards" if machine.nvlink else "does not join every pair of cards"
    if machine.maker:
        yield "made by", machine.maker


def _cores(cores: int | None, quota: float | None) -> str:
    if cores is None:
        return "not recorded"
    return (
        f"{quota:g} of {cores}, by its control group" if quota is not None and quota < cores else str(cores)
    )


def _gib(amount: int | None) -> str:
    return "not recorded" if amount is None else f"{amount / _GIB:.1f} GiB"


def hourly(price: float | None, currency: str) -> str:
    """Write a price."""
    return "not given" if price is None else money(price, currency)


def _evidence(out: Console, answers: tuple[Answer, ...]) -> None:
    out.print()
    out.print(Text("evidence", style="bold"))
    for answer in answers:
        for line in answer.evidence:
            _line(out, f"  {answer.id}", line)
