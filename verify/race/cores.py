"""How many cores the CPU lanes may use, and that they use them: affinity, the container's quota, threads."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verify.race.libraries import Libraries

ROOT = Path("/")


def affinity() -> set[int] | None:
    """Return the cores that the system schedules this process on; None where it does not say, as on macOS."""
    try:
        return set(os.sched_getaffinity(0))
    except AttributeError:
        return None


def quota(root: Path = ROOT) -> float | None:
    """Return how many cores' time the control groups allow: the least of the process's group and those above.

    In a container the group's path may be the host's, which is not there: then the mount's root is its group.
    """
    limits = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            limits += [_v2(folder) for folder in _upwards(root / "sys/fs/cgroup", path)]
        elif "cpu" in controllers.split(","):
            for mount in ("cpu", "cpu,cpuacct", "cpuacct,cpu"):
                limits += [_v1(folder) for folder in _upwards(root / "sys/fs/cgroup" / mount, path)]
    return min((limit for limit in limits if limit is not None), default=None)


def physical(cores: set[int] | None, root: Path = ROOT) -> int | None:
    """Return how many of these are cores of their own and not a second thread of one; None where unknown."""
    if cores is None:
        return None
    siblings = set()
    for core in cores:
        said = _text(root / f"sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").strip()
        if not said:
            return None
        siblings.add(said)
    return len(siblings)


def usable(root: Path = ROOT) -> int:
    """Return the cores that this process may use: those of its affinity, as many as its quota pays for."""
    cores, paid = affinity(), quota(root)
    mine = len(cores) if cores else count()
    return mine if paid is None else max(1, min(mine, math.ceil(paid)))


def count() -> int:
    """Return how many cores the machine has."""
    return os.cpu_count() or 1


def threads(root: Path = ROOT) -> int:
    """Return how many threads the CPU lanes calculate with: one a core, as the libraries' own default is.

    A core's second hardware thread adds nothing to a matrix product, whose arithmetic units it shares.
    """
    own = physical(affinity(), root)
    return usable(root) if own is None else max(1, min(own, usable(root)))


@contextlib.contextmanager
def all_cores(libraries: Libraries, number: int) -> Iterator[None]:
    """Let torch and the libraries below scikit-learn calculate with so many threads; as before afterwards."""
    with contextlib.ExitStack() as stack:
        if "torch" in libraries:
            torch = libraries["torch"]
            before = torch.get_num_threads()
            torch.set_num_threads(number)
            stack.callback(torch.set_num_threads, before)
        if "sklearn" in libraries:
            stack.enter_context(_pools(number))
        yield


def effective(libraries: Libraries, library: str) -> int | None:
    """Return how many threads a library calculates with now, as it says itself; None where it does not."""
    if library == "torch" and "torch" in libraries:
        return int(libraries["torch"].get_num_threads())
    if library == "sklearn" and "sklearn" in libraries:
        try:
            pools = importlib.import_module("threadpoolctl").threadpool_info()
        except ImportError:
            return None
        return max((int(pool["num_threads"]) for pool in pools), default=None)
    return None


def _pools(number: int) -> Any:  # noqa: ANN401  # threadpoolctl comes with scikit-learn
    try:
        return importlib.import_module("threadpoolctl").threadpool_limits(limits=number)
    except ImportError:
        return contextlib.nullcontext()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _upwards(mount: Path, path: str) -> list[Path]:
    names = [name for name in path.split("/") if name not in {"", ".", ".."}]
    return [mount.joinpath(*names[:depth]) for depth in range(len(names) + 1)]


def _v2(folder: Path) -> float | None:
    words = _text(folder / "cpu.max").split()
    return _cores(*words[:2]) if len(words) > 1 else None


def _v1(folder: Path) -> float | None:
    return _cores(_text(folder / "cpu.cfs_quota_us").strip(), _text(folder / "cpu.cfs_period_us").strip())


def _cores(allowed: str, period: str) -> float | None:
    """Return microseconds per period as cores; "max" and -1 are no limit."""
    if not allowed.isdigit() or not period.isdigit() or not int(period):
        return None
    return int(allowed) / int(period) or None
