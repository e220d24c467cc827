"""The loop of the sampler's process, with a card of our own and nobody to wait for."""

from __future__ import annotations

import queue
from typing import Any, cast

import pytest

from verify.race import nvml, sampling

OPTIONS = {"interval_s": 0.0, "parent": 1}


class Card:
    """Counts what it is asked, and ends the lane after so many readings."""

    def __init__(self, commands: queue.SimpleQueue[str], readings: int, lost_at: int | None = None) -> None:
        self.commands = commands
        self.readings = readings
        self.lost_at = lost_at
        self.lost: str | None = None
        self.count = 0
        self.listed = 0

    def point(self) -> list[Any]:
        self.count += 1
        if self.count == self.readings:
            self.commands.put(sampling.END)
        if self.count == self.lost_at:
            self.lost = "NVMLError_GpuIsLost: GPU is lost"
        return [self.count, None, None, None, None, None]

    def energy_mj(self) -> int:
        return self.count * 1_000

    def limits(self) -> dict[str, Any]:
        return {}

    def pids(self) -> list[int] | None:
        self.listed += 1
        return None


def watch(readings: int, lost_at: int | None = None) -> tuple[dict[str, Any], list[Any], Card]:
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    card, sent = Card(commands, readings, lost_at), list[Any]()
    return sampling.watch(cast("nvml.Card", card), commands, OPTIONS, sent.append), sent, card


def test_each_reading_is_a_point_and_the_last_is_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "pause", lambda *_: 0.0)
    record, sent, card = watch(readings=4)
    assert [point[1] for point in record["points"]] == [1, 2, 3, 4, 5]
    assert [counted for _, counted in record["energy_mj"]] == [1_000, 2_000, 3_000, 4_000, 5_000]
    assert [at for at, _ in record["energy_mj"]] == sorted(at for at, _ in record["energy_mj"])
    assert sent == [{"begun": True}]  # once, after the first reading
    assert card.listed == 2  # not with every reading, but at both ends
    assert record["lost"] is None


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_card_is_lost_once(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    monkeypatch.setattr(sampling, "pause", lambda *_: 0.0)
    record, sent, _ = watch(readings=4, lost_at=at)
    assert record["lost"] == {
        "seconds": record["points"][at - 1][0],
        "error": "NVMLError_GpuIsLost: GPU is lost",
    }
    assert sent == [{"begun": True}]


def test_a_lane_of_hours_keeps_every_second_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def pause(interval_s: float, _took: float, _cpu: float) -> float:
        asked.append(interval_s)
        return 0.0

    monkeypatch.setattr(sampling, "pause", pause)
    monkeypatch.setattr(sampling, "MOST_RAW", 8)
    monkeypatch.setitem(OPTIONS, "interval_s", 1.0)
    record, _, _ = watch(readings=13)
    assert [point[1] for point in record["points"]] == [1, 5, 9, 11, 13, 14]
    assert asked == [1.0] * 7 + [2.0] * 4 + [4.0] * 2


def test_the_pause_is_the_rest_of_the_interval() -> None:
    assert sampling.pause(0.1, took_s=0.02, cpu_s=0.0) == pytest.approx(0.08)
    assert sampling.pause(0.1, took_s=0.5, cpu_s=0.0) == 0.0


def test_a_driver_that_answers_slowly_is_asked_less_often() -> None:
    waited = sampling.pause(0.1, took_s=0.02, cpu_s=0.02)
    assert 0.02 / (waited + 0.02) == pytest.approx(sampling.COST_AIM)
