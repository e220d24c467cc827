"""What ``gpu-verify doctor --recording`` costs: processor seconds, with the start of Python and its imports.

usage: doctor.py [RECORDING…]; without one, the largest of tests/recordings, and healthy ones. Every figure
is the median of several runs, each a process of its own, with the modules compiled by a first one, as every
start but the first finds them (in a cache of the benchmark's own). The goal is 0.5 s; nothing fails where it
is missed.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
GOAL_S = 0.5
RUNS = 7


def environment(cache: str) -> dict[str, str]:
    """Return an environment in which compiled modules are kept, whatever ours says."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": cache}


def cost(argv: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Run one process; return its processor seconds and its wall-clock seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(argv, cwd=ROOT, stdout=subprocess.DEVNULL, check=False, env=env)
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, took


def usual() -> list[Path]:
    """Return the recordings that are measured without being named."""
    found = sorted((ROOT / "tests" / "recordings").glob("*.json"), key=lambda path: path.stat().st_size)
    healthy = [path for path in found if path.name.startswith("healthy-")]
    return list(dict.fromkeys([*healthy[-4:], *found[-2:]]))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("recordings", metavar="RECORDING", type=Path, nargs="*")
    options = parser.parse_args()
    missing = [str(path) for path in options.recordings if not path.is_file()]
    if missing:
        parser.error(f"no such recording: {', '.join(missing)}")
    python = [sys.executable, "-m", "verify.cli"]
    rows: list[tuple[str, list[str]]] = [
        ("python3 that does nothing", [sys.executable, "-c", ""]),
        ("gpu-verify --help", [*python, "--help"]),
    ]
    for path in [path.resolve() for path in options.recordings] or usual():
        name = f"doctor, {path.name} ({path.stat().st_size / 1024:.0f} KiB)"
        rows.append((name, [*python, "doctor", "--recording", str(path)]))
    table = Table(title=f"gpu-verify doctor on a recording: median of {RUNS} runs", title_justify="left")
    for heading in ("what runs", "CPU s", "wall s", f"goal: CPU under {GOAL_S} s"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as cache:
        env = environment(cache)
        for name, argv in rows:
            cost(argv, env)  # compiles what is not compiled yet
            measured = [cost(argv, env) for _ in range(RUNS)]
            cpu, wall = (statistics.median(column) for column in zip(*measured, strict=True))
            goal = "" if "doctor" not in name else "met" if cpu < GOAL_S else "MISSED"
            table.add_row(name, f"{cpu:.2f}", f"{wall:.2f}", goal)
    Console(highlight=False, width=110).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
