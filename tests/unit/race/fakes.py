"""Libraries that are there or not, a device with a queue, and a contestant without arithmetic."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from verify.race.clock import Timings
from verify.race.contestants import Contestant
from verify.race.lanes import Lane, Outcome
from verify.race.libraries import CPU, CUDA, Libraries

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CPU_LANE = Lane("cpu", "torch", CPU)
CUDA_LANE = Lane("cuda", "torch", CUDA)


class QueueDevice:
    """A card as the clock sees it: calls return at once, the work is done when somebody waits for it."""

    def __init__(self) -> None:
        self.time = 0.0
        self.queue: list[float] = []

    def now(self) -> float:
        return self.time

    def launch(self, seconds: float) -> str:
        self.time += 1e-6  # what a launch costs the caller
        self.queue.append(seconds)
        return "launched"

    def synchronize(self) -> None:
        self.time += sum(self.queue)
        self.queue.clear()


def torch(version: str, *, cuda: str | None = None, available: bool = False) -> ModuleType:
    fake = SimpleNamespace(
        __version__=version,
        version=SimpleNamespace(cuda=cuda),
        cuda=SimpleNamespace(is_available=lambda: available, synchronize=lambda: None),
        backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91002)),
        get_num_threads=lambda: 4,
    )
    return cast("ModuleType", fake)


def module(version: str) -> ModuleType:
    return cast("ModuleType", SimpleNamespace(__version__=version))


def libraries(torch_module: ModuleType | None, **others: ModuleType) -> Libraries:
    modules = {"numpy": module("2.4.6"), "sklearn": module("1.9.1"), **others}
    if torch_module is not None:
        modules["torch"] = torch_module
    missing = {"torch": "torch is not installed for this Python"} if torch_module is None else {}
    return Libraries(modules, missing)


class CountingRunner:
    """Does what it is told to on a device with a queue."""

    def __init__(self, device: QueueDevice, seconds: list[float], transfer: float = 0.5) -> None:
        self.device = device
        self.seconds = seconds
        self.transfer = transfer
        self.loads = 0

    def load(self) -> None:
        self.loads += 1
        self.device.launch(self.transfer if self.loads > 1 else 100.0)

    def fresh(self) -> str:
        self.device.launch(7.0)  # never part of the time
        return "fresh"

    def train(self, start: str) -> str:
        assert start == "fresh"
        self.device.launch(self.seconds.pop(0))
        return "trained"

    def quality(self, result: str) -> dict[str, float]:
        assert result == "trained"
        return {"accuracy": 0.9}


def contestant(
    runner: Callable[..., Any],
    lanes: tuple[Lane, ...] = (CPU_LANE, CUDA_LANE),
    disagreement: Callable[[Mapping[str, float], Mapping[str, float]], str | None] = lambda _a, _b: None,
) -> Contestant:
    return Contestant("network", "small network", lanes, lambda _s, _l: "data", runner, disagreement)


def ran(lane: Lane, *samples: float, accuracy: float = 0.9) -> Outcome:
    return Outcome(lane, "ran", timings=Timings((9.0,), samples), quality={"accuracy": accuracy})


def race(contestants: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    document = {
        "schema": 1, "host": "here", "simulated": False, "image_digest": "sha256:1",
        "taken_at": "2026-12-01T00:00:00Z",
        "versions": {"race": 1, "python": "3.11.2", "torch": "2.13.0", "cuda": None},
        "cpu": {"model": "A CPU", "cores": 4, "usable_cores": 2, "threads": 2},
        "card": {"name": "A card", "driver": "550.1", "memory_mib": 1, "count": 1},
        "settings": {"repeats": 5, "warmups": 1, "quick": False}, "contestants": contestants, "sentence": "",
    }  # fmt: skip
    return {**document, **more}
