"""Lane cuml: scikit-learn's own lane once more, under ``cuml.accel``, in a process of its own.

``cuml.accel`` replaces scikit-learn's estimators for a whole process, so that the CPU lane could not run
beside it. The other process (``python -m cuml.accel -v -m verify.race.cuml_process``) makes the same data,
and fits whenever it is told to; the clock, the repeats and the sampler are the race's own. Its times hold one
round trip through a pipe and the copy to the card, which cuML makes in every fit: they are shown and do not
enter the ratio. ``cuml.accel`` goes back to the CPU without an error where it cannot use the card; its log
says where it was.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import subprocess
import sys
import tempfile
import weakref
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.race.fraud_lanes import Common
from verify.race.fraud_solve import Fit
from verify.race.libraries import CPU, CUDA, Libraries, absent_reason
from verify.race.outcome import Lane
from verify.race.refused import LaneError
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.race import settings as s
    from verify.race.fraud import Data

LIBRARY = "cuml"
TRAIN, FLUSH = "train", "flush"
ENDING_SECONDS = 5.0  # to end by itself, once its input has ended
SECONDS = 300.0  # without an answer: it makes the data, finds the optimum, tries how many iterations
ROOT = Path(__file__).resolve().parents[2]
ON_CARD, ON_CPU = "ran on GPU", ("ran on CPU", "falling back to CPU")


def absent(libraries: Libraries) -> Message | None:
    """Return why the lane cannot run; cuML itself is not imported here, for it would use the card."""
    reason: Any = absent_reason("sklearn", CPU, libraries)
    if reason:
        return reason  # type: ignore[no-any-return]
    found = importlib.util.find_spec(LIBRARY)
    if found is None:
        return message("absent-library", library=LIBRARY)
    folders = [Path(folder) for folder in found.submodule_search_locations or ()]
    if not any((folder / "accel").exists() or (folder / "accel.py").exists() for folder in folders):
        return message("no-cuml-accel")
    return None


class CumlRunner(Common):
    """The other process, told what to do line by line."""

    def __init__(self, data: Data, settings: s.Settings, libraries: Libraries) -> None:
        super().__init__(Lane(LIBRARY, LIBRARY, CUDA), data, settings, libraries)
        self._given = {"seed": settings.seed, "fraud": asdict(settings.fraud)}
        self._process: _Process | None = None

    def load(self) -> None:
        """Start it, once: the copy to the card is a part of every fit."""
        if self._process is None:
            self._process = _Process(self._given)
            self._needed = int(self._process.answer()["needed"])

    def fresh(self) -> None:
        """Return nothing: every fit there begins with a new estimator."""

    def train(self, start: None) -> Fit:
        """Have it fit: the timed part. It answers when the weights are back on the host."""
        del start
        answer = self._running().ask(TRAIN)
        return Fit(self._np.array(answer["weights"]), answer["intercept"], answer["iterations"])

    def quality(self, fit: Any) -> dict[str, float]:  # noqa: ANN401
        """Return the quality; an error where it was not the card that was timed."""
        process = self._running()
        process.ask(FLUSH)
        said = process.said()
        for line in said.splitlines():
            if any(words in line for words in ON_CPU):
                raise LaneError(f"cuml.accel did not use the card: {line.strip()}")
        if ON_CARD not in said:
            raise LaneError("cuml.accel does not say that the fit ran on the card: its time is not shown")
        return super().quality(fit)

    def work(self) -> Mapping[str, Any]:
        """Return the modelled work of one fit."""
        return self.modelled(self.needed() + 1, None)

    def _running(self) -> _Process:
        if self._process is None:
            raise RuntimeError("it was not loaded")
        return self._process


class _Process:
    """A process under cuml.accel: questions through its input, answers through a pipe, its log in a file."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._log = tempfile.TemporaryFile("w+b")  # noqa: SIM115  # as long as the process
        read, write = os.pipe()
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "cuml.accel", "-v", "-m", "verify.race.cuml_process", str(write)],
                stdin=subprocess.PIPE,
                stdout=self._log,
                stderr=self._log,
                pass_fds=(write,),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"},
            )
        except BaseException:
            os.close(read)
            raise
        finally:
            os.close(write)
        self._answers = os.fdopen(read, "rb", buffering=0)
        self._end = weakref.finalize(self, _end, self._child, self._answers, self._log)
        self._tell(json.dumps(given))

    def ask(self, what: str) -> dict[str, Any]:
        """Tell it what to do and return its answer."""
        self._tell(what)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Return its next answer; an error where it has none."""
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self._answers], [], [], SECONDS)[0]:
                self._end()
                raise LaneError(f"cuml.accel gave no answer within {SECONDS:.0f} s")
            part = self._answers.read(1 << 16)
            if not part:
                self._child.wait(SECONDS)
                said = self.said().strip().splitlines() or [f"it ended with status {self._child.returncode}"]
                raise LaneError(f"cuml.accel: {said[-1]}")
            line += part
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            raise LaneError(f"under cuml.accel: {found['error']}")
        return found

    def said(self) -> str:
        """Return its log."""
        self._log.seek(0)
        return self._log.read().decode("utf-8", errors="replace")

    def _tell(self, line: str) -> None:
        if self._child.stdin is None:
            raise RuntimeError("it has no input")
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            return  # it is gone: the answer says why


def _end(child: subprocess.Popen[bytes], answers: Any, log: Any) -> None:  # noqa: ANN401  # files
    """Let the process end; it does when its input does."""
    if child.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()
    try:
        child.wait(ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    answers.close()
    log.close()
