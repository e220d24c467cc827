"""The answer to "do I need one?": the model's parts by hand, the answer only where the whole span agrees."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.race import recorded
from verify.cli import main
from verify.compat.cards import name_of
from verify.compat.table import rows
from verify.race import advise_rates
from verify.race.advise import CPU_IS_ENOUGH, GPU, NO_FIT, UNDECIDED, advise, batch_that_fits, fit
from verify.race.advise_memory import GIB, need, parameters
from verify.race.advise_work import MODELS, NETWORKS, Job, work
from verify.race.spans import Span, around, longest

Json = dict[str, Any]
PEAK = next(row for row in rows("peaks", "peaks") if row["name"] == "GeForce RTX 4090")
CPU = advise_rates.cpu(8)
CARD = advise_rates.card("RTX 4090", [PEAK], Span(22 * GIB, 24 * GIB))
GPT2 = Job("transformer", 10_000, 1024, parameters=124_000_000, batch=8, precision="bfloat16")


def test_spans_combine_the_pessimistic_way() -> None:
    one, two = Span(1, 4), Span(2, 3)
    assert (one + two, one * two, one / two) == (Span(3, 7), Span(2, 12), Span(1 / 3, 2))
    assert (one.likely, one.factor) == (2, 2)
    assert (Span(0, 4).likely, Span(0, 4).factor) == (2, None)
    assert longest(one, two) == Span(2, 4)
    assert around(10, 2) == Span(5, 20)


@pytest.mark.parametrize(
    ("precision", "optimizer", "bytes_each"),
    [
        ("float32", "adam", 16),
        ("float32", "momentum", 12),
        ("float32", "sgd", 8),
        ("tf32", "adam", 16),
        ("bfloat16", "adam", 18),
        ("float16", "sgd", 10),
        ("float64", "adam", 32),
    ],
)
def test_bytes_a_parameter(precision: str, optimizer: str, bytes_each: int) -> None:
    job = Job("mlp", 1000, 10, parameters=1000, precision=precision, optimizer=optimizer)
    assert sum(parameters(job).values()) == 1000 * bytes_each


def test_six_operations_a_parameter_and_row() -> None:
    flops = work(Job("mlp", 1000, 10, parameters=500, epochs=3)).flops
    assert flops.high == 6 * 500 * 1000 * 3
    assert 0.6 * flops.high < flops.low < flops.high
    # of GPT-2's size, published as 6ND: attention comes on top, embeddings may not multiply
    tokens = 10_000 * 1024
    assert work(GPT2).flops.low < 6 * 124e6 * tokens < work(GPT2).flops.high


def test_a_product_and_a_regression_by_hand() -> None:
    product = work(Job("matmul", 100, 50, epochs=2))
    assert product.flops == Span(2 * 100 * 100 * 50 * 2, 2 * 100 * 100 * 50 * 2)
    assert product.bytes.low == 4 * (2 * 100 * 50 + 100 * 100) * 2
    regression = work(Job("logistic", 100, 50, epochs=10, precision="float64"))
    assert regression.bytes.low == 2 * 8 * 100 * 50 * 10
    assert regression.flops.low == 4 * 100 * 50 * 10


def test_known_multiply_adds_replace_the_guess() -> None:
    guessed = work(Job("cnn", 100, 150_528, parameters=25_557_032)).flops
    known = work(Job("cnn", 100, 150_528, parameters=25_557_032, operations=4.09e9)).flops
    assert guessed.low < known.low < known.high < guessed.high
    assert known.high == 6 * 4.09e9 * 100


def test_the_published_activations_lie_in_the_span() -> None:
    # Korthikanti et al., per layer sbh (34 + 5as/h), for GPT-3: h 12288, 96 heads and layers, s 2048, b 1
    published = 96 * 2048 * 12288 * (34 + 5 * 96 * 2048 / 12288)
    job = Job("transformer", 1, 2048, parameters=175_000_000_000, batch=1, precision="bfloat16", layers=96)
    found = need(job).parts["activations"]
    assert found.low < published < found.high
    assert found.high < 3 * published


@pytest.mark.parametrize(
    ("needed", "have", "expected"),
    [
        (Span(1, 2), None, "unknown"),
        (Span(1, 2), Span(3, 4), "yes"),
        (Span(1, 3), Span(3, 4), "yes"),
        (Span(1, 3.5), Span(3, 4), "perhaps"),
        (Span(4, 5), Span(3, 4), "perhaps"),
        (Span(4.1, 5), Span(3, 4), "no"),
    ],
)
def test_it_fits_only_where_both_spans_agree(needed: Span, have: Span | None, expected: str) -> None:
    assert fit(needed, have) == expected


def verdict(job: Job, patience: float = 600.0) -> str:
    return advise(job, CPU, CARD, patience).verdict


def test_the_four_answers() -> None:
    fraud = Job("logistic", 284_807, 30, epochs=100, precision="float64")
    assert verdict(fraud) == CPU_IS_ENOUGH
    assert verdict(GPT2) == GPU
    big = Job("transformer", 1000, 2048, parameters=7_000_000_000, precision="bfloat16")
    assert verdict(big) == NO_FIT
    assert verdict(fraud, patience=1.0) == UNDECIDED


def test_what_the_cpu_does_soon_enough_need_not_fit() -> None:
    tiny = advise_rates.card("small", [PEAK], Span(0.1 * GIB, 0.2 * GIB))
    found = advise(Job("logistic", 1000, 10, precision="float64"), CPU, tiny)
    assert (found.verdict, found.fits) == (CPU_IS_ENOUGH, "no")


def test_a_card_that_is_no_faster_is_not_needed_however_long_it_takes() -> None:
    slow = advise_rates.card("slow", [{"name": "slow", "float32_tflops": 1e-6, "memory_gbs": 0.001}])
    found = advise(Job("matmul", 20_000, 20_000, epochs=100), CPU, slow)
    assert (found.verdict, found.said["id"]) == (CPU_IS_ENOUGH, "advise-cpu-no-faster")


def test_a_smaller_batch_is_offered_where_one_fits() -> None:
    wide = Job("cnn", 100_000, 3 * 2000 * 2000, parameters=30_000_000, batch=512)
    found = advise(wide, CPU, CARD)
    assert found.said["id"] == "advise-no-fit-batch"
    batch = found.said["batch"]
    assert CARD.memory is not None
    assert batch_that_fits(wide, CARD.memory) == batch < 512
    smaller = Job(**{**wide.__dict__, "batch": batch})
    assert need(smaller).total.likely <= CARD.memory.low
    assert verdict(smaller) != NO_FIT


def test_without_half_precision_it_counts_in_float32_and_says_so() -> None:
    v100 = next(row for row in rows("peaks", "peaks") if row["name"] == "Tesla V100 SXM2")
    found = advise(GPT2, CPU, advise_rates.card("V100", [v100]))
    assert {"advise-no-precision", "advise-cpu-float32"} <= {reason["id"] for reason in found.reasons}
    assert "advise-no-precision" not in {reason["id"] for reason in advise(GPT2, CPU, CARD).reasons}


JOBS = st.builds(
    Job,
    st.sampled_from(MODELS),
    st.integers(2, 10**8),
    st.integers(2, 10**6),
    parameters=st.integers(100, 10**11),
    batch=st.integers(1, 10**4),
    epochs=st.integers(1, 1000),
    precision=st.sampled_from(["float32", "float64", "bfloat16"]),
    layers=st.none() | st.integers(1, 100),
)


@given(JOBS)
@settings(max_examples=150, deadline=None)
def test_every_job_gets_an_answer_whose_figures_are_spans(job: Job) -> None:
    found = advise(job, CPU, CARD)
    document = found.document()
    json.dumps(document, allow_nan=False)
    for span in (found.cpu.seconds, found.card.seconds, found.ratio, found.need.total):
        assert 0 < span.low <= span.likely <= span.high
    # the ratio is of one and the same work: never wider than of two
    assert found.ratio.low >= (found.cpu.seconds / found.card.seconds).low * 0.999
    assert found.ratio.high <= (found.cpu.seconds / found.card.seconds).high * 1.001
    agreed = {
        CPU_IS_ENOUGH: found.cpu.seconds.high <= found.patience_s or found.ratio.high <= 1,
        GPU: found.cpu.seconds.low > found.patience_s and found.ratio.low >= 1.5 and found.fits != "no",
        NO_FIT: found.fits == "no",
        UNDECIDED: found.cpu.seconds.high > found.patience_s,
    }
    assert agreed[found.verdict]


@given(JOBS)
@settings(max_examples=100, deadline=None)
def test_more_rows_take_no_less_time_and_a_larger_batch_no_less_memory(job: Job) -> None:
    more = Job(**{**job.__dict__, "rows": job.rows * 2})
    one, two = advise(job, CPU, CARD), advise(more, CPU, CARD)
    assert two.cpu.seconds.low >= one.cpu.seconds.low
    assert two.cpu.seconds.high >= one.cpu.seconds.high
    if job.model in NETWORKS:
        larger = Job(**{**job.__dict__, "batch": job.batch * 2})
        assert need(larger).total.high >= need(job).total.high


def raced(model: str, race: Any, precision: str = "float32") -> Any:
    job = Job(model, 409_600, 64, parameters=6_000_000, batch=8192, precision=precision)
    card = advise_rates.card("x", [race["card"]["peak"]], None, race)
    return advise(job, advise_rates.cpu(8, race), card)


def test_another_kind_of_network_than_the_raced_one_is_less_certain() -> None:
    race = recorded.document("gaming-card")
    race["settings"]["network"]["kind"] = "mlp"
    same = raced("mlp", race)
    race["settings"]["network"]["kind"] = "cnn"
    other = raced("mlp", race)
    for side in ("cpu", "card"):
        narrow, wide = getattr(same, side).seconds, getattr(other, side).seconds
        assert wide.low <= narrow.low
        assert wide.high > narrow.high
        assert wide.factor > narrow.factor
    assert "advise-other-kind" in recorded.ids(other.reasons)
    assert "advise-other-kind" not in recorded.ids(same.reasons)


@pytest.mark.parametrize(("model", "lost"), [("mlp", "network"), ("logistic", "fraud")])
def test_what_was_not_raced_is_modelled_as_without_a_race_and_said(model: str, lost: str) -> None:
    race = recorded.document("gaming-card")
    race["contestants"] = [one for one in race["contestants"] if one["name"] != lost]
    job = Job(model, 284_807, 30, parameters=600_000 if model == "mlp" else None)
    card = advise_rates.card("x", [race["card"]["peak"]], None, race)
    found = advise(job, advise_rates.cpu(8, race), card)
    without = advise(job, advise_rates.cpu(8), advise_rates.card("x", [race["card"]["peak"]]))
    assert found.cpu.seconds == without.cpu.seconds
    assert found.cpu.origin == found.card.origin == "modelled"
    assert "advise-not-raced" in recorded.ids(list(found.reasons))
    assert "advise-race" in recorded.ids(list(without.reasons))


def test_a_precision_that_was_not_raced_is_modelled() -> None:
    race = recorded.document("gaming-card")
    assert raced("mlp", race, "bfloat16").card.origin == "measured"
    assert raced("mlp", race, "float16").card.origin == "modelled"


def test_the_waking_of_the_card_is_added_to_its_first_call() -> None:
    race = recorded.document("gaming-card")
    lane = recorded.lane(race, "network", "cuda")
    first = lane["warmups"][0] - lane["median"]
    for wake_s, start in ((0.65, first + 0.65), (None, first)):
        race["card"]["wake_s"] = wake_s
        found = advise_rates.card("x", [race["card"]["peak"]], None, race).start
        assert found == around(start, advise_rates.OTHER_WORK)


def test_a_race_replaces_the_model_and_narrows_the_span() -> None:
    race = recorded.document("gaming-card")
    measured, card = advise_rates.cpu(8, race), advise_rates.card("x", [race["card"]["peak"]], None, race)
    lane = recorded.lane(race, "network", "cpu")
    assert measured.tflops["float32"] == around(lane["work"]["flops"] / lane["median"], 3)
    fraud = race["settings"]["fraud"]
    assert measured.regression == around(fraud["rows"] * fraud["features"] * 14 / 0.31, 3)
    woken = recorded.lane(race, "network", "cuda")
    assert card.start == around(woken["warmups"][0] - woken["median"] + race["card"]["wake_s"], 3)
    job = Job("logistic", 1_000_000, 30, epochs=14, precision="float64")
    said = advise(job, measured, card)
    assert (said.cpu.origin, said.card.origin) == ("measured", "measured")
    assert said.cpu.seconds.low < 0.31 * 1_000_000 / fraud["rows"] < said.cpu.seconds.high
    assert (said.cpu.seconds.factor or 9) < (advise(job, CPU, CARD).cpu.seconds.factor or 0)
    assert "advise-race" not in {reason["id"] for reason in said.reasons}


def test_a_product_is_scaled_from_the_sweep() -> None:
    race = recorded.document("gaming-card")
    race["sweep"] = {"operations": [{"name": "matmul", "points": [
        {"size": 64, "lane": "cpu", "seconds": 1e-5, "flops": 2 * 64**3, "status": "ran"},
        {"size": 1024, "lane": "cpu", "seconds": 0.02, "flops": 2 * 1024**3, "status": "ran"},
        {"size": 4096, "lane": "cpu", "seconds": 1e-9, "flops": 2 * 4096**3, "status": "invalid"},
    ]}]}  # fmt: skip
    measured = advise_rates.cpu(8, race)
    assert measured.product == around(2 * 1024**3 / 0.02, 2)
    found = advise(Job("matmul", 2048, 2048), measured, CARD)
    assert (found.cpu.origin, found.card.origin) == ("measured", "modelled")
    assert found.cpu.seconds.low <= 0.16 <= found.cpu.seconds.high


def test_lanes_that_did_not_run_measure_nothing() -> None:
    race = recorded.document("no-card")
    for contestant in race["contestants"]:
        for lane in contestant["lanes"]:
            lane["status"] = "failed"
    race["sweep"] = None
    assert advise_rates.cpu(8, race).measured == frozenset()


@pytest.mark.parametrize("row", rows("card_memory", "memory"), ids=lambda row: str(row["name"]))
def test_the_table_of_memory_is_of_the_cards_that_have_peaks(row: Json) -> None:
    known = {device for peak in rows("peaks", "peaks") for device in peak["ids"]}
    assert set(row["ids"]) <= known
    for device in row["ids"]:
        called = name_of(device) or ""
        assert called.startswith(row["name"]), (called, row["name"])
        said = [int(word[:-2]) for word in called.split() if word.endswith("GB")]
        assert said in ([], row["memory_gb"])
    assert row["memory_gb"] == sorted(row["memory_gb"])


FRAUD = ["advise", "--model", "logistic", "--rows", "284807", "--columns", "30", "--cores", "8"]


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(FRAUD) == 0
    out = capsys.readouterr().out
    assert out.startswith("verdict    CPU is enough")
    assert "a factor of" in out
    assert "modelled" in out
    assert main([*FRAUD, "--lang", "fr"]) == 0
    assert "le CPU suffit" in capsys.readouterr().out


def test_what_does_not_fit_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    work = ["advise", "--model", "transformer", "--rows", "100k", "--columns", "2048", "--parameters", "7G"]
    assert main([*work, "--precision", "bfloat16", "--card", "10de:2684"]) == 1
    assert "will not fit in this card's memory: GeForce RTX 4090" in " ".join(capsys.readouterr().out.split())
    assert main([*work, "--precision", "bfloat16", "--card", "RTX 4090", "--memory", "2000"]) == 0
    capsys.readouterr()
    assert main([*work, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["memory"]["fits"] == "unknown"
    assert document["memory"]["card_gib"] is None
    assert document["schema"] == 1


def test_a_race_of_a_simulated_card_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    race = str(recorded.FOLDER / "gaming-card.json")
    assert main([*FRAUD[:-2], "--race", race]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "by a race of this machine" in out
    assert "the race has a simulated card" in out
    assert main([*FRAUD[:-2], "--race", race, "--card", "10de:2882"]) == 0
    assert "GeForce RTX 4060" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--model", "mlp"], "needs --parameters"),
        (["--parameters", "5"], "is for networks"),
        (["--rows", "0"], "is no number"),
        (["--rows", "-3"], "is no number"),
        (["--rows", "many"], "is no number"),
        (["--patience", "0"], "is no time"),
        (["--memory", "0"], "is no memory"),
        (["--card", "no such card"], "no PCI id"),
        (["--card", "GTX 1080 Ti"], "not in our table of peaks"),
        (["--race", "nowhere.json"], "cannot be read"),
        (["--race", str(recorded.FOLDER / "no-card.json")], "leave one of them out"),
        (["--race", str(recorded.FOLDER.parent)], "has no race.json"),
    ],
)
def test_a_refusal_is_one_sentence(
    options: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*FRAUD[:-1], "3", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert expected in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize("content", ['{"schema": 1, "contestants": []}', '{"schema": 2, "contestants": [1]}'])
def test_a_race_that_is_none(tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "race.json").write_text(content)
    assert main([*FRAUD[:-2], "--race", str(tmp_path)]) == 2
    assert "race" in capsys.readouterr().err


def test_a_raced_regression_says_how_many_iterations_and_is_within_what_is_advised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    race = recorded.document("no-card")
    lane = recorded.lane(race, "fraud", "cpu")
    lane["quality"]["iterations"] = 17
    (tmp_path / "race.json").write_text(json.dumps(race))
    training = recorded.contestant(race, "fraud")["training"]
    words = ["--rows", str(training["rows"]), "--columns", "30", "--race", str(tmp_path / "race.json")]
    assert main(["advise", "--model", "logistic", *words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["cpu"]["seconds"]
    assert found["low"] <= lane["median"] <= found["high"]
    assert main(["advise", "--model", "logistic", *words]) == 0
    assert "17 iterations" in " ".join(capsys.readouterr().out.split())
