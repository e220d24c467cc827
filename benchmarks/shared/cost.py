"""What a command costs: wall-clock seconds, the controller's CPU seconds, and those of the hosts."""

from __future__ import annotations

import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import docker

NANOSECONDS = 1e9


@dataclass(frozen=True)
class Cost:
    """Seconds: wall clock, CPU of this machine's processes, CPU of the hosts' containers."""

    wall: float
    controller: float
    hosts: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s wall, {self.controller:.2f} s CPU here, {self.hosts:.2f} s CPU on the host"


def median(costs: Sequence[Cost]) -> Cost:
    """Return the median of each, taken by itself."""
    return Cost(
        *(
            statistics.median(getattr(cost, name) for cost in costs)
            for name in ("wall", "controller", "hosts")
        )
    )


def hosts_cpu(containers: Sequence[str]) -> float:
    """Return the CPU seconds that these containers have used since they started."""
    api = docker.from_env().api
    used = [api.stats(name, stream=False, one_shot=True)["cpu_stats"]["cpu_usage"] for name in containers]
    return float(sum(one["total_usage"] for one in used)) / NANOSECONDS


def cost_of(work: Callable[[], object], containers: Sequence[str]) -> Cost:
    """Run it and return what it cost; the processes that it starts must have ended when it returns."""
    before, hosts = resource.getrusage(resource.RUSAGE_CHILDREN), hosts_cpu(containers)
    began = time.perf_counter()
    work()
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, used, hosts_cpu(containers) - hosts)


def ssh(config: str, host: str, script: str) -> str:
    """Run a script on a host as root through one connection; refuse to go on where it fails."""
    done = subprocess.run(
        ["ssh", "-F", config, host, "sudo", "sh", "-es"],
        input=script, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"error: the script failed on {host}: {done.stderr.strip()[-500:]}")
    return done.stdout
