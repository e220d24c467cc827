"""Make a burn-in: look at the cards, let a container work on them, look meanwhile and again afterwards.

It concludes nothing (burn_in does), and begins nothing on a card that somebody uses.
"""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.burn_in import SCHEMA, refusal
from verify.errors import VerifyError
from verify.json_values import json_object
from verify.launch import docker_run, unless_asleep
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Json = dict[str, Any]
    Look = Callable[[], Json]

EVERY_S = 10.0
SLACK_S = 90.0  # a container starts, torch is imported, a driver without persistence mode wakes its cards
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Work:
    """What keeps the cards busy, and what ends it where it does not end by itself."""

    argv: Sequence[str]
    end: Sequence[str]


def container_work(image: str, seconds: float) -> Work:
    """Return the work in a container of the race image: its own torch, every card."""
    name = f"gpu-host-run-{uuid.uuid4().hex[:12]}"
    text = Path(__file__).with_name("burn_in_probe.py").read_text(encoding="utf-8")
    run = docker_run(image, ["python3", "-c", text, f"{seconds:g}"], gpus="all", name=name)
    return Work(unless_asleep(run), ["timeout", "20", "docker", "rm", "-f", name])


def burn_in(
    look: Look,
    work: Work,
    seconds: float,
    *,
    every: float = EVERY_S,
    slack: float = SLACK_S,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Json:
    """Return burn-in.json; the recordings in it are as they were taken."""
    before = look()
    refused = refusal(Recording.from_document(before))
    document: Json = {"schema": SCHEMA, "seconds": seconds, "refused": refused, "work": {}}
    if refused:
        return {**document, "before": before, "during": [], "after": before}
    during: list[Json] = []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        # Not a pipe: nobody reads while it works.
        process = subprocess.Popen(work.argv, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            late = clock() + seconds + slack
            while process.poll() is None and clock() < late:
                sleep(min(every, max(seconds / 4, 0.01)))
                if process.poll() is None:
                    with contextlib.suppress(VerifyError):  # one look less; the work is what must end
                        during.append(look())
            ended = process.poll()
        finally:
            if process.poll() is None:
                _end(process, work)
        said.seek(0)
        document["work"] = _told(said.read(), ended, seconds + slack)
    return {**document, "before": before, "during": during, "after": look()}


def _end(process: subprocess.Popen[bytes], work: Work) -> None:
    """End the container by its name: a client that is killed leaves it behind."""
    with contextlib.suppress(OSError):
        subprocess.run(work.end, capture_output=True, check=False)
    process.kill()
    process.wait()


def _told(text: str, status: int | None, limit: float) -> Json:
    if status is None:
        return {"status": "timed-out", "reason": f"it had not ended after {limit:.0f} s"}
    document = json_object((text.strip().splitlines() or [""])[-1])
    if document is not None:
        return dict(document)
    last = (text.strip().splitlines() or ["nothing"])[-1][:_LONGEST]
    return {"status": "failed", "reason": f"exit status {status}, it said: {last}"}
