"""The two catalogues say the same things, and whatever a document holds can be said."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.race import words_en, words_fr
from verify.race.words import LANGUAGES, message, text

RACE = Path(__file__).resolve().parents[3] / "verify" / "race"
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def fields(template: str) -> set[str]:
    return {name.split(".")[0] for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_both_languages_have_the_same_ids_in_order() -> None:
    assert list(words_en.WORDS) == list(words_fr.WORDS) == sorted(words_en.WORDS)


@pytest.mark.parametrize("name", sorted(words_en.WORDS))
def test_both_languages_say_the_same_fields(name: str) -> None:
    assert fields(words_en.WORDS[name]) == fields(words_fr.WORDS[name])
    assert words_fr.WORDS[name].strip()


def test_every_message_of_the_code_is_in_the_catalogue() -> None:
    written = "\n".join(path.read_text(encoding="utf-8") for path in RACE.glob("*.py"))
    used = set(re.findall(r'\bmessage\(\s*"([a-z0-9-]+)"', written))
    assert len(used) > 20
    assert used - set(words_en.WORDS) == set()


def test_an_unknown_message_is_shown_as_it_is() -> None:
    assert text({"id": "from-later", "watts": 3, "name": "x"}) == "from-later: watts=3, name=x"
    assert text({"id": "from-later"}) == "from-later"


def test_a_message_without_its_values_is_shown_as_it_is() -> None:
    assert text({"id": "few-samples", "count": 3}) == "few-samples: count=3"
    assert text({"id": "spread", "share": "wide"}) == "spread: share=wide"
    assert text({"id": "spread", "share": None}) == "spread: share=None"


def test_words_of_an_older_race_stay_words() -> None:
    assert text("only 3 repeats") == "only 3 repeats"  # type: ignore[arg-type]


def test_an_unknown_language_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"'de'.*en, fr"):
        text(message("took", seconds=1.0), "de")


def test_numbers_are_written_as_the_language_writes_them() -> None:
    assert text(message("spread", share=0.125), "en").startswith("the repeats vary by 12% ")
    assert "12\u00a0%" in text(message("spread", share=0.125), "fr")
    assert text(message("took", seconds=4.25), "fr") == "la course a duré 4,2 s"


@pytest.mark.parametrize(
    ("found", "english", "french"),
    [
        (message("few-samples", count=1, least=6), "only 1 repeat:", "1 répétition seulement"),
        (message("few-samples", count=2, least=6), "only 2 repeats:", "2 répétitions seulement"),
        (message("others-on-card", count=1), "1 other process used", "1 autre processus utilisait"),
        (message("outliers", count=1, of=6), "1 of 6 repeats lies", "1 répétition sur 6 s’écarte"),  # noqa: RUF001
        (message("race-cpu", model="x", usable=1, cores=1), "1 of 1 core", "1 cœur sur 1"),
        (message("cpu-busy", load=0.5, cores=1), "0.5 of 1 core ", "0,5 cœur sur 1 "),
    ],
)
def test_one_is_not_many(found: dict[str, Any], english: str, french: str) -> None:
    assert english in text(found)
    assert french in text(found, "fr").replace("\u00a0", " ")


def test_what_is_said_of_one_has_a_form_for_many() -> None:
    singular = {name.removesuffix("-one") for name in words_en.WORDS if name.endswith("-one")}
    assert singular
    assert singular <= set(words_en.WORDS)


def test_lists_and_messages_inside_are_said() -> None:
    assert text(message("throttled", reasons=["heat", "power"])).endswith("heat, power")
    inner = message("few-samples", count=2, least=6)
    assert text(message("failed", error=inner)) == text(inner)


@given(st.dictionaries(st.text(), JSON) | JSON, st.sampled_from(sorted(LANGUAGES)))
def test_nothing_that_a_file_can_hold_raises(found: Any, lang: str) -> None:
    assert isinstance(text(found, lang), str)


@given(st.sampled_from(sorted(words_en.WORDS)), JSON, st.sampled_from(sorted(LANGUAGES)))
def test_no_value_raises(name: str, value: Any, lang: str) -> None:
    found = {"id": name, **dict.fromkeys(fields(words_en.WORDS[name]), value)}
    assert isinstance(text(found, lang), str)
