"""Offers to change: a derived recording, a step of its tries put differently, one answer looked up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.unit.offer.derive import OFFERS, Json, put_tries, tries
from verify.offer.answer import Answer
from verify.offer.facts import OfferFacts, offer_facts
from verify.offer.verdict import Judgement, Use, Verdict, judge
from verify.recording import Recording


def document(name: str) -> Json:
    found: Json = json.loads((OFFERS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def facts(content: Json) -> OfferFacts:
    return offer_facts(Recording.from_document(content))


def judged(content: Json) -> Judgement:
    return judge(facts(content))


def answer(content: Json, name: str) -> Answer:
    return next(one for one in judged(content).answers if one.id == name)


def verdict(content: Json, use: Use) -> Verdict:
    return next(one for one in judged(content).verdicts if one.use is use)


def step(name: str, **entry: Any) -> Callable[[Json], None]:
    """Let a step of the tries end otherwise; an empty one was never tried."""

    def change(content: Json) -> None:
        found = tries(content)
        if entry:
            found["steps"][name] = {"argv": ["docker"], **found["steps"].get(name, {}), **entry}
        else:
            found["steps"].pop(name, None)
        put_tries(content, found)

    return change


def changed(name: str, *changes: Callable[[Json], None]) -> Json:
    content = document(name)
    for change in changes:
        change(content)
    return content


def command(name: str, **entry: Any) -> Callable[[Json], None]:
    """Let a recorded command end otherwise; an empty one was not recorded."""

    def change(content: Json) -> None:
        if entry:
            content["commands"][name] = {"argv": [name], **entry}
        else:
            content["commands"].pop(name, None)

    return change
