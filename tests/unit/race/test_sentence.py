from __future__ import annotations

from typing import Any

import pytest

from tests.unit.race import recorded
from verify.race.sentence import clause, seconds, sentence
from verify.race.words import LANGUAGES

Json = dict[str, Any]
REASON = "torch 2.13.0+cpu is a CPU build: install a CUDA build of it"


def bare(document: str = "gaming-card", *names: str) -> Json:
    """A race with nothing in it that explains anything."""
    race = recorded.document(document)
    race["contestants"] = [c for c in race["contestants"] if c["name"] in (names or ("network",))]
    for contestant in race["contestants"]:
        for lane in contestant["lanes"]:
            lane.update(usage=None, time=None, work=None, warmups=[])
        contestant["lanes"] = [lane for lane in contestant["lanes"] if lane["counts"]]
    race["card"] = None
    return race


def times(race: Json, cpu: float, card: float, spread: float = 0.0) -> Json:
    """The same race with other times, and what follows from them."""
    for name, median in (("cpu", cpu), ("cuda", card)):
        recorded.lane(race, "network", name).update(
            median=median, transfer_in=None, transfer_out=None, total=None if name == "cpu" else median
        )
    ratio = cpu / card
    recorded.contestant(race, "network").update(
        ratio=ratio, ratio_interval=[ratio * (1 - spread), ratio * (1 + spread)]
    )
    return race


def test_about_a_card_that_did_not_run_nothing_is_said() -> None:
    assert sentence(recorded.document("no-card")) == (
        "The small network takes 2.1 s and the fraud regression takes 310 ms on the CPU (8 threads); "
        f"about a card nothing is said, because {REASON}."
    )


def test_the_card_wins() -> None:
    assert sentence(times(bare(), 2.0, 0.5)) == (
        "The card trains the small network 4 times as fast as the CPU (500 ms against 2 s)."
    )


def test_the_cpu_wins() -> None:
    assert sentence(times(bare(), 2.0, 4.0)) == (
        "The CPU trains the small network 2 times as fast as the card (4 s against 2 s)."
    )


def test_an_interval_around_1_is_no_victory() -> None:
    assert sentence(times(bare(), 2.0, 1.9, spread=0.1)) == (
        "For the small network card and CPU cannot be told apart (1.9 s against 2 s)."
    )


def test_neither_is_a_ratio_whose_interval_nobody_knows() -> None:
    race = times(bare(), 2.0, 0.5)
    recorded.contestant(race, "network")["ratio_interval"] = None
    assert "by too few repeats to say who is faster" in sentence(race)


@pytest.mark.parametrize(("confidence", "sure"), [(0.0, False), (0.875, False), (0.9375, True), (None, True)])
def test_an_interval_of_too_few_repeats_is_none(confidence: float | None, *, sure: bool) -> None:
    race = times(bare(), 2.0, 0.5)
    recorded.lane(race, "network", "cuda")["confidence"] = confidence
    assert ("4 times as fast" in sentence(race)) is sure


@pytest.mark.parametrize(
    ("cpu", "said"), [(247.0, "120 times"), (2.4691, "1.2 times"), (4000.0, "2000 times")]
)
def test_a_factor_has_the_digits_that_mean_something(cpu: float, said: str) -> None:
    assert said in sentence(times(bare(), cpu, 2.0))


def test_one_compared_and_one_not() -> None:
    race = times(bare("gaming-card", "network", "fraud"), 2.0, 0.5)
    fraud = recorded.contestant(race, "fraud")
    fraud.update(ratio=None, ratio_interval=None, ratio_against=None, ratio_card=None)
    failed = {"id": "failed", "error": "RuntimeError: out of memory"}
    recorded.lane(race, "fraud", "cuda").update(status="failed", reason=failed, median=None, samples=[])
    assert sentence(race) == (
        "The card trains the small network 4 times as fast as the CPU (500 ms against 2 s); "
        "the fraud regression takes 310 ms on the CPU (8 threads); "
        "about the card nothing more is said, because RuntimeError: out of memory."
    )


def test_a_result_that_differs_is_why_nothing_is_said_and_other_warnings_are_not() -> None:
    race = recorded.document("gaming-card")
    race["contestants"] = race["contestants"][:1]
    recorded.contestant(race, "network").update(ratio=None, ratio_interval=None)
    differs = {"id": "differs", "lane": "cpu", "what": "accuracy", "a": 0.94, "b": 0.52}
    recorded.lane(race, "network", "cuda")["warnings"] = [
        {"id": "few-samples", "count": 3, "least": 6},
        differs,
    ]
    assert sentence(race).endswith(
        "because the result differs from lane cpu: accuracy 0.94 against 0.52; its time is not compared."
    )


