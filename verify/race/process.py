"""Run a process and wait for its end, no longer than it may take; what it printed is kept."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEPT_BYTES = 64 * 1024  # of the end of each stream


@dataclass(frozen=True)
class Ended:
    """Its exit status (None: it took too long and was ended) and the end of what it printed."""

    status: int | None
    stdout: str
    stderr: str

    @property
    def last_line(self) -> str:
        """What it said last: on stderr, and where it said nothing there, on stdout."""
        lines = [line.strip() for text in (self.stdout, self.stderr) for line in text.splitlines()]
        return next((line for line in reversed(lines) if line), "")

    def shown(self, title: str) -> str:
        """Return all that is kept of what it printed, to be shown to whoever waits."""
        parts = [
            f"--- {title}: {name} ---\n{text.rstrip()}\n" for name, text in self._streams() if text.strip()
        ]
        return "\n" + "".join(parts or [f"--- {title} printed nothing ---\n"])

    def _streams(self) -> list[tuple[str, str]]:
        return [("stdout", self.stdout), ("stderr", self.stderr)]


def run(argv: Sequence[str], environment: Mapping[str, str], seconds: float) -> Ended:
    """Run it in a session of its own; end it and all that it started when time is up or we are interrupted.

    Its output goes to files: a reader of pipes would take time beside it, and an unread pipe would stop it.
    A watch ends it rather than a wait with a limit, which looks only twenty times a second. What it left
    running when it ended by itself is ended, too: it would take time from the next.
    """
    late, lock = threading.Event(), threading.Lock()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=dict(environment),
            start_new_session=True,
        )

        def end() -> None:
            late.set()
            _kill(process, lock)

        watch = threading.Timer(min(seconds, threading.TIMEOUT_MAX), end)
        watch.daemon = True
        try:
            watch.start()
            _ended(process)
        finally:
            watch.cancel()
            _kill(process, lock)
        status = process.wait()
        return Ended(None if late.is_set() and status < 0 else status, _tail(out), _tail(err))


def _ended(process: subprocess.Popen[bytes]) -> None:
    """Wait for its end and leave its number its own, where the system can do that."""
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:  # the watch was there first
        return
    except AttributeError:  # macOS, by an older Python
        process.wait()


def _kill(process: subprocess.Popen[bytes], lock: threading.Lock) -> None:
    """End the process and its group while its number is still its own: it was not waited for yet."""
    with lock:
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _tail(stream: IO[bytes]) -> str:
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - KEPT_BYTES))
    return stream.read().decode("utf-8", errors="replace")
