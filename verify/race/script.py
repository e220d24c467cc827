"""Contestant: a training script of the user's own, told by an argument which device to use.

What is timed is the whole process, from its start to its end: starting Python and the imports belong to it,
as they do for whoever waits for it. How long these take without any work is measured apart and said. The end
of the process is the end of its work on the card too, so nothing is left to wait for; its copies cannot be
told from the rest and stay unknown.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race import cores, machine
from verify.race.budget import Budget
from verify.race.contestants import Contestant
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.outcome import Lane
from verify.race.process import run
from verify.race.refused import LaneError
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s

NAME = "script"
LANES = (Lane("cpu", NAME, CPU), Lane("cuda", NAME, CUDA))

ACCURACY, ACCURACY_TOLERANCE = "accuracy", 0.02  # as for the small network
STARTUP = "startup_s"
LONGEST_NAME = 40
# By which OpenMP and the libraries of linear algebra are told how many threads to take.
THREADS = (
    "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMEXPR_NUM_THREADS", "OMP_THREAD_LIMIT",
)  # fmt: skip


class ScriptError(LaneError):
    """The script did not do its work: the text says what it said last."""


@dataclass(frozen=True)
class Startup:
    """What a process like the script's says before any work; None where torch is not there to say it.

    ``seconds``: how long starting Python and importing torch takes. ``threads``: with how many torch
    calculates in the environment that the script gets.
    """

    seconds: float | None
    threads: int | None = None


def contestant(settings: s.Settings) -> Contestant:
    """Return the contestant; its part of the budget is told when its turn comes."""
    own = [Budget(settings.budget_s)]

    def runner(lane: Lane, data: Startup, settings: s.Settings, libraries: Libraries) -> ScriptRunner:
        to_come = lane.device == CPU and absent(LANES[1], settings, libraries) is None
        return ScriptRunner(lane, data, settings, own[0], claims=2 if to_come else 1)

    def data(_settings: s.Settings, libraries: Libraries) -> Startup:
        return startup(own[0], libraries)

    def begin(budget: Budget) -> None:
        own[0] = budget

    return Contestant(NAME, LANES, data, runner, disagreement, absent=absent, begin=begin, threads=threads)


def startup(budget: Budget, libraries: Libraries) -> Startup:
    """Measure the start-up without any work; the first finds no files in the cache and does not count."""
    if "torch" not in libraries:
        return Startup(None)
    argv = [sys.executable, "-c", "import torch; print(torch.get_num_threads())"]
    for _ in range(2):
        began = time.perf_counter()
        ended = run(argv, environment(CPU), budget.left())
        seconds = time.perf_counter() - began
    said = ended.stdout.strip()
    return Startup(seconds, int(said) if said.isdigit() else None) if ended.status == 0 else Startup(None)


def threads(_lane: Lane, data: Startup) -> dict[str, Any]:
    """Return with how many threads the script's libraries calculate, and what the user had set for them.

    Where torch does not say it, it is OpenMP's own variable. A script may choose others for itself.
    """
    chosen = {name: os.environ[name] for name in THREADS if os.environ.get(name)}
    said = environment(CPU)["OMP_NUM_THREADS"].split(",")[0]
    asked = int(said) if said.isdigit() else None
    return {
        "threads": asked if data.threads is None else data.threads,
        "threads_environment": chosen or None,
    }


class ScriptRunner:
    """The script on one device."""

    def __init__(
        self, lane: Lane, data: Startup, settings: s.Settings, budget: Budget, *, claims: int = 1
    ) -> None:
        if settings.script is None:
            raise ValueError("a race without --script has no such contestant")
        self._script = settings.script
        self._device = lane.device
        self._startup = data
        self._budget = budget
        self._claims = claims
        self._last = 0.0

    def load(self) -> None:
        """Do nothing: the script brings its own data."""

    def fresh(self) -> float:
        """Return how long the script may take; refuse a run that, by the last one, will not end in time."""
        share = self._budget.share(self._claims)
        if self._last > share or share <= 0:
            raise ScriptError(
                f"one run takes {self._last:.3g} s and {share:.3g} s are left for another: a warm-up and a "
                "timed run are needed on each device; give a larger --budget, or --only script"
            )
        return share

    def train(self, share: float) -> str:
        """Run it: the timed part. Return what it printed."""
        began = time.perf_counter()
        ended = run(command(self._script, self._device), environment(self._device), share)
        self._last = time.perf_counter() - began
        if ended.status == 0:
            return ended.stdout
        with contextlib.suppress(OSError):  # nobody to tell: the reason stays
            sys.stderr.write(ended.shown(f"{self._script.file} {self._script.device_arg} {self._device}"))
        if ended.status is None:
            raise ScriptError(
                f"it did not end within {share:.3g} s, what its lane had left of the budget: give a larger "
                "--budget, --only script, or less work in --script-args"
            )
        how = f"exit status {ended.status}" if ended.status > 0 else f"ended by signal {-ended.status}"
        raise ScriptError(f"{how}, its last line: {ended.last_line or 'none'}")

    def unload(self, result: str) -> str:
        """Do nothing: what the script made is where it put it."""
        return result

    def quality(self, result: str) -> dict[str, float]:
        """Return the numbers of its last line, where that is a JSON object, and the start-up beside them."""
        found = reported(result)
        if self._startup.seconds is not None:
            found[STARTUP] = self._startup.seconds
        return found

    def work(self) -> None:
        """Return nothing: what a script calculates is not known."""


def command(script: s.Script, device: str) -> list[str]:
    """Return what is run: the same Python, the script, its own arguments, the device last."""
    told = (
        [f"{script.device_arg}{device}"] if script.device_arg.endswith("=") else [script.device_arg, device]
    )
    return [sys.executable, script.file, *script.args, *told]


def environment(device: str) -> dict[str, str]:
    """Return ours, with as many threads as the CPU lanes where nobody chose them, and no card for those."""
    found = {"OMP_NUM_THREADS": str(cores.threads()), **os.environ}
    return {**found, "CUDA_VISIBLE_DEVICES": ""} if device == CPU else found


def absent(lane: Lane, _settings: s.Settings, libraries: Libraries) -> Message | None:
    """Return why there is no card for the script: torch is asked, and without it nvidia-smi."""
    if lane.device == CPU:
        return None
    if "torch" in libraries:
        return absent_reason("torch", CUDA, libraries)
    return message("absent-listed") if machine.card() is None else None


def reported(stdout: str) -> dict[str, float]:
    """Return what a script says of its result: the numbers of a JSON object in its last line."""
    lines = [line for line in stdout.splitlines() if line.strip()]
    try:
        found = json.loads(lines[-1]) if lines else None
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name[:LONGEST_NAME]: float(value) for name, value in found.items() if _is_number(value)}


def _is_number(value: Any) -> bool:  # noqa: ANN401  # whatever JSON has
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def disagreement(one: Mapping[str, float], other: Mapping[str, float]) -> Message | None:
    """Say that the accuracies differ, where both lanes gave one; nothing else of a script can be judged."""
    a, b = one.get(ACCURACY), other.get(ACCURACY)
    if a is None or b is None or abs(a - b) <= ACCURACY_TOLERANCE:
        return None
    return message("differs", what=ACCURACY, a=a, b=b)
