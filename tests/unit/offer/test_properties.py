"""Recordings of offers damaged at random: never a crash, never a yes on what was not recorded."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.unit.checks.test_properties import JUNK
from tests.unit.offer.build import document
from tests.unit.offer.derive import MADE, Json
from verify.offer.answer import Answer, Word
from verify.offer.document import document as as_json
from verify.offer.facts import offer_facts
from verify.offer.pull import Price
from verify.offer.show import print_offer
from verify.offer.verdict import Judgement, judge
from verify.recording import Recording, RecordingError, load

SECTIONS = ("files", "commands", "globs", "links", "paths", "disks")
PRINTED = (
    *("places", "steps", "docker", "identity", "left", "interrupted"),
    *("host", "image", "reach", "login", "described", "rate", "named"),
)
PROBES = ("offer-tries", "offer-registry", "cuda")


def places_of(value: Any) -> list[tuple[Any, Any]]:
    """Return every object and list in a document, with a key each."""
    found: list[tuple[Any, Any]] = []
    for key in (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        found.append((value, key))
        found += places_of(value[key])
    return found


@st.composite
def damaged(draw: st.DrawFn) -> Json:
    """Take entries out or put junk in, at random places: in the recording, and in what the probes printed."""
    content = document(draw(st.sampled_from(sorted(MADE))))
    for _ in range(draw(st.integers(1, 6))):
        section = content.get(draw(st.sampled_from(SECTIONS)))
        if not section:
            continue
        key = draw(st.sampled_from(sorted(section)))
        if draw(st.booleans()):
            del section[key]
        elif isinstance(section[key], dict) and section[key]:
            section[key][draw(st.sampled_from(sorted(section[key])))] = draw(JUNK)
    for name in PROBES:
        entry = content["commands"].get(name)
        if not isinstance(entry, dict) or not isinstance(entry.get("stdout"), str) or draw(st.booleans()):
            continue
        with contextlib.suppress(ValueError):
            answer = json.loads(entry["stdout"])
            for _ in range(draw(st.integers(1, 4))):
                spots = places_of(answer)
                if spots:
                    inside, key = draw(st.sampled_from(spots))
                    inside[key] = draw(JUNK)
            entry["stdout"] = json.dumps(answer)
    return content


def sound(judged: Judgement, content: Json) -> None:
    for answer in judged.answers:
        assert answer.summary
        assert answer.remedy or answer.word is Word.YES
        if answer.word is Word.YES:
            assert answer.evidence, answer
        for line in answer.evidence:
            assert recorded(line.partition(": ")[0], content), (answer, line)
    by_id = {answer.id: answer for answer in judged.answers}
    for verdict in judged.verdicts:
        assert verdict.reasons or verdict.word is Word.YES
    build = judged.verdicts[2]
    assert build.word is by_id["builds"].word


def recorded(source: str, content: Json) -> bool:
    globbed = [path for paths in content["globs"].values() if isinstance(paths, list) for path in paths]
    return source in globbed or any(source in content.get(section, {}) for section in SECTIONS)


def shown(content: Json) -> None:
    """Everything that is printed or written of it holds together as well."""
    facts = offer_facts(Recording.from_document(content))
    judged = judge(facts)
    sound(judged, content)
    json.dumps(as_json(facts, judged, Price(0.5), ()), allow_nan=False)
    print_offer(facts, judged, Price(0.5), Console(file=io.StringIO(), width=80), evidence=True)


@settings(max_examples=150, deadline=None)
@given(content=damaged())
def test_damaged_recordings_are_judged_or_refused(content: Json) -> None:
    with contextlib.suppress(RecordingError):
        shown(content)


@settings(max_examples=100, deadline=None)
@given(printed=st.dictionaries(st.sampled_from(PRINTED), JUNK, max_size=6))
def test_whatever_a_probe_prints(printed: Json) -> None:
    content = document("full-machine")
    for name in ("offer-tries", "offer-registry", "offer-metadata"):
        content["commands"][name] = {"argv": ["python3", "-"], "rc": 0, "stdout": json.dumps(printed)}
    shown(content)


@settings(max_examples=80, deadline=None)
@given(junk=JUNK)
def test_any_json_is_an_offer_or_refused_in_a_sentence(junk: object) -> None:
    with contextlib.suppress(RecordingError):
        offer_facts(load(json.dumps(junk)))


def yeses(content: Json) -> set[str]:
    answers: tuple[Answer, ...] = judge(offer_facts(Recording.from_document(content))).answers
    return {answer.id for answer in answers if answer.word is Word.YES}


def test_what_is_taken_out_makes_no_new_yes_and_is_not_cited() -> None:
    """Take out one entry after the other: less known never promises more."""
    for name in ("full-machine", "container-with-volume", "rootless", "older-driver"):
        whole = document(name)
        for section in ("commands", "files", "globs", "disks"):
            for key in list(whole[section]):
                content = {**whole, section: {k: v for k, v in whole[section].items() if k != key}}
                assert yeses(content) <= yeses(whole), (name, key)
                sound(judge(offer_facts(Recording.from_document(content))), content)


def test_a_step_that_was_not_tried_is_no_yes() -> None:
    """Take out one step after the other: what rested on it is not promised any more."""
    whole = document("full-machine")
    before = yeses(whole)
    rests = {"build": "builds", "two-running": "several"}
    rests |= {f"compose-gpu-{name}": "compose" for name in ("up", "running", "card")}
    for step, name in rests.items():
        content = document("full-machine")
        answer = json.loads(content["commands"]["offer-tries"]["stdout"])
        del answer["steps"][step]
        content["commands"]["offer-tries"]["stdout"] = json.dumps(answer)
        assert before - yeses(content) == {name}, step
