from __future__ import annotations

import io
from typing import Any

import pytest

from verify.race.budget import Budget
from verify.race.progress import QUIET_SECONDS, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def made(stream: Any, seconds: float | None = 60.0, lang: str = "en") -> tuple[Progress, Time]:
    time = Time()
    return Progress(stream, Budget(seconds, time), lang), time


def test_a_log_gets_a_line_a_lane_and_repeats_only_now_and_then() -> None:
    progress, time = made(stream := io.StringIO())
    progress.lane("network", "cpu")
    time.now = 1.0
    progress.repeat(1, 0.5, (0.5, 0.5))
    time.now = QUIET_SECONDS
    progress.repeat(2, 0.25, (0.2, 0.3))
    progress.said("fraud, lane cuda: absent")
    progress.close()
    assert stream.getvalue().splitlines() == [
        "race: 60 s left of 60 s, network, lane cpu",
        "race: 55 s left of 60 s, network, lane cpu: repeat 2, 250 ms (interval 200 \N{EN DASH} 300 ms)",
        "race: fraud, lane cuda: absent",
    ]


def test_a_terminal_has_one_line_that_is_written_over_and_taken_away() -> None:
    progress, _ = made(stream := Terminal())
    with progress:
        progress.lane("network", "cpu")
        progress.repeat(1, 2.0)
        progress.said("done")
        progress.repeat(2, 2.0)
    shown = stream.getvalue()
    assert shown.count("\n") == 1
    assert shown.split("\n")[0].endswith("\r\x1b[Krace: done")  # the live line is gone before it is said
    assert shown.endswith("\r\x1b[K")


def test_the_live_line_never_wraps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.race.progress._width", lambda _: 30)
    progress, _ = made(stream := Terminal())
    progress.lane("network" * 9, "cpu")
    (line,) = stream.getvalue().split("\r\x1b[K")[1:]
    assert len(line) < 30
    assert line.endswith("…")


def test_a_dumb_terminal_is_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    progress, _ = made(stream := Terminal())
    progress.lane("network", "cpu")
    assert "\x1b" not in stream.getvalue()


def test_french_without_a_budget() -> None:
    progress, _ = made(stream := io.StringIO(), None, "fr")
    progress.lane("network", "cpu")
    assert stream.getvalue() == "course : network, couloir cpu\n"


def test_an_overdrawn_budget_has_nothing_left() -> None:
    progress, time = made(stream := io.StringIO())
    time.now = 75.0
    progress.lane("network", "cpu")
    assert ": 0 s left of 60 s" in stream.getvalue()


def test_what_is_said_does_not_steer_the_terminal() -> None:
    progress, _ = made(stream := io.StringIO())
    progress.said("failed: \x1b[2J\nboom")
    assert stream.getvalue() == "race: failed:  [2J boom\n"


def test_one_repeat_has_no_interval() -> None:
    progress, _ = made(stream := Terminal())
    progress.lane("network", "cpu")
    progress.repeat(1, 0.5, (0.5, 0.5))
    assert "interval" not in stream.getvalue()
