"""How the race ends before its time: by Ctrl-C, by ``kill``, by a terminal that went away."""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

TOLD = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextlib.contextmanager
def as_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end us as Ctrl-C does: what we started is ended, and nothing is half written.

    One that is ignored (``nohup``) stays ignored.
    """

    def leave(*_: object) -> None:
        raise KeyboardInterrupt

    asked = tuple(number for number in TOLD if signal.getsignal(number) == signal.SIG_DFL)
    with _handled(asked, leave):
        yield


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Let the signals wait until what is done in here is done: it is short, and must not be done by half.

    By a handler, not by a mask: a mask is one thread's, and the libraries' threads would take the signal.
    """
    waiting: list[int] = []
    asked = tuple(n for n in (signal.SIGINT, *TOLD) if callable(signal.getsignal(n)))
    with _handled(asked, lambda number, _frame: waiting.append(number)):
        yield
    if waiting:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _handled(numbers: tuple[int, ...], handler: Any) -> Iterator[None]:  # noqa: ANN401  # signal's own type
    before: dict[int, Any] = {}
    try:
        for number in numbers:
            before[number] = signal.signal(number, handler)
    except ValueError:  # not in the main thread: there none arrives either
        before = {}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
