from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race import fakes
from verify.race import stats
from verify.race.judging import judge
from verify.race.outcome import Lane, Outcome
from verify.race.settings import Settings
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from verify.race.contestants import Contestant

TORCH = Lane("cpu-torch", "torch", "cpu")
MIXED = Lane("cuda-mixed", "torch", "cuda", "bfloat16", counts=False)
PEAK = {"float32_tflops": 10.0, "memory_gbs": None, "l2_mib": None}  # a card that there is not


def contestant(**more: Any) -> Contestant:
    return fakes.contestant(None, **more)  # type: ignore[arg-type]


def ran(lane: Lane, seconds: float, **more: Any) -> Outcome:
    return fakes.ran(lane, *[seconds] * 3, **more)


def judged(*outcomes: Outcome, peak: Any = None, **more: Any) -> dict[str, Any]:
    return judge(contestant(**more), outcomes, Settings(), peak=peak)


def test_the_card_is_compared_with_the_best_cpu_lane() -> None:
    document = judged(
        fakes.ran(fakes.CPU_LANE, 8.0, 8.0, 8.0),
        fakes.ran(TORCH, 4.0, 5.0, 6.0),
        fakes.ran(fakes.CUDA_LANE, 1.0, 2.0, 2.5),
    )
    assert document["ratio"] == pytest.approx(2.5)
    assert (document["ratio_against"], document["ratio_card"]) == ("cpu-torch", "cuda")
    assert document["ratio_interval"] == pytest.approx([1.6, 6.0])


def test_the_copies_belong_to_the_cards_time() -> None:
    copied = fakes.ran(fakes.CUDA_LANE, 1.0, 1.0, 1.0, copied_in=(0.75,) * 3, copied_out=(0.25,) * 3)
    document = judged(fakes.ran(fakes.CPU_LANE, 4.0, 4.0, 4.0), copied)
    assert document["lanes"][1]["total"] == pytest.approx(2.0)
    assert document["lanes"][1]["median"] == pytest.approx(1.0)
    assert document["ratio"] == pytest.approx(2.0)
    assert document["ratio_interval"] == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("few", [1, 2])
def test_fewer_than_the_least_repeats_make_no_headline(few: int) -> None:
    document = judged(fakes.ran(fakes.CPU_LANE, *[4.0] * 9), fakes.ran(fakes.CUDA_LANE, *[1.0] * few))
    assert (document["ratio"], document["ratio_interval"], document["ratio_confidence"]) == (None,) * 3
    assert (document["ratio_against"], document["ratio_card"]) == (None, None)
    assert document["ratio_reason"] == message("ratio-few-samples", lane="cuda", count=few, least=3)
    assert judged(ran(fakes.CPU_LANE, 4.0), ran(fakes.CUDA_LANE, 1.0))["ratio_reason"] is None


def test_a_side_without_a_time_is_the_reason() -> None:
    alone = judged(ran(fakes.CPU_LANE, 4.0))
    assert (alone["ratio"], alone["ratio_reason"]) == (None, message("ratio-one-sided", device="cuda"))


def test_the_ratios_confidence_is_that_of_all_it_is_made_of() -> None:
    nine = fakes.ran(fakes.CPU_LANE, *[4.0] * 9)
    plain = judged(nine, fakes.ran(fakes.CUDA_LANE, *[1.0] * 9))
    single = stats.interval([1.0] * 9)[2]
    assert plain["ratio_confidence"] == pytest.approx(1 - 2 * (1 - single))
    copied = judged(nine, fakes.ran(fakes.CUDA_LANE, *[1.0] * 9, copied_in=(0.5, 1.0, 1.5)))
    assert copied["ratio_interval"] == pytest.approx([4.0 / 2.5, 4.0 / 1.5]), "a copy is not known exactly"
    assert copied["ratio_confidence"] == pytest.approx(1 - 2 * (1 - single) - 0.25)


