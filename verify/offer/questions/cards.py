"""Question 4: do the flags that hand a card on to a container work; in a container, is the card there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.facts.container import runs
from verify.facts.source import cite
from verify.offer.answer import Answer, Word
from verify.offer.questions.daemon import INSTALL, TRY, Kind, kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verify.facts.container import Run
    from verify.offer.facts import OfferFacts

_WAYS = {"run-gpus-all": "--gpus", "run-runtime": "--runtime=nvidia", "run-cdi": "--device nvidia.com/gpu"}
_ASK_AGAIN = "ask for a container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"


def cards(offer: OfferFacts) -> Answer:
    """Answer whether a container gets the card."""
    word, value, summary, todo, evidence = _judged(offer)
    return Answer("cards", 4, "the card in containers", word, value, summary, todo, evidence)


_Said = tuple[Word, str, str, str | None, tuple[str, ...]]


def _judged(offer: OfferFacts) -> _Said:
    tried = runs(offer.tries.steps)
    lead = "offer-tries: "
    found = {name: run for name, run in tried.items() if run.ran and name in _WAYS}
    if not found and offer.state.image.present:
        found = {name: run for name, run in offer.state.runs.items() if run.ran and name in _WAYS}
        lead = ""
    if found:
        return _by_runs(offer, found, lead)
    if kind(offer) is Kind.CONTAINER:
        return _inside(offer)
    driver = offer.state.driver
    if kind(offer) is Kind.MACHINE and driver.answers:
        summary = f"{_count(len(driver.cards))} on the machine, and no Docker yet that hands it on"
        return Word.UNKNOWN, "no Docker yet", summary, INSTALL, driver.evidence
    why = f": {offer.tries.why_not}" if offer.tries.why_not else ""
    return Word.UNKNOWN, "not tried", f"no container asked for a card{why}", TRY, ()


def _count(number: int) -> str:
    return "one card answers" if number == 1 else f"{number} cards answer"


def _by_runs(offer: OfferFacts, found: dict[str, Run], lead: str) -> _Said:
    gave = [name for name, run in found.items() if run.gave]
    evidence = tuple(f"{lead}{line}" for name in gave or found for line in found[name].evidence)
    if gave:
        most = max(len(found[name].cards) for name in gave)
        ways = ", ".join(_WAYS[name] for name in gave)
        refused = [_WAYS[name] for name in found if name not in gave]
        other = f"; not by {', '.join(refused)}" if refused else ""
        there = len(offer.state.driver.cards)
        short = f", of {there} on the machine" if there > most else ""
        seen = f"{most} card{'' if most == 1 else 's'}"
        return Word.YES, ways, f"a container sees {seen}{short}, asked for by {ways}{other}", None, evidence
    asked = found.get("run-gpus-all") or next(iter(found.values()))
    said = asked.said or asked.ended or "it saw no card"
    todo = "`gpu-verify doctor` says which layer is broken; `./bootstrap.sh` installs what is missing"
    return Word.NO, "no way", f"no way of asking gives a container a card: {said[:200]}", todo, evidence


def cuda_refuses(offer: OfferFacts) -> str | None:
    """Return what CUDA says where it does not open the card that is here; a simulated one has none."""
    inside = offer.inside
    if inside.init is not None and (inside.init == 0 or offer.simulated):
        return None
    if not inside.asked or (inside.init is None and inside.library_error is None):
        return None
    return inside.library_error or inside.word or f"cuInit says {inside.init}"


def _inside(offer: OfferFacts) -> _Said:  # noqa: PLR0911  # one an outcome
    """Judge a container without Docker: it is the container that the card is handed to."""
    driver, inside, nodes = offer.state.driver, offer.inside, offer.state.card.nodes
    refused = cuda_refuses(offer)
    if driver.answers and refused:
        summary = f"nvidia-smi answers in this container, and CUDA does not open the card: {refused[:120]}"
        return Word.NO, "no CUDA", summary, _ASK_AGAIN, (*driver.evidence, *inside.evidence)
    if driver.answers:
        summary = f"{_count(len(driver.cards))} in this container"
        return Word.YES, "in this container", summary, None, driver.evidence
    if inside.init == 0 and inside.count:
        opened = "one card" if inside.count == 1 else f"{inside.count} cards"
        summary = f"CUDA opens {opened} in this container; nvidia-smi does not answer"
        return Word.YES, "in this container", summary, None, inside.evidence
    looked = _nodes(nodes or ())
    if nodes and refused:
        summary = f"the card's device nodes are here, and CUDA does not open it: {refused[:120]}"
        return Word.NO, "nodes alone", summary, _ASK_AGAIN, (*inside.evidence, *looked)
    if nodes:
        missing = "nvidia-smi is missing" if driver.recorded else "nvidia-smi was not asked"
        summary = (
            f"the card's device nodes are here; {missing}, and CUDA was not asked: whether it works is open"
        )
        return Word.UNKNOWN, "nodes alone", summary, _ASK_AGAIN, (*driver.evidence, *looked)
    if nodes is not None and driver.recorded:
        summary = "no card was given to this container"
        return Word.NO, "no card", summary, "rent an offer with a card, and ask for it", driver.evidence
    return Word.UNKNOWN, "not recorded", "whether a card is here was not recorded", TRY, driver.evidence


def _nodes(nodes: Iterable[str]) -> tuple[str, ...]:
    return tuple(cite("/dev/nvidia*", path) for path in nodes)
