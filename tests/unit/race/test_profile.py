"""What the profiler gives, on one that is not there, one that breaks and one that saw kernels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Self, cast

import pytest

from tests.unit.race.fakes import QueueDevice
from verify.race import profile
from verify.race.clock import Clock

if TYPE_CHECKING:
    from types import ModuleType

MODELLED = {"launches": 3000, "flops": 1.0}


class Profiler:
    """Sees what it is told to see."""

    def __init__(self, kernels: list[tuple[str, float]]) -> None:
        self._events = [
            SimpleNamespace(device_type=device, time_range=SimpleNamespace(elapsed_us=lambda us=us: us))
            for device, us in kernels
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def events(self) -> list[Any]:
        return self._events


def torch(device: QueueDevice, profiler: Any) -> ModuleType:
    number = SimpleNamespace(add_=lambda _: device.launch(1e-9))
    fake = SimpleNamespace(
        zeros=lambda *_, **__: number,
        cuda=SimpleNamespace(synchronize=device.synchronize),
        profiler=SimpleNamespace(profile=profiler, ProfilerActivity=SimpleNamespace(CUDA="CUDA")),
    )
    return cast("ModuleType", fake)


def look(profiler: Any, modelled: Any = MODELLED, *, time_for_it: bool = True, seconds: float = 1.0) -> Any:
    device = QueueDevice()
    clock = Clock(device.now, device.synchronize)
    work = (lambda: device.launch(1.0)) if time_for_it else None
    return profile.profiled(torch(device, profiler), clock, work, modelled, seconds)


def test_kernels_are_counted_and_their_time_added_up() -> None:
    seen = [("DeviceType.CUDA", 500.0), ("DeviceType.CPU", 9e9), ("DeviceType.CUDA", 1500.0)]
    found = look(lambda **_: Profiler(seen))
    assert (found["launches"], found["from"]) == (2, "profiler")
    assert found["device_s"] == pytest.approx(0.002)
    assert found["launch_s"] == pytest.approx(2e-6), "two launches of the microsecond that one costs here"


def broken(**_: Any) -> Any:
    raise RuntimeError("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES")


@pytest.mark.parametrize("profiler", [broken, lambda **_: Profiler([])], ids=["not permitted", "saw nothing"])
def test_without_a_profiler_the_models_count_is_used_and_called_so(profiler: Any) -> None:
    found = look(profiler)
    assert found == {
        "launch_s": pytest.approx(0.003), "device_s": None, "overlap_s": None, "launches": 3000,
        "from": "model",
    }  # fmt: skip
    assert look(profiler, None) is None


def test_without_time_for_another_training_none_is_made() -> None:
    found = look(lambda **_: Profiler([("CUDA", 1.0)]), time_for_it=False)
    assert found["from"] == "model"


def test_launches_beneath_running_kernels_are_told_apart_from_those_that_are_waited_for() -> None:
    """Two milliseconds of kernels and two microseconds of launches in a training of one: they overlap."""
    seen = [("CUDA", 500.0), ("CUDA", 1500.0)]
    assert look(lambda **_: Profiler(seen), seconds=0.001)["overlap_s"] == pytest.approx(0.001002)
    assert look(lambda **_: Profiler(seen), seconds=1.0)["overlap_s"] == 0.0


def test_what_a_program_calls_itself_is_no_kernel() -> None:
    profiler = Profiler([("CUDA", 500.0), ("CUDA", 900.0)])
    profiler.events()[1].is_user_annotation = True
    assert look(lambda **_: profiler)["launches"] == 1


def test_what_was_queued_before_is_over_when_the_profiler_begins() -> None:
    device, left = QueueDevice(), []
    device.launch(5.0)  # a fresh start

    def profiler(**_: Any) -> Profiler:
        left.extend(device.queue)
        return Profiler([("CUDA", 1.0)])

    profile.kernels(torch(device, profiler), lambda: device.launch(1.0))
    assert left == []
