from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race import fakes
from tests.unit.race.simulated_device import SimulatedDevice
from verify.race import machine, wake, whole
from verify.race.budget import Budget
from verify.race.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

TORCH = """
import time
class cuda:
    synchronize = staticmethod(lambda: print("libraries print things"))
class _Number:
    def add_(self, _): return self
def ones(*_, device): {ones}
"""


def test_it_is_measured_to_the_end_of_the_kernel() -> None:
    device = SimulatedDevice(wake_s=2.5, kernel_s=0.25)
    found = wake.timed(device.now, lambda: device.launch(1.0), device.synchronize)
    assert found == pytest.approx(2.5 + device.launch_s + 0.25)
    again = wake.timed(device.now, lambda: device.launch(1.0), device.synchronize)
    assert again == pytest.approx(device.launch_s + 0.25), "once awake it is awake"


def test_waiting_for_the_card_before_would_have_woken_it() -> None:
    """What the lanes' clock does, and why it is not the one that is used."""
    device = SimulatedDevice(wake_s=2.5)
    assert device.clock().time(lambda: device.launch(1.0))[0] < 0.1


def fake_torch(folder: Path, monkeypatch: pytest.MonkeyPatch, ones: str) -> None:
    (folder / "torch.py").write_text(TORCH.format(ones=ones))
    monkeypatch.syspath_prepend(str(folder))


def test_a_process_of_its_own_tells_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_torch(tmp_path, monkeypatch, "time.sleep(0.05); return _Number()")
    found = wake.seconds(400.0)
    assert found is not None
    assert found >= 0.05


@pytest.mark.parametrize(
    ("ones", "left"),
    [("raise RuntimeError('no card')", 400.0), ("time.sleep(60)", 2.0), ("raise SystemExit(0)", 400.0)],
    ids=["fails", "hangs", "says nothing"],
)
def test_where_it_does_not_wake_nothing_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ones: str, left: float
) -> None:
    fake_torch(tmp_path, monkeypatch, ones)
    assert wake.seconds(left) is None


@pytest.mark.parametrize(
    ("cuda", "listed", "asked"), [("12.8", True, 1), ("12.8", False, 0), (None, True, 0)]
)
def test_it_is_asked_before_the_race_uses_the_card(
    monkeypatch: pytest.MonkeyPatch, cuda: str | None, *, listed: bool, asked: int
) -> None:
    order: list[str] = []
    card: dict[str, Any] = {"name": "Simulated", "uuid": None, "peak": None}

    def woken(_: float) -> float:
        order.append("wake")
        return 3.5

    def uuid(_: Any) -> None:
        order.append("uuid")

    monkeypatch.setattr(machine, "listed", lambda: listed)
    monkeypatch.setattr(machine, "card", lambda uuid: card if listed else None)  # noqa: ARG005
    monkeypatch.setattr(wake, "seconds", woken)
    monkeypatch.setattr(whole, "card_uuid", uuid)
    found = fakes.libraries(fakes.torch("2.13.0", cuda=cuda))
    settings = Settings(only=())
    race = whole.run(settings, found, Budget(None), fakes.Silent())  # type: ignore[arg-type]
    assert order == ["wake"] * asked + ["uuid"]
    assert race["card"] is None if not listed else race["card"]["wake_s"] == (3.5 if asked else None)
    assert race["host"] == "this machine"
    json.dumps(race, allow_nan=False)
