"""Question 1: an image of one's own, or only the provider's base image."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.offer.answer import Answer, Word
from verify.offer.facts import cite_step
from verify.offer.questions.daemon import INSTALL, TRY, Kind, kind, where

if TYPE_CHECKING:
    from verify.offer.facts import OfferFacts

_STARTED = ("start-1", "start-2")


def custom_image(offer: OfferFacts) -> Answer:
    """Answer whether an image of one's own runs here: one did."""

    def said(word: Word, value: str, summary: str, todo: str | None, evidence: tuple[str, ...]) -> Answer:
        return Answer("image", 1, "an image of your own", word, value, summary, todo, evidence)

    state = offer.state
    runs = [run for run in state.runs.values() if run.ended is None and state.image.present]
    started = [entry for name in _STARTED if (entry := offer.tries.step(name))]
    good = next((entry for entry in started if entry.ok), None)
    if good is not None:
        summary = "a container of an image made here was started: any image runs that the machine can pull"
        return said(Word.YES, "any image", summary, None, (cite_step(good, "exit status 0"),))
    if started:
        words = [line.strip() for line in started[0].stderr.splitlines() if line.strip()]
        why = words[0][:200] if words else started[0].ended
        return said(
            Word.NO,
            "none starts",
            f"Docker answers, and no container starts: {why}",
            "`gpu-verify doctor` says which layer is broken",
            (cite_step(started[0]),),
        )
    if runs:
        return said(Word.YES, "any image", f"a container of {state.image.name} ran", None, runs[0].evidence)
    evidence = (*state.engine.evidence, *where(offer))
    found = kind(offer)
    if found is Kind.MACHINE and evidence:
        return said(
            Word.NO, "nothing runs images", "there is no Docker on this machine yet", INSTALL, evidence
        )
    if found is Kind.CONTAINER:
        return said(
            Word.UNKNOWN,
            "the provider's choice",
            "this is a container itself: whether it may be one of an image of yours is not seen from inside",
            "look for a field for the image (and for its registry's login) in the offer's page",
            evidence,
        )
    because = f": {offer.tries.why_not}" if offer.tries.why_not else ""
    return said(Word.UNKNOWN, "not tried", f"no container was tried{because}", TRY, evidence)
