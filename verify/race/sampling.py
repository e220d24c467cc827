"""The sampler's own process: it reads the card from ``begin`` to ``end`` and sends what it read as one line.

It is apart from the race so that no lane waits for NVML, gives way to everything else that wants the CPU, and
leaves when the race does, also while NVML hangs.
"""

from __future__ import annotations

import json
import os
import queue
import selectors
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from verify.race import nvml, users

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

BEGIN, END = "begin", "end"
NICENESS = 10
COST_AIM = 0.01  # of one core; half of what is warned of
LIST_SECONDS = 1.0  # processes come and go slowly, and listing them is the dearest question
MOST_RAW = 36_000  # an hour at ten a second; then every second one is kept
ALIVE_SECONDS = 1.0


def main(options: Mapping[str, Any]) -> None:
    """Serve the race that started this process until it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the race; it closes the pipe
    os.nice(NICENESS)
    send = _sender()
    commands: queue.SimpleQueue[str] = queue.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(commands, options["parent"]), daemon=True)
    listener.start()
    try:
        card, notes = nvml.open_card(options["card"])
    except nvml.NoCardError as error:
        send({"reason": error.said, "notes": []})
        return
    send({"reason": None, "notes": notes})
    while True:
        if commands.get() == BEGIN:
            send(watch(card, commands, options, send))


def watch(
    card: nvml.Card, commands: queue.SimpleQueue[str], options: Mapping[str, Any], send: Callable[[Any], None]
) -> dict[str, Any]:
    """Read the card until the lane ends; return the record that usage.py knows.

    The lane begins when the first reading is done, so that it is never missed.
    """
    spent_before, started = time.process_time(), time.monotonic()
    # The race's own clock: on Linux it is one for all processes, so that its repeats can be found in it.
    began = time.perf_counter()
    counted: list[list[Any]] = []
    points: list[list[Any]] = []
    others = users.others(card.pids(), options["parent"])
    listed, lost, keep = started, None, 1

    def look() -> None:
        nonlocal lost
        now = time.monotonic() - started
        points.append([now, *card.point()])
        counted.append([time.monotonic() - started, card.energy_mj()])
        if card.lost and lost is None:
            lost = {"seconds": now, "error": card.lost}

    while True:
        now, spent = time.monotonic(), time.process_time()
        look()
        if len(points) == 1:
            send({"begun": True})
        if now - listed >= LIST_SECONDS:
            others, listed = _most(others, users.others(card.pids(), options["parent"])), now
        if len(points) >= MOST_RAW:
            points[:], counted[:] = points[::2], counted[::2]
            keep *= 2
        took, cost = time.monotonic() - now, time.process_time() - spent
        try:
            commands.get(timeout=pause(options["interval_s"] * keep, took, cost))
            break
        except queue.Empty:
            pass
    # From here on nothing costs the lane anything. One last look, so that a short lane has two.
    cpu_s, elapsed_s = time.process_time() - spent_before, time.monotonic() - started
    look()
    return {
        "began": began,
        "points": points,
        "energy_mj": counted,
        "limits": card.limits(),
        "others": _most(others, users.others(card.pids(), options["parent"])),
        "cpu_s": cpu_s,
        "elapsed_s": elapsed_s,
        "lost": lost,
    }


def pause(interval_s: float, took_s: float, cpu_s: float) -> float:
    """Return how long to wait: what is left of the interval, or what keeps the cost at its aim."""
    return max(interval_s - took_s, cpu_s / COST_AIM - took_s, 0.0)


def _most(one: int | None, two: int | None) -> int | None:
    return max((count for count in (one, two) if count is not None), default=None)


def _sender() -> Callable[[Any], None]:
    """Return what sends a line to the race, and nothing else can: a library that prints would break it."""
    own = os.dup(1)
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), 1)

    def send(what: Any) -> None:  # noqa: ANN401
        line = memoryview(json.dumps(what).encode() + b"\n")
        try:
            while line:
                line = line[os.write(own, line) :]
        except OSError:
            os._exit(0)  # the race is gone

    return send


def _listen(commands: queue.SimpleQueue[str], parent: int) -> None:
    """Pass on what the race says; end the process when it is gone, whatever the other thread waits for.

    The end of the pipe tells it, unless a process that the race has forked still holds the other side.
    """
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(0, selectors.EVENT_READ)
        while os.getppid() == parent:
            if not selector.select(ALIVE_SECONDS):
                continue
            told = os.read(0, 4096)
            if not told:
                break
            *lines, rest = (rest + told).split(b"\n")
            for line in lines:
                commands.put(line.decode())
    os._exit(0)
