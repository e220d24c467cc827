"""Each sentence that explains a result, on a recorded race that must lead to it."""

from __future__ import annotations

# ruff: noqa: E501, RUF001  # a sentence is a line; French typography has its own signs
from typing import Any

import pytest

from tests.unit.race import recorded
from verify.race import decision, shares, why
from verify.race.words import text

Json = dict[str, Any]


def reasons(race: Json, name: str = "network") -> list[Json]:
    return why.reasons(race)[name]


def said(race: Json, name: str = "network", lang: str = "en") -> list[str]:
    return [text(reason, lang) for reason in reasons(race, name)]


@pytest.mark.parametrize(
    ("document", "contestant", "english", "french"),
    [
        (
            "slept",
            "network",
            "the card slept (12% busy), the batch of 16 is too small",
            "la carte dormait (occupée à 12 %), le lot de 16 est trop petit",
        ),
        (
            "slept",
            "network",
            "launching the kernels keeps the host busy for 85% of the time (launches counted by the profiler, one launch timed)",
            "lancer les noyaux de calcul occupe l’hôte 85 % du temps (lancements comptés par le profileur, un lancement chronométré)",
        ),
        (
            "copy-bound",
            "network",
            "the copy cost more than the computation (730 ms against 50 ms)",
            "la copie a coûté plus que le calcul (730 ms contre 50 ms)",
        ),
        (
            "few-cores",
            "network",
            "the CPU lane ran on 2 of 64 cores, so the ratio flatters the card",
            "le couloir CPU n’a eu que 2 cœurs sur 64, le rapport flatte donc la carte",
        ),
        (
            "float64-gaming",
            "fraud",
            "it calculates in float64, which this card does at 1/64 of its float32 rate, as gaming cards do",
            "le calcul est en float64, que cette carte fait à 1/64 de sa vitesse en float32, comme les cartes de jeu",
        ),
        (
            "gaming-card",
            "network",
            "the card was 97% busy and reached 41% of a peak, the factory really works",
            "la carte était occupée à 97 % et a atteint 41 % d’un maximum, l’usine tourne vraiment",
        ),
        (
            "gaming-card",
            "fraud",
            "the regression is done in 310 ms on the CPU, before the card has woken up (650 ms for that alone): you do not need one",
            "la régression est finie sur le CPU en 310 ms, avant que la carte ne soit réveillée (650 ms rien que pour cela) : vous n’en avez pas besoin",
        ),
        (
            "not-significant",
            "network",
            "not significant: the ratio lies between 0.92 and 1.14",
            "non significatif : le rapport est compris entre 0,92 et 1,14",
        ),
        (
            "lost",
            "network",
            "the GPU lost: the CPU is 2 times as fast",
            "le GPU a perdu : le CPU est 2 fois plus rapide",
        ),
        (
            "gaming-card",
            "network",
            "mixed precision (bfloat16) is 1.7 times as fast (not in the ratio)",
            "la précision mixte (bfloat16) est 1,7 fois plus rapide (hors du rapport)",
        ),
    ],
)
def test_the_sentences_that_it_must_reach(document: str, contestant: str, english: str, french: str) -> None:
    race = recorded.document(document)
    assert english in said(race, contestant)
    assert french.replace(" %", "\u00a0%") in [
        one.replace(" %", "\u00a0%") for one in said(race, contestant, "fr")
    ]


@pytest.mark.parametrize("document", ["no-card", "over-peak"])
def test_without_a_comparison_nothing_is_explained(document: str) -> None:
    race = recorded.document(document)
    assert why.reasons(race) == {contestant["name"]: [] for contestant in race["contestants"]}


def test_a_good_ratio_is_not_excused() -> None:
    assert recorded.ids(reasons(recorded.document("gaming-card"))) == ["at-work", "mixed-faster"]


