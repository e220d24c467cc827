"""How long a host may take for its second look, as for its recording: then it is asked no more.

A host may hang after it was recorded, and without a limit it would keep every other host from its report.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# gpu_verify_deadline's default: a run.json of an earlier version does not say what it was.
DEADLINE_S = 90.0
# Clearing up ends by itself after 20 s (verify.launch.CLEANUP); a new connection takes some too.
CLEANUP_S = 30.0
# What is killed is gone at once, unless the kernel holds it or root owns it: nobody waits for that.
KILLED_S = 5.0


class NoAnswer(Exception):  # noqa: N818  # it is no error of ours
    """A host did not answer; ``sentence`` names nothing that must not be in evidence, ``said`` may."""

    def __init__(self, sentence: str, said: str = "", *, asked: bool = True) -> None:
        super().__init__(f"{sentence}: {said}" if said else sentence)
        self.sentence, self.asked = sentence, asked


@dataclass
class Turn:
    """One host's time: the whole of it, and what its commands have taken so far."""

    deadline_s: float = DEADLINE_S
    used_s: float = 0.0
    silent: str = ""

    @property
    def left_s(self) -> float:
        """What is left of its time."""
        return max(0.0, self.deadline_s - self.used_s)

    def run(self, command: bytes, given: bytes) -> tuple[int, bytes, bytes]:
        """Run one command of this controller's within what is left; return its status and what it printed."""
        if self.silent:
            raise NoAnswer(self.silent, "it is not asked again", asked=False)
        begun = time.monotonic()
        done = run_within(command, given, self.left_s)
        self.used_s += time.monotonic() - begun
        if done is None:
            raise self.gone(f"it was recorded, and then did not answer within {self.deadline_s:g} s")
        return done

    def gone(self, sentence: str, said: str = "") -> NoAnswer:
        """Ask this host no more; return what to raise."""
        self.silent = sentence
        return NoAnswer(sentence, said)

    @contextmanager
    def clearing_up(self) -> Iterator[None]:
        """Ask it once more all the same, for a short time, so that nothing is left behind on it."""
        silent, deadline_s = self.silent, self.deadline_s
        self.silent, self.deadline_s = "", self.used_s + CLEANUP_S
        try:
            yield
        finally:
            self.silent, self.deadline_s = silent, deadline_s


_TURNS: dict[str, Turn] = {}


def turn_of(host: str) -> Turn:
    """Return a host's turn: testinfra makes every test a connection of its own, and they share it."""
    return _TURNS.setdefault(host, Turn())


def run_within(command: bytes, given: bytes, limit_s: float) -> tuple[int, bytes, bytes] | None:
    """Run a line of shell; None where it did not end in time, and then it is killed with its children."""
    started = subprocess.Popen(  # noqa: S602  # testinfra's own way: it has quoted every word
        command,
        shell=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = started.communicate(given, timeout=limit_s)
    except subprocess.TimeoutExpired:
        _kill(started)
        return None
    except BaseException:
        _kill(started)
        raise
    return started.returncode, out, err


def _kill(started: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(started.pid, signal.SIGKILL)
    try:
        started.communicate(timeout=KILLED_S)
    except subprocess.TimeoutExpired:
        for pipe in (started.stdout, started.stderr):
            if pipe is not None:
                pipe.close()
