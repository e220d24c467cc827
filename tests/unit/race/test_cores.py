"""What the CPU lanes may use, on trees of files as containers and machines have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.race import fakes
from verify.race import cores

if TYPE_CHECKING:
    from pathlib import Path


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


V2 = "0::/a/b\n"
V1 = "12:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n"


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, None),
        ({"proc/self/cgroup": V2}, None),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 1.5),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}, None),
        (
            {"proc/self/cgroup": V2, "sys/fs/cgroup/a/b/cpu.max": "400000 100000\n",
             "sys/fs/cgroup/a/cpu.max": "200000 100000\n"},
            2.0,
        ),
        ({"proc/self/cgroup": "0::/../..\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 0.5),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/cpu.max": "odd\n"}, None),
        ({"proc/self/cgroup": V2, "sys/fs/cgroup/a/cpu.max": "100 0\n"}, None),
        (
            {"proc/self/cgroup": V1, "sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us": "300000\n",
             "sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us": "100000\n"},
            3.0,
        ),
        (
            {"proc/self/cgroup": V1, "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "250000\n",
             "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
            2.5,
        ),
        (
            {"proc/self/cgroup": V1, "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
             "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"},
            None,
        ),
    ],
    ids=[
        "nothing told", "no limit file", "v2 in a container", "v2 unlimited", "v2 a group above is tighter",
        "v2 outside the namespace", "v2 odd", "v2 no period", "v1", "v1 in a container", "v1 unlimited",
    ],
)  # fmt: skip
def test_quota(tmp_path: Path, files: dict[str, str], quota: float | None) -> None:
    assert cores.quota(put(tmp_path, files)) == quota


@pytest.fixture
def eight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "affinity", lambda: set(range(8)))
    monkeypatch.setattr(cores, "count", lambda: 64)


def siblings(pairs: int) -> dict[str, str]:
    return {
        f"sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list": (
            f"{core % pairs},{core % pairs + pairs}\n"
        )
        for core in range(pairs * 2)
    }


@pytest.mark.usefixtures("eight")
@pytest.mark.parametrize(
    ("quota", "threads_of_a_core", "usable", "threads"),
    [
        (None, None, 8, 8),
        (None, 2, 8, 4),
        ("250000 100000", None, 3, 3),
        ("250000 100000", 2, 3, 3),
        ("50000 100000", 2, 1, 1),
        ("9900000 100000", 2, 8, 4),
    ],
)
def test_threads_are_cores_as_many_as_the_quota_pays_for(
    tmp_path: Path, quota: str | None, threads_of_a_core: int | None, usable: int, threads: int
) -> None:
    files = {"proc/self/cgroup": "0::/\n", **({"sys/fs/cgroup/cpu.max": quota} if quota else {})}
    files |= siblings(4) if threads_of_a_core else {}
    put(tmp_path, files)
    assert (cores.usable(tmp_path), cores.threads(tmp_path)) == (usable, threads)


def test_a_system_that_tells_no_affinity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cores, "affinity", lambda: None)
    monkeypatch.setattr(cores, "count", lambda: 12)
    assert (cores.usable(tmp_path), cores.threads(tmp_path)) == (12, 12)


def test_all_cores_are_used_and_given_back() -> None:
    found = fakes.libraries(fakes.torch("2"))
    torch = found["torch"]
    seen = []

    def lane() -> None:
        with cores.all_cores(found, 7):
            seen.append(torch.get_num_threads())
            raise RuntimeError("in a lane")

    with pytest.raises(RuntimeError, match="in a lane"):
        lane()
    assert (seen, torch.get_num_threads()) == ([7], 4)
