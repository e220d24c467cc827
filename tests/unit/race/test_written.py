"""What the race leaves behind: all of its files or none, and nothing that was measured is lost."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race.test_main import raced
from verify.race import __main__ as program
from verify.race import leaving, written
from verify.race.budget import Budget
from verify.race.finite import dumps
from verify.race.options import UsageError
from verify.race.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[3]
FULL = Path("/dev/full")
SHORT = {"race.json": "{}\n", "race.md": "# \udcff\n"}


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def full_disk() -> io.TextIOWrapper:
    return io.TextIOWrapper(FULL.open("wb", buffering=0), write_through=True)


@pytest.mark.parametrize(
    ("make", "out", "said"),
    [
        (lambda _: None, "", "--out is empty: give a folder"),
        (lambda f: (f / "race.json").mkdir(), ".", "race.json is a folder: move it away"),
        (lambda f: (f / "to").symlink_to(f / "nowhere"), "to", "cannot be written to (File exists)"),
        (lambda f: (f / "to").touch(), "to/below", "cannot be written to (Not a directory)"),
        (lambda _: None, "a\0b", "embedded null"),
        (lambda _: None, "a" * 300, "cannot be written to (File name too long)"),
    ],
)
def test_where_nothing_can_be_written_is_refused_first(
    make: Callable[[Path], Any], out: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    with pytest.raises(UsageError) as refused:
        written.refuse(out)
    assert said in str(refused.value)


def test_a_closed_stdout_is_refused_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="stdout is closed"):
        written.refuse("-")


def test_half_a_character_is_written_as_its_escape(tmp_path: Path) -> None:
    written.write(tmp_path, SHORT)
    assert (tmp_path / "race.md").read_text() == "# \\udcff\n"
    assert json.loads(written.encoded(dumps({"host": "a\udcff"}))) == {"host": "a\udcff"}


def test_all_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "race.json").write_text("before")
    with pytest.raises(AttributeError):
        written.write(tmp_path, {**SHORT, "race.svg": None})  # type: ignore[dict-item]
    assert names(tmp_path) == ["race.json"]
    assert (tmp_path / "race.json").read_text() == "before"


def test_a_signal_waits_until_all_files_have_their_names() -> None:
    done = []

    def told() -> None:
        with leaving.as_interrupt(), leaving.held():
            os.kill(os.getpid(), signal.SIGTERM)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        told()
    assert done == [1]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_nohup_stays() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with leaving.as_interrupt():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interruption(
    number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*_: object) -> None:
        os.kill(os.getpid(), number)
        time.sleep(10)

    monkeypatch.setattr(program, "run", told)
    # Whoever runs the tests under nohup, or in the background, has some of them ignored.
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    before = signal.signal(number, usual)
    try:
        assert program.main(["--out", str(tmp_path)]) == 130
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err == "interrupted; nothing was written\n"
    assert names(tmp_path) == []


def test_what_cannot_be_written_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raced(monkeypatch, ["ran"])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(written, "write", full)
    assert program.main(["--out", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert json.loads(printed.out)["contestants"]
    assert "(No space left on device): printing race.json instead" in printed.err


def test_what_cannot_be_printed_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raced(monkeypatch, ["ran"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with full_disk() as full, monkeypatch.context() as here:
        here.setattr(sys, "stdout", full)
        assert program.main(["--out", "-"]) == 2
    (kept,) = tmp_path.iterdir()
    assert json.loads(kept.read_text())["contestants"]
    assert f"it is kept in {kept}" in capsys.readouterr().err


def test_a_table_that_cannot_be_printed_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raced(monkeypatch, ["ran"])
    with full_disk() as full, monkeypatch.context() as here:
        here.setattr(sys, "stdout", full)
        assert program.main(["--out", str(tmp_path)]) == 2
    assert names(tmp_path) == sorted(written.FILES)
    assert "the table cannot be printed (No space left on device): see race.md" in capsys.readouterr().err


def test_an_error_of_ours_is_not_a_finding(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(program, "run", broken)
    assert program.main(["--out", "-"]) == 3
    assert "this is an error in the race itself" in capsys.readouterr().err


def test_the_race_goes_on_where_nobody_can_be_told() -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(5, "Input/output error")

    progress = Progress(Gone(), Budget(None))
    progress.said("x")
    progress.lane("network", "cpu")
    progress.close()


@pytest.mark.parametrize("closed", ["", "2>&-", "2>/dev/full", "<&-"])
def test_the_document_is_utf8_and_whole_whatever_the_terminal(closed: str, tmp_path: Path) -> None:
    """As the shell starts it: this Python has no torch, so every lane is absent and the race is short."""
    command = f"{sys.executable} -m verify.race --out - --quick --lang fr --host é {closed} >{tmp_path}/said"
    odd = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C.UTF-8", "PYTHONUTF8": "0", "PATH": os.environ["PATH"]}
    ended = subprocess.run(["bash", "-c", command], cwd=ROOT, env=odd, check=False, timeout=60)
    assert ended.returncode == 1
    assert json.loads((tmp_path / "said").read_text(encoding="utf-8"))["host"] == "é"


def test_a_reader_that_has_gone_is_no_error() -> None:
    command = f"{sys.executable} -m verify.race --out - --quick | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, check=False, timeout=60, capture_output=True, text=True
    )
    assert ended.stdout == "141\n"
    assert "Traceback" not in ended.stderr


def test_it_prints_into_a_text_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    raced(monkeypatch, ["ran"])
    with contextlib.redirect_stdout(io.StringIO()) as said:
        assert program.main(["--out", "-"]) == 0
    assert json.loads(said.getvalue())["contestants"]
