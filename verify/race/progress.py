"""What is shown while the race runs: one live line on a terminal, now and then a plain line in a log."""

from __future__ import annotations

import contextlib
import math
import os
import re
from typing import TYPE_CHECKING, Any, Optional

from verify.race.figures import duration, span
from verify.race.words import message, text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self, TextIO

    from verify.race.budget import Budget

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CLEAR = "\r\x1b[K"
_FALLBACK_WIDTH = 80
QUIET_SECONDS = 5.0  # between two plain lines about repeats: a log is read later, and is read by people


class Progress:
    """Which lane, which repeat, how much time is left; use it in ``with``, or call ``close``."""

    def __init__(self, stream: TextIO, budget: Budget, lang: str = "en") -> None:
        self._stream = stream
        self._budget = budget
        self._lang = lang
        self._live = _is_terminal(stream)
        self._open = False
        self._lane = ""
        self._last = -math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def lane(self, contestant: str, lane: str) -> None:
        """Begin a lane."""
        self._lane = text(message("progress-lane", contestant=contestant, lane=lane), self._lang)
        self._show(self._with_left(self._lane))

    def repeat(
        self,
        number: int,
        seconds: float,
        interval: Optional[Sequence[float]] = None,  # noqa: UP045  # Python 3.9
    ) -> None:
        """Tell that a repeat of the lane took so long, and what interval the repeats give so far."""
        values: dict[str, Any] = {"lane": self._lane, "number": number, "time": duration(seconds, self._lang)}
        name = "progress-repeat"
        if interval is not None and interval[0] < interval[1]:  # one repeat has none
            name = "progress-repeat-interval"
            values["span"] = span(interval[0], interval[1], self._lang)
        if self._live or self._budget.elapsed() - self._last >= QUIET_SECONDS:
            self._show(self._with_left(text(message(name, **values), self._lang)))

    def said(self, said: str) -> None:
        """Print a line that stays."""
        self.close()
        self._write(f"{self._line(said)}\n")

    def close(self) -> None:
        """Take the live line away; nothing is left of it. May be called twice."""
        if self._open:
            self._write(_CLEAR)
            self._open = False

    def _show(self, said: str) -> None:
        line = self._line(said)
        if self._live:
            width = _width(self._stream)
            cut = line if len(line) < width else f"{line[: max(1, width - 2)]}…"
            self._write(f"{_CLEAR}{cut}")
            self._open = True
        else:
            self._write(f"{line}\n")
        self._last = self._budget.elapsed()

    def _write(self, said: str) -> None:
        """Write it; where nobody can be told any more (a full disk, a terminal that went away) race on."""
        with contextlib.suppress(OSError):
            self._stream.write(said)
            self._stream.flush()

    def _line(self, said: str) -> str:
        return text(message("progress-line", said=_CONTROL.sub(" ", said)), self._lang)

    def _with_left(self, said: str) -> str:
        if self._budget.seconds is None:
            return said
        left = max(0.0, self._budget.left())
        told = text(message("progress-left", left=left, budget=self._budget.seconds), self._lang)
        return f"{told}, {said}"  # what is left first: a narrow terminal cuts the end off


def _is_terminal(stream: TextIO) -> bool:
    """Whether a line can be written over there."""
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or _FALLBACK_WIDTH
    except (OSError, ValueError, AttributeError):
        return _FALLBACK_WIDTH
