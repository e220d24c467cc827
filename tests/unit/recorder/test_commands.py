from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify.recorder import run_command

if TYPE_CHECKING:
    from collections.abc import Callable


def run(script: str, limit: float = 5, **spec: Any) -> dict[str, Any]:
    return run_command(["sh", "-c", script], time.monotonic() + limit, spec)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_streams_and_exit_status() -> None:
    entry = run("echo out; echo err >&2; exit 3")
    assert (entry["rc"], entry["stdout"], entry["stderr"]) == (3, "out\n", "err\n")
    assert entry["seconds"] < 5


def test_absent_tool_is_missing() -> None:
    entry = run_command(["no-such-tool", "-v"], time.monotonic() + 1)
    assert entry == {"argv": ["no-such-tool", "-v"], "missing": True}
    assert run("true", needs=["no-such-tool"])["missing"] is True
    assert run("true", needs_any=["no-such-tool", "nor-this"])["missing"] is True
    assert run("true", needs_any=["no-such-tool", "sh"])["rc"] == 0


def test_program_that_cannot_start_is_an_error(tools: Callable[[str, str], Path]) -> None:
    tools("broken", "").write_bytes(b"\x7fELF not really")
    assert run_command(["broken"], time.monotonic() + 1)["error"] == "ENOEXEC"


def test_over_its_limit_is_timed_out_and_the_whole_group_is_killed(tmp_path: Path) -> None:
    began = time.monotonic()
    entry = run(f"trap '' TERM; sleep 60 & echo $! > {tmp_path}/pid; echo started; wait", limit=0.5)
    assert time.monotonic() - began < 3
    assert entry["timed_out"] is True
    assert "rc" not in entry
    assert entry["stdout"] == "started\n"
    child = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 2
    while not gone(child) and time.monotonic() < until:
        time.sleep(0.02)
    assert gone(child)


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_process_that_cannot_be_killed_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    real = os.killpg
    monkeypatch.setattr(os, "killpg", lambda pid, _: killed.append(pid))  # the kernel does not let go of it
    began = time.monotonic()
    entry = run("exec sleep 5", limit=0.2)
    assert entry["timed_out"] is True
    assert time.monotonic() - began < 2
    real(killed[0], 9)
    os.waitpid(killed[0], 0)


def test_left_over_child_that_holds_the_pipe_does_not_hold_us() -> None:
    began = time.monotonic()
    entry = run("sleep 3 & echo done", limit=10)
    assert time.monotonic() - began < 2
    assert (entry["rc"], entry["stdout"]) == (0, "done\n")


@pytest.mark.parametrize(("keep", "ends", "cut"), [("head", "0", "tail"), ("tail", "9", "head")])
def test_size_limit(keep: str, ends: str, cut: str) -> None:
    entry = run("for i in 0 1 2 3 4 5 6 7 8 9; do printf '%01000d' 0 | tr 0 $i; done", size=500, keep=keep)
    assert (entry["rc"], entry["stdout"], entry["stdout_cut"]) == (0, ends * 500, cut)
    assert "stderr_cut" not in entry


def test_filter_keeps_matching_lines() -> None:
    assert run("seq 1 30", lines="1$")["stdout"] == "1\n11\n21\n"


def test_output_that_is_not_utf8_and_secrets() -> None:
    entry = run("printf 'a\\377 password=hunter2'")
    assert (entry["stdout"], entry["lossy"]) == ("a\ufffd password=REDACTED", True)


def test_english_and_sbin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run("echo $LC_ALL $PATH")["stdout"].startswith("C /usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")


def test_cleanup_runs_only_after_a_time_out(tmp_path: Path, tools: Callable[[str, str], Path]) -> None:
    tools("tidy", f'echo "$@" >> {tmp_path}/tidied')
    run("true", cleanup=["tidy", "no"])
    assert not (tmp_path / "tidied").exists()
    run("exec sleep 5", limit=0.2, cleanup=["tidy", "rm"])
    assert (tmp_path / "tidied").read_text() == "rm\n"
