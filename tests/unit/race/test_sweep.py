"""The sweep on a simulated card: sizes, both lanes, budget, and what a wrong clock would have it say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.unit.race import fakes
from tests.unit.race.simulated_device import SimulatedDevice
from verify.race import sweep
from verify.race.budget import Budget
from verify.race.clock import Clock
from verify.race.libraries import CPU, CUDA
from verify.race.settings import Settings, Sweep, settings_for

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = (16, 64, 256, 1024)
SETTINGS = replace(settings_for(budget_s=100.0), sweep=Sweep(matmul=SIZES, step=SIZES, repeats=5))
WITH_CARD = fakes.libraries(fakes.torch("2.13.0", cuda="12.8", available=True))


class Product:
    """A simulated matrix product."""

    NAME, SIZE_IS = "matmul", "n"
    breaks_at: tuple[int, str] | None = None

    def __init__(self, device: SimulatedDevice, lane: str, size: int) -> None:
        if self.breaks_at == (size, lane):
            raise RuntimeError("CUDA out of memory.\nTried to allocate…")
        self.device, self.lane, self.size = device, lane, size

    @staticmethod
    def flops(size: int, _settings: Settings) -> float:
        return 2.0 * size**3

    def run(self, times: int) -> None:
        work = self.device.launch if self.lane == CUDA else self.device.calculate
        for _ in range(times):
            work(self.flops(self.size, SETTINGS))

    def copy(self) -> None:
        self.device.copy(3 * 4 * self.size**2)


def swept(
    monkeypatch: pytest.MonkeyPatch,
    device: SimulatedDevice,
    *,
    card_clock: Clock | None = None,
    libraries: Any = WITH_CARD,
    settings: Settings = SETTINGS,
    product: type[Product] = Product,
    **more: Any,
) -> dict[str, Any]:
    def kind(name: str, size_is: str) -> Any:
        def make(_torch: Any, lane: str, size: int, _settings: Settings) -> Product:
            return product(device, lane, size)

        made = cast("Any", make)
        made.NAME, made.SIZE_IS, made.flops = name, size_is, Product.flops
        return made

    def clock(lane: str, _libraries: Any) -> Clock:
        return card_clock if card_clock is not None and lane == CUDA else device.clock()

    def budget(seconds: float | None) -> Budget:
        return Budget(seconds, device.now)

    monkeypatch.setattr(sweep, "OPERATIONS", (kind("matmul", "n"), kind("step", "batch")))
    monkeypatch.setattr(sweep, "clock_for", clock)
    monkeypatch.setattr(sweep, "Budget", budget)
    found = sweep.run(settings, libraries, budget(settings.budget_s), cast("Any", fakes.Silent()), **more)
    return cast("dict[str, Any]", json.loads(json.dumps(found)))  # all of it can be kept


def of(operation: dict[str, Any], lane: str, key: str) -> list[Any]:
    return [point[key] for point in operation["points"] if point["lane"] == lane]


def test_both_lanes_at_every_size_and_the_crossings(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SimulatedDevice()
    matmul = swept(monkeypatch, device)["operations"][0]
    assert of(matmul, CPU, "size") == of(matmul, CUDA, "size") == list(SIZES)
    expected = [2.0 * n**3 / device.cpu_flops_per_s for n in SIZES]
    assert of(matmul, CPU, "seconds") == pytest.approx(expected)
    # Back to back, what is launched next overlaps with what runs: the slower of the two is the time.
    expected = [max(device.launch_s, 2.0 * n**3 / device.flops_per_s) for n in SIZES]
    assert of(matmul, CUDA, "seconds") == pytest.approx(expected, rel=0.02)
    assert of(matmul, CPU, "copy_s") == [None] * len(SIZES)
    expected = [12 * n**2 / device.bytes_per_s + device.launch_s for n in SIZES]
    assert of(matmul, CUDA, "copy_s") == pytest.approx(expected)
    even = matmul["break_even"]
    assert (even["without_copy"]["said"], even["with_copy"]["said"]) == ("between", "between")
    assert 16 < even["without_copy"]["size"] < 64  # 10 µs a launch, 1e10 multiplications a second: 37
    assert 64 < even["with_copy"]["size"] < 256


def test_every_sample_is_kept_and_lasts_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = swept(monkeypatch, SimulatedDevice())
    for operation in found["operations"]:
        assert [len(point["samples"]) for point in operation["points"]] == [5] * 8
        for point in operation["points"]:
            assert point["interval"][0] <= point["seconds"] <= point["interval"][1]


def test_without_a_card_the_cpu_is_still_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    found = swept(monkeypatch, SimulatedDevice(), libraries=fakes.libraries(fakes.torch("2.13.0+cpu")))
    assert found["reason"]["id"] == "absent-cpu-build"
    for operation in found["operations"]:
        assert {point["lane"] for point in operation["points"]} == {CPU}
        assert operation["break_even"]["with_copy"]["said"] == "unknown"


def test_without_torch_there_is_a_reason_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    found = swept(monkeypatch, SimulatedDevice(), libraries=fakes.libraries(None))
    assert (found["operations"], found["reason"]["id"]) == ([], "absent-library")


def careless(device: SimulatedDevice) -> Clock:
    return device.careless_clock()


def stuck(device: SimulatedDevice) -> Clock:
    """A clock of the launches that starts at the end of the queue and stops without waiting."""
    waited = [False]

    def every_other() -> None:
        waited[0] = not waited[0]
        if waited[0]:
            device.synchronize()

    return Clock(device.now, every_other)


@pytest.mark.parametrize("clock", [careless, stuck])
def test_a_time_that_does_not_depend_on_the_size_is_not_valid(
    monkeypatch: pytest.MonkeyPatch, clock: Callable[[SimulatedDevice], Clock]
) -> None:
    """Work grows 262144-fold, the time of the launches does not: the card's figures are refused."""
    device = SimulatedDevice()
    found = swept(monkeypatch, device, card_clock=clock(device))
    assert found["reason"]["id"] == "flat"
    for operation in found["operations"]:
        assert set(of(operation, CUDA, "status")) == {"invalid"}
        assert set(of(operation, CPU, "status")) == {"ran"}
        assert operation["break_even"]["without_copy"]["said"] == "unknown"


