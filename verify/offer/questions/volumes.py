"""Question 6: which mounts survive a restart, how fast they are, and where Docker keeps its images."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.image.words import size
from verify.offer.answer import Answer, Word
from verify.offer.places import Survival

if TYPE_CHECKING:
    from verify.offer.facts import OfferFacts
    from verify.offer.places import Place

AGAIN = "run this again after a restart: the marker file that was left on each mount tells"
_MOST = 3


def volumes(offer: OfferFacts) -> Answer:
    """Answer whether something written here is there after a restart: only a marker that was proves it."""

    def said(word: Word, value: str, summary: str, todo: str | None, places: tuple[Place, ...]) -> Answer:
        evidence = tuple(line for place in places for line in place.evidence)
        return Answer(
            "volumes", 6, "a volume that stays", word, value, summary + _images(offer), todo, evidence
        )

    places = offer.places
    kept = tuple(place for place in places if place.survival is Survival.YES)
    if kept:
        lost = [place.path for place in places if place.survival is Survival.NO]
        gone = f"; {', '.join(lost)} did not" if lost else ""
        summary = f"{_named(kept)} survived a restart{gone}"
        return said(Word.YES, ", ".join(place.path for place in kept[:_MOST]), summary, None, places)
    if not places:
        return said(
            Word.UNKNOWN,
            "not looked at",
            "no mount was looked at",
            "`gpu-verify offer` without --no-tries",
            (),
        )
    lost = [place.path for place in places if place.survival is Survival.NO]
    layers = [place for place in places if place.survival is Survival.LAYER]
    if len(lost) + len(layers) == len(places) and offer.container:
        summary = (
            f"no volume is mounted: {_named(tuple(layers))} is the container's own layer, and goes with it"
        )
        todo = "ask for a volume, or keep what matters elsewhere"
        return said(Word.NO, "none mounted", summary if layers else _gone(lost), todo, places)
    if len(lost) == len(places):
        return said(Word.NO, "lost", _gone(lost), "ask for a volume, or keep what matters elsewhere", places)
    gone = f"; {_gone(lost)}" if lost else ""
    open_ = tuple(place for place in places if place.survival is Survival.UNKNOWN)
    named = f"{_named(open_)}: " if open_ else ""
    return said(
        Word.UNKNOWN,
        "not yet known",
        f"{named}not yet known whether it survives a restart{gone}",
        AGAIN,
        places,
    )


def _gone(lost: list[str]) -> str:
    return f"{', '.join(lost)} lost its data at a restart"


def _named(places: tuple[Place, ...]) -> str:
    more = f" and {len(places) - _MOST} more" if len(places) > _MOST else ""
    return ", ".join(place.path for place in places[:_MOST]) + more


def _images(offer: OfferFacts) -> str:
    store = next(iter(offer.state.stores), None)
    if not offer.state.engine.described or store is None:
        return ""
    on = f" on {store.mount}" if store.mount else ""
    free = f", {size(store.free)} free" if store.free is not None else ""
    return f". Docker keeps its images in {store.path}{on}{free}"