def test_nothing_ran() -> None:
    race = recorded.document("no-card")
    missing = {"id": "absent-library", "library": "torch"}
    for contestant in race["contestants"]:
        for lane in contestant["lanes"]:
            lane.update(status="absent", reason=missing, median=None)
    assert sentence(race) == "Nothing was measured: torch is not installed for this Python."
    assert sentence(race, "fr") == "Rien n’a été mesuré : torch n’est pas installé pour ce Python."  # noqa: RUF001


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("copy-bound", "the copy cost more than the computation"),
        ("few-cores", "the ratio flatters the card"),
        ("float64-gaming", "1/64 of its float32 rate"),
        ("slept", "the card slept (12% busy), the batch of 16 is too small"),
        ("gaming-card", "you do not need one"),
        ("over-peak", "1640 TFLOPS is more than the card can do in float32 (82.6 TFLOPS)"),
        ("lost", "The CPU trains the small network 2 times as fast as the card"),
        ("not-significant", "cannot be told apart"),
    ],
)
def test_the_sentence_has_what_is_most_telling(document: str, said: str) -> None:
    assert said in sentence(recorded.document(document))


@pytest.mark.parametrize("document", recorded.NAMES)
def test_the_document_keeps_the_sentence_that_its_numbers_lead_to(document: str) -> None:
    race = recorded.document(document)
    assert race["sentence"] == sentence(race)


def test_the_same_in_french() -> None:
    assert sentence(recorded.document("no-card"), "fr").startswith(
        "Le petit réseau prend 2,1 s et la régression de fraude prend 310 ms "
        "sur le CPU (8 fils d’exécution) ; "  # noqa: RUF001
    )
    assert sentence(times(bare(), 2.0, 0.8), "fr") == (
        "La carte entraîne le petit réseau 2,5 fois plus vite que le CPU (800 ms contre 2 s)."
    )


def test_one_thread_is_one() -> None:
    race = recorded.document("no-card")
    race["cpu"]["threads"] = 1
    assert "on the CPU (1 thread);" in sentence(race)
    assert "sur le CPU (1 fil d’exécution) ;" in sentence(race, "fr")  # noqa: RUF001
    race["cpu"]["threads"] = None
    assert "on the CPU;" in sentence(race)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0 ms"),
        (4e-8, "40 ns"),
        (0.0004, "400 µs"),
        (0.9994, "999 ms"),
        (1.0, "1 s"),
        (179.4, "179 s"),
        (180, "3 min"),
        (14_400, "4 h"),
    ],
)
def test_a_time_is_said_in_the_unit_of_a_person(value: float, said: str) -> None:
    assert seconds(value) == said


def test_a_script_of_the_user_s_has_a_title_and_others_have_their_names() -> None:
    race = times(bare(), 2.0, 0.5)
    found = recorded.contestant(race, "network")
    for name, said in (("script", "your script"), ("other", "other")):
        found["name"] = name
        assert f"The card trains {said} 4 times" in sentence(race)
    assert clause(recorded.contestant(recorded.document("no-card"), "network")) is None


def test_every_language_has_a_sentence_for_every_document() -> None:
    for name in recorded.NAMES:
        said = {lang: sentence(recorded.document(name), lang) for lang in LANGUAGES}
        assert len(set(said.values())) == len(LANGUAGES)


def test_a_lane_that_stopped_early_is_no_headline() -> None:
    race = recorded.document("no-card")
    regression = recorded.contestant(race, "fraud")
    ran = [lane for lane in regression["lanes"] if lane["status"] == "ran"]
    assert len(ran) > 1
    early = ran[-1]
    early.update(median=0.001, samples=[0.001] * 6, total=0.001)
    early["warnings"] = [{"id": "not-reached", "reached": 1.5, "optimum": 1.0, "share": 0.5}]
    assert "1 ms" not in sentence(race)


def test_why_nothing_was_compared_where_the_cpu_found_something_else() -> None:
    race = recorded.document("gaming-card")
    regression = recorded.contestant(race, "fraud")
    regression.update(ratio=None, ratio_interval=None, ratio_against=None, ratio_card=None)
    for lane in regression["lanes"]:
        if lane["device"] == "cpu":
            lane["warnings"] = [{"id": "not-reached", "reached": 1.5, "optimum": 1.0, "share": 0.5}]
    assert "nothing to compare" not in sentence(race)
