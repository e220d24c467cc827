"""Locks of package managers, held by a process that really runs (field case B6)."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from plugins.module_utils.gpu_host_locks import held, holder, named, wait
from plugins.module_utils.gpu_host_refused import RefusedError

HOLD = """
import fcntl, sys
handle = open(sys.argv[1], "w")
fcntl.lockf(handle, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def hold(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def end(child: subprocess.Popen[str]) -> None:
    child.communicate(timeout=10)


def test_b6_the_holder_is_named_and_the_lock_stays(tmp_path: Path) -> None:
    lock = tmp_path / "lock-frontend"
    child = hold(lock)
    try:
        found = held((str(tmp_path / "none"), str(lock)))
        assert found is not None
        assert found[0] == str(lock)
        assert found[1].startswith("python")
        assert found[1].endswith(f"(process {child.pid})")
        said: list[str] = []
        with pytest.raises(RefusedError, match=rf"lock-frontend is held by .*{child.pid}") as refused:
            wait((str(lock),), 0.05, said.append, step=0.02)
        assert refused.value.reason == "lock"
        assert "never deleted" in refused.value.sentence
        assert said[0].startswith("Waited for python")
        assert lock.exists()
    finally:
        end(child)
    assert held((str(lock),)) is None


def test_b6_a_lock_that_goes_is_waited_for(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    child = hold(lock)
    said: list[str] = []

    def ends(line: str) -> None:
        said.append(line)
        if child.poll() is None:
            end(child)

    wait((str(lock),), 10, ends, step=0.01)
    assert said


def test_b6_a_file_that_nobody_locks_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("")
    assert holder(str(tmp_path / "lock")) is None
    assert holder(str(tmp_path / "none")) is None


def test_b6_dnf_writes_its_number_into_the_file(tmp_path: Path) -> None:
    lock = tmp_path / "metadata_lock.pid"
    with subprocess.Popen(["sleep", "60"]) as child:
        lock.write_text(str(child.pid))
        # Popen returns as soon as exec cannot fail, a moment before the kernel writes down the new name.
        while Path(f"/proc/{child.pid}/comm").read_text(encoding="utf-8") != "sleep\n":
            time.sleep(0.01)
        assert held((str(lock),)) == (str(lock), f"sleep (process {child.pid})")
        child.kill()
    assert held((str(lock),)) is None, "left by a process that is gone"
    lock.write_text("no number")
    assert held((str(lock),)) is None


def test_b6_a_holder_that_cannot_be_seen_has_a_name_too() -> None:
    assert "outside of this container" in named(0)
    assert "gone" in named(2**22 + 1)
