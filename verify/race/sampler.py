"""Watch the card while a lane runs, from a process of its own; nothing here ever breaks or holds up a lane.

One Sampler for a race: ``start()`` early, ``with sampler:`` around each lane's timed repeats, ``usage()`` and
``warnings()`` after it, ``close()`` at the end. Where the card cannot be watched they are None and empty, and
``reason`` is why.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
import weakref
from typing import TYPE_CHECKING, Any

from verify.race import usage
from verify.race.sampling import BEGIN, END
from verify.race.words import message

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from types import TracebackType

    from verify.race.words import Message

START_SECONDS = 10.0  # a driver without persistence mode starts its cards first
END_SECONDS = 5.0
KILL_SECONDS = 2.0
# The child looks for modules exactly where the race does.
BOOT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from verify.race.sampling import main
main(json.loads(sys.argv[2]))
"""


class Sampler:
    """A context manager for each lane, one after the other."""

    def __init__(
        self,
        interval_s: float = 0.1,
        card: str | None = None,
        others: int | Collection[int] | None = None,
        *,
        start_seconds: float = START_SECONDS,
        end_seconds: float = END_SECONDS,
    ) -> None:
        """Take the card's UUID or PCI address, and the other users that the host counted (or their ids)."""
        self.reason: Message | None = None
        self.notes: list[Message] = []
        self._interval_s = interval_s
        self._card = card
        self._others = others if others is None or isinstance(others, int) else len(others)
        self._start_seconds = start_seconds
        self._end_seconds = end_seconds
        self._child: subprocess.Popen[bytes] | None = None
        self._started_at = 0.0
        self._owner = os.getpid()
        self._ready = False
        self._rest = b""
        self._record: dict[str, Any] | None = None
        self._seen: dict[str, Any] | None = None
        self._over: weakref.finalize[Any, Any] | None = None

    @property
    def pid(self) -> int | None:
        """The process that watches; None where there is none."""
        return None if self._child is None else self._child.pid

    def start(self) -> None:
        """Start the process, once; it gets ready while the race goes on."""
        if self._child or self.reason:
            return
        options = {"interval_s": self._interval_s, "card": self._card, "parent": os.getpid()}
        argv = [sys.executable, "-c", BOOT, json.dumps(sys.path), json.dumps(options)]
        try:
            child = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
        except (OSError, ValueError) as error:
            self.reason = message("sampler-start", error=f"{type(error).__name__}: {error}")
            return
        self._child, self._started_at, self._owner = child, time.monotonic(), os.getpid()
        self._over = weakref.finalize(self, _end, child, self._owner)

    def __enter__(self) -> Sampler:  # noqa: PYI034  # Self came with Python 3.11
        """Begin: when this returns the card has been read once, or there is a reason why not."""
        self._record = self._seen = None
        self.start()
        if not self._ready and not self.reason:
            self._get_ready()
        if self._ready:
            self._tell(BEGIN)
            self._hear(self._end_seconds)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End, and take what was read."""
        if not self._ready or os.getpid() != self._owner:  # a fork that leaves the lane has no say in it
            return
        self._tell(END)
        self._record = self._hear(self._end_seconds)

    def usage(self, windows: Sequence[tuple[float, float]] = ()) -> dict[str, Any] | None:
        """Return what was seen of the last lane, as race.json has it; ``windows`` are its timed repeats."""
        if self._record and self._seen is None:
            self._seen = usage.usage(self._record, self._interval_s, self._others, windows)
        return self._seen

    def warnings(self) -> list[Message]:
        """Return what must be known of the card before the last lane's times are believed."""
        seen = self.usage()
        return usage.warnings(seen, self._record) if seen and self._record else []

    def cost(self) -> Message | None:
        """Return what watching the last lane cost, to be printed."""
        seen = self.usage()
        return usage.sampled(seen, self._record) if seen and self._record else None

    def close(self) -> None:
        """End the process; it is gone when this returns, unless the kernel itself holds it."""
        self._ready = False
        self._child = None
        if self._over:
            self._over()
        if not self.reason:
            self.reason = message("sampler-closed")

    def _get_ready(self) -> None:
        told = self._hear(self._start_seconds, since=self._started_at)
        if told is None:
            return
        self.notes = told["notes"]
        if told["reason"]:
            self._give_up(told["reason"])
        else:
            self._ready = True

    def _tell(self, word: str) -> None:
        try:
            if self._child and self._child.stdin:
                self._child.stdin.write(f"{word}\n".encode())
        except (OSError, ValueError):  # it has ended; whoever listens next says so
            pass

    def _hear(self, seconds: float, since: float | None = None) -> Any:  # noqa: ANN401
        """Return the next line; None if it does not come in time or never will, and then the process goes."""
        if not self._child or not self._child.stdout:
            return None
        until = (time.monotonic() if since is None else since) + seconds
        try:
            while b"\n" not in self._rest:
                if not _readable(self._child.stdout, until - time.monotonic()):
                    self._give_up(message("sampler-hung", seconds=seconds))
                    return None
                more = self._child.stdout.read(1 << 16)
                if not more:
                    self._give_up(message("sampler-ended", status=_status(self._child)))
                    return None
                self._rest += more
            line, _, self._rest = self._rest.partition(b"\n")
            return json.loads(line)
        except (OSError, ValueError) as error:
            self._give_up(message("sampler-start", error=f"{type(error).__name__}: {error}"))
            return None
        except BaseException:  # Ctrl-C: what was not heard must not answer the next question
            self.close()
            raise

    def _give_up(self, reason: Message) -> None:
        self.reason = reason
        self.close()


def _readable(stream: Any, seconds: float) -> bool:  # noqa: ANN401
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        return bool(selector.select(max(seconds, 0.0)))


def _status(child: subprocess.Popen[bytes]) -> int | None:
    try:
        return child.wait(KILL_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _end(child: subprocess.Popen[bytes], owner: int) -> None:
    """Close the pipe, which ends it; kill it if it does not. A forked copy of the race leaves it alone."""
    for stream in (child.stdin, child.stdout):
        if stream:
            stream.close()
    if os.getpid() != owner:
        child.returncode = 0  # not ours: nobody is to wait for it here
        return
    try:
        child.wait(KILL_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        _status(child)