@pytest.mark.parametrize("missing", ["usage", "time", "work", "transfer_in"])
def test_what_was_not_measured_explains_nothing(missing: str) -> None:
    race = recorded.document("slept")
    lane = recorded.lane(race, "network", "cuda")
    for key in ("usage", "time", "work", "transfer_in", "transfer_out", "total"):
        lane[key] = None
    assert shares.shares(lane, race["card"]["peak"]) == shares.Shares()
    assert reasons(race) == []
    whole = recorded.lane(recorded.document("slept"), "network", "cuda")
    lane[missing] = whole[missing]
    assert (
        recorded.ids(reasons(race))
        == {
            "usage": ["slept-batch"],
            "time": ["slept-batch", "launch-bound-profiler"],  # by what the kernels took
            "work": [],  # the model finds too little to say: below a quarter of the time
            "transfer_in": [],
        }[missing]
    )


def test_launches_are_modelled_only_where_nobody_timed_them_and_it_is_said() -> None:
    race = recorded.document("slept")
    lane = recorded.lane(race, "network", "cuda")
    assert shares.shares(lane, None).launch_from == "profiler"
    lane["time"] = None
    lane["work"]["launches"] = 100_000
    found = shares.shares(lane, None)
    assert found.launch == pytest.approx(100_000 * shares.LAUNCH_SECONDS / lane["median"])
    assert "launch-bound-model" in recorded.ids(reasons(race))
    lane["work"]["launches"] = 10_000_000
    assert shares.shares(lane, None).launch == 1.0


def test_a_few_readings_do_not_put_a_card_to_sleep() -> None:
    race = recorded.document("slept")
    usage = recorded.lane(race, "network", "cuda")["usage"]
    usage["points"] = usage["points"][:4]
    recorded.lane(race, "network", "cuda")["time"]["device_s"] = None
    assert "slept-batch" not in recorded.ids(reasons(race))


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        ({"rows": 1000, "batch": None}, "slept-rows"),
        (None, "slept"),
        ({"rows": 9, "batch": 3}, "slept-batch"),
    ],
)
def test_a_sleeping_card_is_explained_by_what_is_known_of_the_work(training: Any, expected: str) -> None:
    race = recorded.document("slept")
    recorded.contestant(race, "network")["training"] = training
    assert recorded.ids(reasons(race))[0] == expected


def test_kernels_that_fill_less_than_half_of_the_time_are_no_factory_at_work() -> None:
    race = recorded.document("gaming-card")
    recorded.lane(race, "network", "cuda")["time"]["device_s"] = 0.04
    assert "at-work" not in recorded.ids(reasons(race))


def test_work_that_lies_in_the_cache_has_no_share_of_the_memory() -> None:
    race = recorded.document("gaming-card")
    lane, peak = recorded.lane(race, "network", "cuda"), race["card"]["peak"]
    lane["work"].update(working_set_bytes=peak["l2_mib"] * 2**20, bytes=1e12)
    assert shares.shares(lane, peak).memory is None
    assert "near-memory-peak" not in recorded.ids(reasons(race))


def test_busy_with_next_to_nothing_is_not_called_work() -> None:
    race = recorded.document("gaming-card")
    work = recorded.lane(race, "network", "cuda")["work"]
    work.update(flops=work["flops"] / 100, bytes=work["bytes"] / 100)
    assert "busy-for-little" in recorded.ids(reasons(race))
    assert "at-work" not in recorded.ids(reasons(race))


@pytest.mark.parametrize(
    ("share", "expected"), [(0.24, "busy-for-little"), (0.26, "at-work"), (None, "busy-untold")]
)
def test_busy_is_called_work_only_by_the_share_of_a_peak(share: float | None, expected: str) -> None:
    race = recorded.document("gaming-card")
    lane = recorded.lane(race, "network", "cuda")
    flops = None if share is None else share * race["card"]["peak"]["float32_tflops"] * 1e12 * lane["median"]
    lane["work"].update(flops=flops, bytes=None)
    said_of_it = [one for one in reasons(race) if one["id"] in {"busy-for-little", "at-work", "busy-untold"}]
    assert recorded.ids(said_of_it) == [expected]
    assert ("works" in text(said_of_it[0])) is (expected == "at-work")
    assert "97%" in text(said_of_it[0])