def test_mixed_precision_has_an_interval_of_its_own() -> None:
    lanes = (
        ran(fakes.CPU_LANE, 4.0),
        fakes.ran(fakes.CUDA_LANE, 1.0, 1.0, 1.2),
        fakes.ran(MIXED, 0.5, 0.5, 0.6),
    )
    mixed = judged(*lanes)["mixed"]
    assert (mixed["lane"], mixed["against"], mixed["ratio"]) == ("cuda-mixed", "cuda", 2.0)
    assert mixed["ratio_interval"] == pytest.approx([1.0 / 0.6, 1.2 / 0.5])
    assert mixed["ratio_confidence"] == pytest.approx(0.5), "three repeats each: no more is known"
    assert judged(*lanes[:2], fakes.ran(MIXED, 0.5))["mixed"] is None
    assert judged(*lanes[:2])["mixed"] is None


def test_mixed_precision_is_never_in_the_ratio() -> None:
    cpu, mixed = ran(fakes.CPU_LANE, 4.0), ran(MIXED, 0.1)
    assert judged(cpu, mixed)["ratio"] is None
    document = judged(cpu, ran(fakes.CUDA_LANE, 1.0), mixed)
    assert (document["ratio"], document["ratio_card"]) == (4.0, "cuda")
    assert document["lanes"][2]["median"] == 0.1


def accuracy_differs(a: Any, b: Any) -> Message | None:
    if a == b:
        return None
    return message("differs", what="accuracy", a=a["accuracy"], b=b["accuracy"])


def test_a_wrong_result_has_no_speed() -> None:
    outcomes = (fakes.ran(fakes.CPU_LANE, 4.0), fakes.ran(fakes.CUDA_LANE, 1.0, accuracy=0.1))
    document = judged(*outcomes, disagreement=accuracy_differs)
    assert document["ratio"] is None
    (found,) = [said for said in document["lanes"][1]["warnings"] if said["id"] == "differs"]
    assert "differs from lane cpu: accuracy 0.9 against 0.1" in text(found)


def test_a_result_that_did_not_learn_has_no_speed_and_is_no_measure_for_the_others() -> None:
    def doubt(quality: Any, _: Settings) -> Message | None:
        return (
            message("accuracy-low", accuracy=quality["accuracy"], least=0.5)
            if quality["accuracy"] < 0.5
            else None
        )

    outcomes = (
        fakes.ran(fakes.CPU_LANE, 4.0, accuracy=0.1),
        ran(TORCH, 8.0),
        ran(fakes.CUDA_LANE, 1.0),
    )
    document = judged(*outcomes, disagreement=accuracy_differs, doubt=doubt)
    ids = [[said["id"] for said in lane["warnings"]] for lane in document["lanes"]]
    assert [("accuracy-low" in said, "differs" in said) for said in ids] == [
        (True, False),
        (False,) * 2,
        (False,) * 2,
    ]
    assert (document["ratio"], document["ratio_against"]) == (8.0, "cpu-torch")


def test_an_impossible_figure_is_invalid_and_has_no_ratio() -> None:
    work = {"flops": 1e12, "bytes": None, "working_set_bytes": None, "launches": None, "from": "model"}
    lane = Lane("cuda", "torch", "cuda", "float32")
    cpu = ran(fakes.CPU_LANE, 4.0)
    document = judged(cpu, ran(lane, 0.001, work=work), peak=PEAK)
    assert (document["lanes"][1]["status"], document["ratio"]) == ("invalid", None)
    assert document["lanes"][1]["reason"]["id"] == "over-peak"
    document = judged(cpu, ran(lane, 1.0, work=work), peak=PEAK)
    assert (document["lanes"][1]["status"], document["ratio"]) == ("ran", 4.0)


def test_what_a_training_is_stands_beside_its_times() -> None:
    document = judge(contestant(), (), Settings(), training={"rows": 3, "epochs": 1, "batch": None})
    assert document["training"] == {"rows": 3, "epochs": 1, "batch": None}
    assert judge(contestant(), (), Settings())["training"] is None
