"""Question 7: several containers at once, and a Compose file of two services with a card reserved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.facts.smi import parse_list
from verify.facts.source import cite_command
from verify.offer.answer import Answer, Word
from verify.offer.facts import cite_step
from verify.offer.questions.daemon import TRY, absent, remedy

if TYPE_CHECKING:
    from verify.offer.facts import OfferFacts
    from verify.recording import CommandEntry

_TWO = 2
_INSTALL_COMPOSE = (
    "install it: docker-compose-plugin of Docker's packages, docker-compose of the distribution's"
)


def _lines(entry: CommandEntry | None) -> list[str]:
    return [line for line in entry.stdout.splitlines() if line.strip()] if entry and entry.ok else []


def _why(entry: CommandEntry) -> str:
    words = [line.strip() for line in entry.stderr.splitlines() if line.strip()]
    return words[-1][:200] if words else entry.ended


def several(offer: OfferFacts) -> Answer:
    """Answer whether two containers run at the same time: two did."""

    def said(word: Word, value: str, summary: str, todo: str | None, evidence: tuple[str, ...]) -> Answer:
        return Answer("several", 7, "several containers", word, value, summary, todo, evidence)

    tries = offer.tries
    seen = tries.step("two-running")
    started = [entry for name in ("start-1", "start-2") if (entry := tries.step(name))]
    if seen is not None and len(_lines(seen)) >= _TWO and all(tries.ok(entry.name) for entry in started):
        return said(Word.YES, "yes", "two containers ran at the same time", None, (cite_step(seen),))
    failed = next((entry for entry in started if not entry.ok), None)
    if failed is not None:
        todo = "`gpu-verify doctor` says which layer is broken"
        return said(Word.NO, "no", f"a container does not start: {_why(failed)}", todo, (cite_step(failed),))
    if seen is not None and seen.ok and len(started) == _TWO:
        summary = f"of two containers {len(_lines(seen))} ran"
        return said(Word.NO, "no", summary, "`docker logs` of yours may say why", (cite_step(seen),))
    missing, evidence = absent(offer), offer.state.engine.evidence
    if missing and evidence:
        return said(Word.NO, "no", missing, remedy(offer), evidence)
    return said(Word.UNKNOWN, "not tried", f"no container was started{_because(offer)}", TRY, ())


def _because(offer: OfferFacts) -> str:
    return f": {offer.tries.why_not}" if offer.tries.why_not else ""


def compose(offer: OfferFacts) -> Answer:
    """Answer whether Compose brings two services up, one of them with a card."""
    word, value, summary, todo, evidence = _composed(offer)
    return Answer("compose", 7, "Compose with a card", word, value, summary, todo, evidence)


_Said = tuple[Word, str, str, str | None, tuple[str, ...]]


def _composed(offer: OfferFacts) -> _Said:
    tries = offer.tries
    up, seen, card = (tries.step(f"compose-gpu-{name}") for name in ("up", "running", "card"))
    if up is not None and up.ok and len(_lines(seen)) >= _TWO:
        found = len(parse_list(card.stdout)) if card is not None and card.ok else 0
        if card is not None and seen is not None and found:
            summary = "two services came up, and the one with a card reserved sees it; they were taken down"
            return Word.YES, "with a card", summary, None, (cite_step(seen), cite_step(card))
        why = f": {_why(card)}" if card is not None else ""
        summary = f"two services came up, and the one with a card reserved does not see it{why}"
        evidence = tuple(cite_step(entry) for entry in (up, card) if entry)
        return (
            Word.NO if card is not None else Word.UNKNOWN,
            "no card",
            summary,
            "`gpu-verify doctor`",
            evidence,
        )
    if up is not None and not up.ok:
        plain = tries.ok("compose-plain-up")
        but = "without the reservation two services come up" if plain else "nor without the reservation"
        summary = f"a service with a card reserved does not come up ({but}): {_why(up)}"
        return Word.NO, "no card" if plain else "no", summary, "`gpu-verify doctor`", (cite_step(up),)
    missing, evidence = absent(offer), offer.state.engine.evidence
    if missing and evidence:
        return Word.NO, "no", missing, remedy(offer), evidence
    return _installed(offer)


def _installed(offer: OfferFacts) -> _Said:
    """Judge by whether Compose is there at all."""
    asked = offer.tries.step("compose")
    recorded = offer.compose
    alone = offer.tries.steps.command("compose-alone")
    if asked is not None and not asked.ok and alone is not None and (alone.missing or not alone.ok):
        return Word.NO, "not installed", "there is no Compose here", _INSTALL_COMPOSE, (cite_step(asked),)
    if (
        asked is None
        and recorded is not None
        and recorded.ran
        and not recorded.ok
        and offer.state.engine.described
    ):
        summary = "`docker compose` is no command here"
        return Word.NO, "not installed", summary, _INSTALL_COMPOSE, (cite_command(recorded),)
    there = " is installed and" if recorded is not None and recorded.ok else ""
    return Word.UNKNOWN, "not tried", f"Compose{there} was not tried{_because(offer)}", TRY, ()
