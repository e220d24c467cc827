"""Libraries that are there or not, a device with a queue, and a contestant without arithmetic."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from verify.race import RACE_VERSION
from verify.race.budget import Budget
from verify.race.clock import Timings
from verify.race.contestants import Contestant
from verify.race.course import Course
from verify.race.libraries import CPU, CUDA, Libraries
from verify.race.outcome import Lane, Outcome
from verify.race.settings import Settings
from verify.race.words import Message, message

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


def torch(
    version: str,
    *,
    cuda: str | None = None,
    available: bool = False,
    capability: tuple[int, int] = (8, 6),
    built_for: tuple[str, ...] = (),
) -> ModuleType:
    state: dict[str, Any] = {"threads": 4, "products": "highest"}
    fake = SimpleNamespace(
        __version__=version,
        version=SimpleNamespace(cuda=cuda),
        cuda=SimpleNamespace(
            is_available=lambda: available,
            synchronize=lambda: None,
            get_device_capability=lambda: capability,
            get_arch_list=lambda: list(built_for),
        ),
        backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91002, allow_tf32=True)),
        get_num_threads=lambda: state["threads"],
        set_num_threads=lambda number: state.update(threads=number),
        get_float32_matmul_precision=lambda: state["products"],
        set_float32_matmul_precision=lambda said: state.update(products=said),
    )
    return cast("ModuleType", fake)


def module(version: str) -> ModuleType:
    return cast("ModuleType", SimpleNamespace(__version__=version))


def libraries(torch_module: ModuleType | None, **others: ModuleType) -> Libraries:
    modules = {"numpy": module("2.4.6"), "sklearn": module("1.9.1"), **others}
    if torch_module is not None:
        modules["torch"] = torch_module
    missing = {"torch": message("absent-library", library="torch")} if torch_module is None else {}
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
        return self.device.launch(self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0])

    def quality(self, result: str) -> dict[str, float]:
        assert result == "launched"
        return {"accuracy": 0.9}

    def unload(self, result: str) -> str:
        assert result == "launched"
        return self.device.launch(self.transfer / 2)

    def work(self) -> dict[str, Any]:
        return {"flops": 1e9, "bytes": 1e6, "working_set_bytes": 1e6, "launches": 10, "from": "model"}


class Silent:
    """Progress that is kept and not shown."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def lane(self, contestant: str, lane: str) -> None:
        self.lines.append(f"{contestant}, {lane}")

    def repeat(self, k: int, seconds: float, interval: Any = None) -> None:
        self.lines.append(f"repeat {k}: {seconds:.3f} s in {interval}")

    def said(self, said: str) -> None:
        self.lines.append(said)

    def close(self) -> None:
        self.lines.append("closed")


def course(found: Libraries, device: QueueDevice, **settings: Any) -> Course:
    """Return a race's course on a device's own clock."""
    chosen = Settings(**settings)
    return Course(
        chosen, found, Budget(chosen.budget_s, device.now), cast("Any", Silent()), claims=2, threads=2
    )


def contestant(
    runner: Callable[..., Any],
    lanes: tuple[Lane, ...] = (CPU_LANE, CUDA_LANE),
    disagreement: Callable[[Mapping[str, float], Mapping[str, float]], Message | None] = lambda _a, _b: None,
    **more: Any,
) -> Contestant:
    return Contestant("network", lanes, lambda _s, _l: "data", runner, disagreement, **more)


def ran(lane: Lane, *samples: float, accuracy: float = 0.9, **more: Any) -> Outcome:
    return Outcome(lane, "ran", timings=Timings((9.0,), samples), quality={"accuracy": accuracy}, **more)


def race(contestants: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    document = {
        "schema": 2, "host": "here", "simulated": False, "image_digest": "sha256:1",
        "taken_at": "2026-12-01T00:00:00Z", "elapsed_s": 10.0, "budget_s": 60.0,
        "versions": {"race": RACE_VERSION, "python": "3.11.2", "torch": "2.13.0", "cuda": None},
        "cpu": {"model": "A CPU", "cores": 4, "usable_cores": 2, "threads": 2, "affinity_cores": 2,
                "quota_cores": None, "load_1m": 0.0, "swap_used_mib": 0, "memory_mib": 8000},
        "card": {"name": "A card", "driver": "550.1", "memory_mib": 1, "count": 1, "uuid": None,
                 "pci_id": None, "compute_capability": None, "power_limit_w": None, "power_default_w": None,
                 "peak": None},
        "settings": Settings().document(), "prices": None, "contestants": contestants, "sweep": None,
        "sentence": "",
    }  # fmt: skip
    return {**document, **more}
