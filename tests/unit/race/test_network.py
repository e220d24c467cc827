"""What can be said of the networks without torch: their arithmetic, and when two results are the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from verify.race import network, network_model, precision
from verify.race.settings import Network, Settings

TINY = Network(rows=10, batch=4, epochs=2, features=3, hidden=(5,), classes=2, side=8, channels=(2, 3))


def test_a_fully_connected_networks_work_is_counted_by_hand() -> None:
    work = network_model.work(TINY)
    # Forward and back are three products a layer, but nobody asks for the gradient of the rows.
    assert work["flops"] == 2 * 10 * 2 * (2 * 3 * 5 + 3 * 5 * 2)
    assert work["launches"] == 3 * 2 * (
        2 * network_model.LAUNCHES_A_LAYER["mlp"] + network_model.LAUNCHES_A_STEP
    )
    assert work["from"] == "model"


def test_a_convolutional_networks_work_is_counted_by_hand() -> None:
    first, second, last = 1 * 2 * 9 * 64, 2 * 3 * 9 * 16, 3 * 4 * 2
    work = network_model.work(replace(TINY, kind="cnn"))
    assert work["flops"] == 2 * 10 * 2 * (2 * first + 3 * second + 3 * last)


@pytest.mark.parametrize("kind", network_model.KINDS)
def test_the_real_ones_stay_small_and_are_work(kind: str) -> None:
    work = network_model.work(Network(kind=kind))
    assert work["working_set_bytes"] < 2 * 2**30
    assert 1e11 < work["flops"] < 1e13
    assert work["bytes"] > work["working_set_bytes"]


def quality(accuracy: float = 0.9, rounding: float | None = 1e-7) -> dict[str, Any]:
    return {"loss": 1.0, "accuracy": accuracy, **({} if rounding is None else {"rounding": rounding})}


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (quality(), None),
        (quality(0.89), None),
        (quality(0.8), "differs"),
        (quality(rounding=4e-4), "differs-tf32"),
        (quality(rounding=0.3), "differs"),
        (quality(rounding=None), None),
        (quality(0.5, None), "differs"),
    ],
    ids=["same", "rounding", "learned less", "tf32", "wrong numbers", "mixed", "mixed learned less"],
)
def test_disagreement(other: dict[str, Any], said: str | None) -> None:
    found = network.contestant(Settings()).disagreement(quality(), other)
    assert (found and found["id"]) == said


def test_doubt() -> None:
    settings = Settings()
    assert network.doubt(quality(settings.network.least_accuracy), settings) is None
    found = network.doubt(quality(0.1), settings)
    assert found == {"id": "accuracy-low", "accuracy": 0.1, "least": settings.network.least_accuracy}


def test_the_mixed_lane_stands_apart() -> None:
    counting = {lane.name: lane.counts for lane in network.LANES}
    assert counting == {"cpu": True, "cuda": True, "cuda-mixed": False}


def test_the_tolerance_grows_with_the_sum_and_stays_below_tf32() -> None:
    assert precision.tolerance(64, 1) < precision.tolerance(512, 1) < precision.tolerance(512, 3) < 2**-11
    assert precision.judged(1e-6, 512, 3) == precision.SAME
    assert precision.judged(float("inf"), 512, 3) == precision.OTHER
    assert precision.judged(float("nan"), 512, 3) == precision.OTHER
