"""A card with a clock and a queue of its own, and work for it: what the race would see of a real one.

A launch costs the caller a little and returns at once; the card works through its queue in order, at its own
speed, while the caller goes on; ``synchronize`` returns when the queue is empty. All figures are made up and
belong to no card that can be bought.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from verify.race.clock import Clock
from verify.race.libraries import CPU, CUDA
from verify.race.outcome import Lane

CPU_LANE = Lane("cpu", "torch", CPU, "float32")
CUDA_LANE = Lane("cuda", "torch", CUDA, "float32")


@dataclass
class SimulatedDevice:
    """A simulated card beside a simulated CPU; both have their time from ``time``."""

    flops_per_s: float = 1e12
    bytes_per_s: float = 1e9
    launch_s: float = 1e-5
    kernel_s: float = 1e-6  # the shortest that any kernel takes
    cpu_flops_per_s: float = 1e10
    wake_s: float = 0.0  # what the first call of all costs: the caller waits for it
    time: float = 0.0
    busy_until: float = 0.0

    def launch(self, flops: float) -> None:
        self._queue(max(self.kernel_s, flops / self.flops_per_s))

    def copy(self, count: float) -> None:
        self._queue(count / self.bytes_per_s)

    def calculate(self, flops: float) -> None:
        """Work on the CPU: the caller waits."""
        self.time += flops / self.cpu_flops_per_s

    def synchronize(self) -> None:
        self._wake()
        self.time = max(self.time, self.busy_until)

    def now(self) -> float:
        return self.time

    def clock(self) -> Clock:
        return Clock(self.now, self.synchronize)

    def careless_clock(self) -> Clock:
        """The clock of most published comparisons: it stops when the last launch has returned."""
        return Clock(self.now, lambda: None)

    def peak(self) -> dict[str, Any]:
        return {"float32_tflops": self.flops_per_s / 1e12, "memory_gbs": None, "l2_mib": None,
                "source": "simulated", "date": "2026-12-02"}  # fmt: skip

    def _wake(self) -> None:
        self.time += self.wake_s
        self.wake_s = 0.0

    def _queue(self, seconds: float) -> None:
        self._wake()
        self.time += self.launch_s
        self.busy_until = max(self.busy_until, self.time) + seconds


@dataclass
class Training:
    """A contestant's runner: so many steps of so much arithmetic on so much data."""

    device: SimulatedDevice
    lane: Lane
    steps: int = 100
    flops: float = 1e9
    bytes_in: float = 1e6
    bytes_out: float = 0.0

    def load(self) -> None:
        if self.lane.device == CUDA:
            self.device.copy(self.bytes_in)

    def fresh(self) -> str:
        return "fresh"

    def train(self, start: str) -> str:
        assert start == "fresh"
        work = self.device.launch if self.lane.device == CUDA else self.device.calculate
        for _ in range(self.steps):
            work(self.flops)
        return "trained"

    def unload(self, _result: str) -> None:
        if self.lane.device == CUDA:
            self.device.copy(self.bytes_out)

    def quality(self, result: str) -> dict[str, float]:
        assert result == "trained"
        return {"accuracy": 0.9}

    def work(self) -> dict[str, Any]:
        return {"flops": self.steps * self.flops, "bytes": None, "working_set_bytes": None,
                "launches": self.steps, "from": "model"}  # fmt: skip
