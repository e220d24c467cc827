from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from verify.race import surroundings
from verify.race.surroundings import Snapshot, look, warnings
from verify.race.words import text

if TYPE_CHECKING:
    from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
QUIET = Snapshot(at=0.0, busy_s=100.0, own_s=10.0, swapped_bytes=0)


def test_the_counters_are_read(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/stat").write_text(f"cpu  {TICKS} 0 {TICKS} 999999 777 0 0 {TICKS} 5 5\ncpu0 1 2 3\n")
    (tmp_path / "proc/vmstat").write_text("pgfault 9\npswpin 3\npswpout 4\n")
    found = look(tmp_path)
    assert found.busy_s == 3.0, "user, system and stolen; neither idle nor waiting, and no guest twice"
    assert found.swapped_bytes == 7 * os.sysconf("SC_PAGE_SIZE")


def test_a_system_without_them_says_nothing(tmp_path: Path) -> None:
    found = look(tmp_path)
    assert (found.busy_s, found.swapped_bytes) == (None, None)
    assert warnings(found, look(tmp_path), 4) == ()
    assert surroundings.swap_used_mib(tmp_path) is None


def test_this_machines_own_are_read() -> None:
    before, after = look(), look()
    assert before.busy_s is not None
    assert after.busy_s is not None
    assert 0 < before.busy_s <= after.busy_s


@pytest.mark.parametrize(
    ("busy", "own", "cores", "warned"),
    [(120.0, 29.0, 4, False), (130.0, 29.0, 4, True), (130.0, 30.0, 64, False), (125.0, 15.0, 64, False)],
    ids=[
        "all of it was ours",
        "one core's worth was not",
        "half a core of sixty-four",
        "a core of sixty-four",
    ],
)
def test_others_on_the_cpu(busy: float, own: float, cores: int, *, warned: bool) -> None:
    found = warnings(QUIET, Snapshot(10.0, busy, own, 0), cores)
    assert [message["id"] for message in found] == (["cpu-busy"] if warned else [])
    if warned:
        assert "others used 1.1 of 4 cores" in text(found[0])


def test_a_lane_too_short_for_the_kernels_counters_is_not_judged() -> None:
    assert warnings(QUIET, Snapshot(0.1, 200.0, 10.0, 0), 4) == ()


def test_swapping() -> None:
    (found,) = warnings(QUIET, Snapshot(10.0, 100.0, 10.0, 5 * 2**20), 4)
    assert text(found) == "the machine swapped 5 MiB while it was timed: close what else runs"
    assert warnings(QUIET, Snapshot(10.0, 100.0, 10.0, 2**20 - 1), 4) == ()
