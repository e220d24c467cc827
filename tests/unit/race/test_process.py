from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from verify.race.process import KEPT_BYTES, run

FOREVER = 300


def python(code: str, seconds: float = FOREVER, **environment: str) -> list[object]:
    ended = run([sys.executable, "-c", code], {**os.environ, **environment}, seconds)
    return [ended.status, ended.stdout, ended.stderr]


def running(pid: int) -> bool:
    """Whether there is such a process; one that ended and that nobody waited for is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int) -> bool:
    """Whether a process that was killed goes: the kernel does it when it comes to it."""
    until = time.monotonic() + FOREVER
    while running(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not running(pid)


def test_output_and_status_are_kept_apart() -> None:
    code = "import os, sys; print(os.environ['A']); print('error', file=sys.stderr); sys.exit(3)"
    assert python(code, A="value") == [3, "value\n", "error\n"]


def test_it_reads_nothing() -> None:
    assert python("import sys; print(repr(sys.stdin.read()))") == [0, "''\n", ""]


def test_more_than_a_pipe_holds_does_not_stop_it_and_the_end_is_kept() -> None:
    status, stdout, _ = python("print('x' * 1_000_000); print('end')", math.inf)
    assert status == 0
    assert str(stdout).endswith("x\nend\n")
    assert len(str(stdout)) == KEPT_BYTES


def test_what_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    child = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, pathlib\n"
        f"child = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "print('half', flush=True)\n"
        "child.wait()\n"
    )
    seconds = 1.0
    while True:  # on a machine that is busy, a second may be too little to get that far
        status, stdout, _ = python(code, seconds)
        assert status is None
        if stdout:
            break
        seconds *= 4
    assert stdout == "half\n"
    assert gone(int(note.read_text()))


def test_ctrl_c_ends_it_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        f"import os, pathlib, time; pathlib.Path({str(note)!r}).write_text(str(os.getpid())); time.sleep(300)"
    )

    def press() -> None:
        while not (note.exists() and note.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    # A run in the background (nohup, &) ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            python(code)
    finally:
        signal.signal(signal.SIGINT, before)
    assert gone(int(note.read_text()))


def test_a_signal_is_no_lateness() -> None:
    assert python("import os; os.kill(os.getpid(), 9)")[0] == -signal.SIGKILL


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("import sys; print('out'); print('first\\nKeyError: 1\\n\\n', file=sys.stderr)", "KeyError: 1"),
        ("print('out')", "out"),
        ("pass", ""),
    ],
)
def test_the_last_line_is_stderrs_where_it_has_one(code: str, last: str) -> None:
    assert run([sys.executable, "-c", code], os.environ, FOREVER).last_line == last


def test_what_is_not_text_is_shown_as_far_as_it_can_be() -> None:
    ended = run([sys.executable, "-c", r"import os; os.write(1, b'\xff\xfe ok')"], os.environ, FOREVER)
    assert ended.stdout == "\ufffd\ufffd ok"
    assert "ok" in ended.shown("train.py")
    assert "printed nothing" in run([sys.executable, "-c", ""], os.environ, FOREVER).shown("train.py")


def test_what_it_left_running_is_ended_and_its_own_status_stays(tmp_path: Path) -> None:
    """A child that lived on would take time from the next repeat, forty repeats forty of them."""
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
        f"pathlib.Path({str(note)!r}).write_text(str(child.pid))\n"
        "print('done')\n"
        "sys.exit(7)\n"
    )
    assert python(code) == [7, "done\n", ""]
    assert gone(int(note.read_text()))


def test_it_is_ended_where_the_system_cannot_wait_without_reaping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "waitid")
    assert python("print(1)") == [0, "1\n", ""]
    assert python("import time; time.sleep(300)", 0.2) == [None, "", ""]