def test_without_a_peak_a_busy_card_is_not_taken_at_its_word() -> None:
    race = recorded.document("gaming-card")
    race["card"]["peak"] = None
    assert "busy-untold" in recorded.ids(reasons(race))
    assert "at-work" not in recorded.ids(reasons(race))
    assert "float64-gaming" not in recorded.ids(reasons(race, "fraud"))


@pytest.mark.parametrize(
    ("key", "expected"), [("flops", "near-arithmetic-peak"), ("bytes", "near-memory-peak")]
)
def test_a_peak_that_is_reached_is_named(key: str, expected: str) -> None:
    race = recorded.document("gaming-card")
    lane = recorded.lane(race, "network", "cuda")
    peak = race["card"]["peak"]
    most = peak["float32_tflops"] * 1e12 if key == "flops" else peak["memory_gbs"] * 1e9
    lane["work"][key] = 0.8 * most * lane["median"]
    (found,) = [reason for reason in reasons(race) if reason["id"] == expected]
    assert found["share"] == pytest.approx(0.8)


def test_a_copy_that_takes_a_part_of_the_time_is_said_too() -> None:
    race = recorded.document("copy-bound")
    lane = recorded.lane(race, "network", "cuda")
    lane.update(transfer_in=0.02, transfer_out=None, total=0.07)
    assert "copy-heavy" in recorded.ids(reasons(race))
    lane.update(transfer_in=0.001, total=0.051)
    assert not {"copy-heavy", "copy-bound"} & set(recorded.ids(reasons(race)))


@pytest.mark.parametrize(
    ("cpu", "flattered"),
    [
        ({"cores": 64, "usable_cores": 64, "threads": 32, "quota_cores": None}, False),  # two threads a core
        ({"cores": 64, "usable_cores": 64, "threads": 31, "quota_cores": None}, True),
        ({"cores": 64, "usable_cores": 4, "threads": 32, "quota_cores": None}, True),
        ({"cores": 64, "usable_cores": 64, "threads": 32, "quota_cores": 1.5}, True),
        ({"cores": None, "usable_cores": 4, "threads": 2, "quota_cores": None}, False),
        ({"cores": 8}, False),
    ],
)
def test_the_ratio_flatters_where_fewer_than_half_of_the_cores_ran(cpu: Json, *, flattered: bool) -> None:
    race = recorded.document("gaming-card")
    race["cpu"] = cpu
    assert ("flatters" in recorded.ids(reasons(race))) is flattered


@pytest.mark.parametrize(
    ("double", "said_so"), [(1.29, True), (0.25 * 82.6 / 8.1, True), (41.3, False), (None, False)]
)
def test_float64_is_an_excuse_only_where_the_card_is_slow_in_it(
    double: float | None, *, said_so: bool
) -> None:
    race = recorded.document("float64-gaming")
    race["card"]["peak"]["float64_tflops"] = double
    assert ("float64-gaming" in recorded.ids(reasons(race, "fraud"))) is said_so


def test_a_card_that_is_far_ahead_once_awake_is_not_called_needless() -> None:
    race = recorded.document("gaming-card")
    fraud = recorded.contestant(race, "fraud")
    fraud.update(ratio=5.0, ratio_interval=[4.8, 5.2])
    assert not any(one.startswith("before-woken") for one in recorded.ids(reasons(race, "fraud")))


