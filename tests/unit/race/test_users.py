from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from verify.race import users

if TYPE_CHECKING:
    from pathlib import Path


def processes(proc: Path, namespace: str, parents: dict[int, int]) -> Path:
    (proc / "self/ns").mkdir(parents=True)
    (proc / "self/ns/pid").symlink_to(namespace)
    for pid, parent in parents.items():
        (proc / str(pid)).mkdir()
        (proc / str(pid) / "stat").write_text(f"{pid} (a ) name) S {parent} 1 1 0\n")
    return proc


def test_others_are_those_that_do_not_descend_from_the_race(tmp_path: Path) -> None:
    proc = processes(tmp_path, users.HOST_PIDS, {10: 1, 20: 10, 21: 20, 22: 21, 30: 10})
    assert users.others([20, 22, 30, 30], 20, proc, there=lambda pid: pid != 98) == 1
    assert users.others([20], 20, proc, there=lambda pid: pid != 98) == 0
    assert users.others([], 20, proc, there=lambda pid: pid != 98) == 0
    assert (
        users.others([20, 99, 98], 20, proc, there=lambda pid: pid != 98) == 1
    )  # 99 is hidden from us, as with hidepid; 98 has ended


def test_others_are_unknown_in_a_container_and_where_nothing_is_listed(tmp_path: Path) -> None:
    assert users.others([20], 20, processes(tmp_path / "in", "pid:[4026532999]", {20: 1})) is None
    assert users.others(None, 20, processes(tmp_path / "out", users.HOST_PIDS, {20: 1})) is None
    assert users.others([20], 20, tmp_path / "none") is None


def test_a_child_of_the_race_and_a_child_that_has_just_ended_are_no_others(tmp_path: Path) -> None:
    """Lane cuml calculates in a process of its own, and a script's is over before the last look."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        proc = processes(tmp_path, users.HOST_PIDS, {child.pid: os.getpid(), os.getpid(): 1})
        assert users.others([os.getpid(), child.pid], os.getpid(), proc) == 0
        child.communicate(b"\n")
    assert not users.exists(child.pid)
    assert users.others([child.pid], os.getpid(), tmp_path) == 0
