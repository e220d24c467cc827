"""The page: the sentence first, everything in one file, and nothing that runs or is fetched."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from tests.unit.race.recorded import NAMES, document, lane
from verify.race.page import page
from verify.race.sentence import sentence

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Outline(HTMLParser):
    """Which elements there are, which ids, and whether all are closed in their order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.points: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [value for key, value in attrs if key == "id" and value]
        self.points += [w for key in ("aria-labelledby",) for w in (named.get(key) or "").split()]
        self.points += [href[1:] for href in [named.get("href") or ""] if href.startswith("#")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "svg"} & set(self.open):
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).replace("\N{NO-BREAK SPACE}", " ").split())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", ["en", "fr"])
def test_every_recorded_race_has_a_page(name: str, lang: str) -> None:
    race = document(name)
    text = page(race, lang)
    found = Outline(text)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    assert set(found.points) <= set(found.ids)
    assert text.startswith(f'<!doctype html>\n<html lang="{lang}">')
    assert found.tags.count("h1") == found.tags.count("main") == 1
    assert found.tags.count("svg") == 2
    assert "{" not in found.text
    said, result = " ".join(sentence(race, lang).split()), {"en": "The result", "fr": "Le résultat"}[lang]
    assert found.text.index(said) < found.text.index(result)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_nothing_and_fetches_nothing(name: str) -> None:
    text = page(document(name))
    assert "default-src 'none'; style-src 'unsafe-inline'" in text
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(Outline(text).tags)
    assert not re.search(r"https?:|@import|src=", text.replace("http://www.w3.org/2000/svg", ""))
    assert not re.search(r"\son\w+=", text)


def test_raw_samples_are_there_to_the_last() -> None:
    race = document("gaming-card")
    text = Outline(page(race)).text
    for each in race["contestants"]:
        for entry in each["lanes"]:
            assert ", ".join(f"{value:.6g}" for value in entry["samples"]) in text


def test_reasons_cost_conditions_and_the_sweep_stand_below() -> None:
    text = Outline(page(document("prices"))).text
    for part in ("the factory really works", "per training the card is cheaper", "driver 580.95.05", "4,096"):
        assert part in text


def test_what_is_missing_has_no_section() -> None:
    race = document("no-card")
    race["sweep"] = None
    found = Outline(page(race))
    assert "cost" not in found.ids
    assert "sweep" not in found.ids
    assert {"results", "picture", "lanes", "conditions", "method", "samples"} <= set(found.ids)


def test_a_simulated_card_is_said_before_the_sentence() -> None:
    text = page(document("gaming-card"))
    assert text.index('class="note"') < text.index('class="sentence"')
    assert 'class="note"' not in page(document("no-card"))


def test_recorded_text_is_text() -> None:
    race = document("no-card")
    race["host"] = '"><script>alert(1)</script>'
    race["cpu"]["model"] = "<img src=x onerror=alert(1)>"
    lane(race, "network", "cuda")["reason"] = {"id": "failed", "error": "</section><b>"}
    found = Outline(page(race))
    assert found.open == []
    assert not {"script", "img", "b"} & set(found.tags)


def test_everything_that_scrolls_can_be_reached_by_keyboard() -> None:
    text = page(document("prices"))
    assert text.count('class="scroll"') == text.count(
        'class="scroll" tabindex="0" role="region" aria-labelledby='
    )