def test_a_training_that_takes_seconds_is_worth_waking_a_card_for() -> None:
    race = recorded.document("gaming-card")
    fraud = recorded.contestant(race, "fraud")
    recorded.lane(race, "fraud", "cpu")["median"] = 1.5
    race["card"]["wake_s"] = 3.0
    assert fraud["ratio"] < 3
    assert "before-woken-fraud" not in recorded.ids(reasons(race, "fraud"))


@pytest.mark.parametrize(("wake_s", "woken"), [(0.32, True), (0.31, False), (0.1, False), (None, False)])
def test_before_it_has_woken_is_said_only_by_the_time_that_waking_took(
    wake_s: float | None, *, woken: bool
) -> None:
    race = recorded.document("gaming-card")
    race["card"]["wake_s"] = wake_s
    recorded.lane(race, "fraud", "cuda")["warmups"] = [30.0]  # a first call is no time of waking up
    assert ("before-woken-fraud" in recorded.ids(reasons(race, "fraud"))) is woken
    assert (decision.decide(race)["fraud"]["id"] == "decision-not-needed") is woken
    del race["card"]["wake_s"]
    assert "before-woken-fraud" not in recorded.ids(reasons(race, "fraud"))


def test_the_whole_training_of_the_cpu_is_held_against_it() -> None:
    race = recorded.document("gaming-card")
    recorded.lane(race, "fraud", "cpu").update(median=0.31, total=0.7)
    assert "before-woken-fraud" not in recorded.ids(reasons(race, "fraud"))


@pytest.mark.parametrize(
    ("interval", "expected"),
    [([1.5, 1.9], "mixed-faster"), ([0.9, 1.9], "mixed-even"), (None, "mixed-faster")],
)
def test_mixed_precision_gains_only_where_its_interval_says_so(
    interval: list[float] | None, expected: str
) -> None:
    race = recorded.document("gaming-card")
    recorded.contestant(race, "network")["mixed"] = {"ratio": 1.7, "ratio_interval": interval}
    assert expected in recorded.ids(reasons(race))


@pytest.mark.parametrize("confidence", [0.85, 0.91])
def test_the_ratio_s_own_confidence_goes_before_its_lanes(confidence: float) -> None:
    race = recorded.document("gaming-card")
    recorded.contestant(race, "network")["ratio_confidence"] = confidence
    recorded.lane(race, "network", "cuda")["confidence"] = 0.5
    assert ("no-interval" in recorded.ids(reasons(race))) is (confidence < 0.9)


@pytest.mark.parametrize("warning", ["differs", "differs-tf32", "accuracy-low"])
def test_mixed_precision_that_found_something_else_is_not_praised(warning: str) -> None:
    race = recorded.document("gaming-card")
    recorded.lane(race, "network", "cuda-mixed")["warnings"] = [{"id": warning}]
    assert "mixed-faster" not in recorded.ids(reasons(race))


def test_mixed_precision_may_gain_nothing() -> None:
    race = recorded.document("gaming-card")
    recorded.lane(race, "network", "cuda-mixed")["median"] = 0.2
    assert "mixed-slower" in recorded.ids(reasons(race))


def test_no_interval_no_winner() -> None:
    race = recorded.document("gaming-card")
    recorded.contestant(race, "network")["ratio_interval"] = None
    assert recorded.ids(reasons(race))[0] == "no-interval"


def test_the_facts_have_the_shares_that_were_measured() -> None:
    race = recorded.document("gaming-card")
    lane, peak = recorded.lane(race, "network", "cuda"), race["card"]["peak"]
    found = shares.shares(lane, peak)
    assert found.copy == pytest.approx(0.0045 / 0.1045)
    assert found.arithmetic == pytest.approx(34 / 82.6)
    assert found.memory == pytest.approx(200 / 1008)
    assert recorded.ids(shares.facts(lane, peak)) == [
        "share-copy",
        "share-launch-profiler",
        "share-busy",
        "share-kernels",
        "share-arithmetic",
        "share-memory",
    ]
    assert shares.facts(recorded.lane(race, "network", "cpu"), peak) == []
