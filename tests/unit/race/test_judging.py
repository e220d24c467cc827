from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race import fakes
from verify.race.judging import judge
from verify.race.lanes import Lane, Outcome
from verify.race.settings import Settings
from verify.race.words import Message, message, text

if TYPE_CHECKING:
    from verify.race.contestants import Contestant

TORCH = Lane("cpu-torch", "torch", "cpu")
MIXED = Lane("cuda-mixed", "torch", "cuda", "bfloat16", counts=False)
PEAK = {"float32_tflops": 10.0, "memory_gbs": None, "l2_mib": None}  # a card that there is not


def contestant(**more: Any) -> Contestant:
    return fakes.contestant(None, **more)  # type: ignore[arg-type]


def judged(*outcomes: Outcome, peak: Any = None, **more: Any) -> dict[str, Any]:
    return judge(contestant(**more), outcomes, Settings(), peak=peak)


def test_the_card_is_compared_with_the_best_cpu_lane() -> None:
    document = judged(
        fakes.ran(fakes.CPU_LANE, 8.0),
        fakes.ran(TORCH, 4.0, 5.0, 6.0),
        fakes.ran(fakes.CUDA_LANE, 1.0, 2.0, 2.5),
    )
    assert document["ratio"] == pytest.approx(2.5)
    assert (document["ratio_against"], document["ratio_card"]) == ("cpu-torch", "cuda")
    assert document["ratio_interval"] == pytest.approx([1.6, 6.0])


def test_the_copies_belong_to_the_cards_time() -> None:
    copied = fakes.ran(fakes.CUDA_LANE, 1.0, 1.0, 1.0, transfer_in=0.75, transfer_out=0.25)
    document = judged(fakes.ran(fakes.CPU_LANE, 4.0, 4.0, 4.0), copied)
    assert document["lanes"][1]["total"] == pytest.approx(2.0)
    assert document["lanes"][1]["median"] == pytest.approx(1.0)
    assert document["ratio"] == pytest.approx(2.0)
    assert document["ratio_interval"] == pytest.approx([2.0, 2.0])


def test_a_single_repeat_gives_a_ratio_and_no_interval() -> None:
    document = judged(fakes.ran(fakes.CPU_LANE, 4.0, 4.0), fakes.ran(fakes.CUDA_LANE, 1.0))
    assert (document["ratio"], document["ratio_interval"]) == (4.0, None)


def test_mixed_precision_is_never_in_the_ratio() -> None:
    cpu, mixed = fakes.ran(fakes.CPU_LANE, 4.0), fakes.ran(MIXED, 0.1)
    assert judged(cpu, mixed)["ratio"] is None
    document = judged(cpu, fakes.ran(fakes.CUDA_LANE, 1.0), mixed)
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
        fakes.ran(TORCH, 8.0),
        fakes.ran(fakes.CUDA_LANE, 1.0),
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
    cpu = fakes.ran(fakes.CPU_LANE, 4.0)
    document = judged(cpu, fakes.ran(lane, 0.001, work=work), peak=PEAK)
    assert (document["lanes"][1]["status"], document["ratio"]) == ("invalid", None)
    assert document["lanes"][1]["reason"]["id"] == "over-peak"
    document = judged(cpu, fakes.ran(lane, 1.0, work=work), peak=PEAK)
    assert (document["lanes"][1]["status"], document["ratio"]) == ("ran", 4.0)


def test_what_a_training_is_stands_beside_its_times() -> None:
    document = judge(contestant(), (), Settings(), training={"rows": 3, "epochs": 1, "batch": None})
    assert document["training"] == {"rows": 3, "epochs": 1, "batch": None}
    assert judge(contestant(), (), Settings())["training"] is None