def test_a_training_step_may_take_as_long_for_few_rows_as_for_many() -> None:
    """So says a fast card whose time goes to launches; only the product is held against its size."""

    def operation(name: str, seconds: list[float]) -> dict[str, Any]:
        points = [{"lane": CUDA, "flops": 10.0 ** (k + 3), "seconds": s} for k, s in enumerate(seconds)]
        return {"name": name, "points": points}

    same = [1e-4, 1e-4, 1.1e-4, 1e-4]
    assert sweep.flatness([operation("step", same)], CUDA) is None
    assert sweep.flatness([operation("matmul", same)], CUDA) is not None
    assert sweep.flatness([operation("matmul", same[:3])], CUDA) is None  # two decades of work are too few
    assert sweep.flatness([operation("matmul", [1e-4, 1e-4, 1.1e-4, 2e-4])], CUDA) is None
    assert sweep.flatness([operation("matmul", same)], CPU) is None


def test_a_figure_above_the_cards_peak_is_not_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SimulatedDevice()
    peak = {**device.peak(), "float32_tflops": 0.5}  # half of what the simulated card does
    matmul = swept(monkeypatch, device, peak=peak)["operations"][0]
    assert of(matmul, CUDA, "status") == ["ran", "ran", "invalid", "invalid"]
    assert of(matmul, CUDA, "seconds")[-1] is not None  # said, and not used
    honest = swept(monkeypatch, device, peak=device.peak())["operations"][0]
    assert set(of(honest, CUDA, "status")) == {"ran"}


def test_a_size_that_breaks_has_its_reason_and_the_others_still_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Breaking(Product):
        breaks_at = (1024, CUDA)

    matmul = swept(monkeypatch, SimulatedDevice(), product=Breaking)["operations"][0]
    assert of(matmul, CUDA, "size") == [16, 64, 256]
    (left,) = matmul["left_out"]
    assert (left["size"], left["lane"]) == (1024, CUDA)
    assert left["reason"] == {"id": "failed", "error": "RuntimeError: CUDA out of memory."}
    assert matmul["break_even"]["without_copy"]["said"] == "between"


@pytest.mark.parametrize("seconds", [1.0, 2.0, 10.0])
def test_it_keeps_to_its_budget_and_says_what_it_left_out(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    device = SimulatedDevice(cpu_flops_per_s=1e9)  # the largest product takes two seconds
    found = swept(monkeypatch, device, settings=replace(SETTINGS, budget_s=seconds))
    assert device.time <= seconds
    matmul = found["operations"][0]
    assert (1024, CPU) in [(left["size"], left["lane"]) for left in matmul["left_out"]]
    assert {left["reason"]["id"] for left in matmul["left_out"]} == {"over-share"}
    assert of(found["operations"][1], CPU, "size")  # the second operation has its own share


def test_a_budget_that_is_used_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    device = SimulatedDevice()
    budget = Budget(1.0, device.now)
    device.time = 2.0
    found = sweep.run(SETTINGS, WITH_CARD, budget, cast("Any", fakes.Silent()))
    assert (found["operations"], found["reason"]) == ([], {"id": "no-budget", "budget_s": 1.0})
    assert swept(monkeypatch, device, settings=replace(SETTINGS, budget_s=None))["reason"] is None
