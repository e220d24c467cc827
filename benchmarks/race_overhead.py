"""What measuring costs: the race's repeats against a bare PyTorch loop of the same trainings, side by side.

usage: race_overhead.py [--pairs N], with the Python that has torch (make bench finds it, or PYTHON=).

Both train the small network on the same rows, so many times, in one process with the same threads, on the
card where torch finds one and with the race's sampler beside it there. They take turns, and who begins
alternates: what the machine does beside falls on both. Of every pair two ratios, with the interval of their
median: the wall-clock time of all of it (what measuring costs whoever waits), and the time of a training
(what is reported). The goal is 1.02; nothing fails where it is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from verify.race import cores, libraries, network, stats
from verify.race.budget import Budget
from verify.race.clock import Plan, repeat
from verify.race.device import clock_for, tf32
from verify.race.libraries import CPU, CUDA, absent_reason
from verify.race.outcome import Lane
from verify.race.progress import Progress
from verify.race.sampler import Sampler
from verify.race.settings import settings_for
from verify.race.words import text

GOAL = 1.02
PAIRS = 15
TRAININGS = 4  # of each side of a pair, the first of them a warm-up
ROWS, EPOCHS = 8_192, 1


def bare(torch: Any, n: Any, seed: int, tensors: tuple[Any, ...], device: str) -> list[float]:  # noqa: ANN401
    """Train as one would without this project; return the seconds of each training but the first."""
    x, y = tensors
    times = []
    for _ in range(TRAININGS):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(
            torch.nn.Linear(n.features, n.hidden[0]), torch.nn.ReLU(),
            torch.nn.Linear(n.hidden[0], n.hidden[1]), torch.nn.ReLU(),
            torch.nn.Linear(n.hidden[1], n.classes),
        ).to(device)  # fmt: skip
        if device == CUDA:
            torch.cuda.synchronize()
        began = time.perf_counter()
        optimizer = torch.optim.SGD(model.parameters(), lr=n.learning_rate, momentum=n.momentum)
        for _ in range(n.epochs):
            for start in range(0, n.rows, n.batch):
                optimizer.zero_grad(set_to_none=True)
                loss = torch.nn.functional.cross_entropy(
                    model(x[start : start + n.batch]), y[start : start + n.batch]
                )
                loss.backward()
                optimizer.step()
        if device == CUDA:
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return times[1:]


def said(name: str, ratios: list[float]) -> str:
    """Return a ratio's line: median, interval, and whether the goal is met as far as that can be said."""
    median = statistics.median(ratios)
    low, high, confidence = stats.interval(ratios)
    goal = "met" if high <= GOAL else "MISSED" if low > GOAL else "undecided: the interval holds it"
    return (
        f"{name:<28} {median:6.3f}  [{low:.3f}, {high:.3f}] ({confidence:.0%})  goal at most {GOAL}: {goal}"
    )


def main() -> int:
    """Print the two ratios."""
    parser = argparse.ArgumentParser(description="What the race's measuring costs.")
    parser.add_argument("--pairs", type=int, default=PAIRS, metavar="N", help="default %(default)s")
    pairs = parser.parse_args().pairs
    found = libraries.load()
    absent = absent_reason("torch", CPU, found)
    if absent is not None:
        print(f"no overhead was measured: {text(absent)}: name a Python that has it with PYTHON=")
        return 0
    torch = found["torch"]
    device = CPU if absent_reason("torch", CUDA, found) is not None else CUDA
    settings = settings_for()
    settings = replace(settings, network=replace(settings.network, rows=ROWS, epochs=EPOCHS))
    data = network.data(settings, found)
    runner = network.runner(Lane(device, "torch", device, "float32"), data, settings, found)
    runner.load()
    clock = clock_for(device, found)
    tensors = tuple(torch.from_numpy(array).to(device) for array in (data.x, data.y))
    sampler = Sampler() if device == CUDA else None
    threads = cores.threads()
    with contextlib.ExitStack() as stack:
        stack.enter_context(cores.all_cores(found, threads))
        stack.enter_context(tf32(found, allowed=False))
        if sampler is not None:
            sampler.start()
            stack.callback(sampler.close)
        log = stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
        progress = Progress(log, Budget(60.0))
        plan = Plan(least=TRAININGS - 1, most=TRAININGS - 1, told=progress.repeat)
        plan = plan if sampler is None else replace(plan, watched=sampler)

        def ours() -> list[float]:
            timings, _, _ = repeat(clock, runner.fresh, runner.train, plan=plan)
            return list(timings.samples)

        def theirs() -> list[float]:
            return bare(torch, settings.network, settings.seed, tensors, device)

        measured = [pair(ours, theirs, swapped=k % 2 == 1) for k in range(-1, pairs)][1:]
    walls, reported = (list(column) for column in zip(*measured))  # noqa: B905  # Python 3.9
    on = torch.cuda.get_device_name() if device == CUDA else "the CPU"
    print(f"the race's repeats against a bare loop: {pairs} pairs on {on}, {threads} threads of the CPU")
    print(said("wall-clock time", walls))
    print(said("reported time of a training", reported))
    return 0


def pair(ours: Any, theirs: Any, *, swapped: bool) -> tuple[float, float]:  # noqa: ANN401
    """Run both once, one after the other; return the ratios of the wall-clock and of the reported times."""
    results = {}
    for name, work in sorted({"ours": ours, "theirs": theirs}.items(), reverse=swapped):
        began = time.perf_counter()
        times = work()
        results[name] = (time.perf_counter() - began, statistics.median(times))
    (wall, one), (bare_wall, bare_one) = results["ours"], results["theirs"]
    return wall / bare_wall, one / bare_one


if __name__ == "__main__":
    sys.exit(main())
