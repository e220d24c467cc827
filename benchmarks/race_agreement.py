"""Whether two runs of the race agree: the CPU medians of both, side by side.

usage: race_agreement.py [--budget TIME], with the Python that has torch (make bench finds it, or PYTHON=).

The goal is 5 % on a quiet machine; nothing fails where it is missed. On one that is not quiet the race itself
has to say so: what it says of each lane stands below the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from verify.race.budget import seconds_of
from verify.race.figures import duration
from verify.race.words import text

ROOT = Path(__file__).resolve().parent.parent
GOAL = 0.05
ROW = "{:<10} {:<10} {:>10} {:>10} {:>11}  {}"


def race(budget: str) -> dict[str, Any] | str:
    """Run the race once in a process of its own; return its document, or why there is none."""
    argv = [sys.executable, "-m", "verify.race", "--out", "-", "--budget", budget, "--only", "network,fraud"]
    kept = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *([kept] if kept else [])])}
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    try:
        document: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return f"exit status {done.returncode}, it said last: {last}"
    return document


def cpu_lanes(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the CPU lanes by contestant and name."""
    return {
        (contestant["name"], lane["name"]): lane
        for contestant in document["contestants"]
        for lane in contestant["lanes"]
        if lane["device"] == "cpu"
    }


def row(name: tuple[str, str], one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return a lane's line."""
    a, b = one["median"], other["median"]
    if a is None or b is None:
        reason = one["reason"] or other["reason"]
        return ROW.format(*name, "-", "-", "-", text(reason) if reason else "no time in one of the runs")
    difference = b / a - 1
    goal = f"goal {GOAL:.0%}: {'met' if abs(difference) <= GOAL else 'MISSED'}"
    return ROW.format(*name, duration(a), duration(b), f"{difference:+.1%}", goal)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Whether two runs of the race agree.")
    parser.add_argument("--budget", default="60s", metavar="TIME", help="of each run (default %(default)s)")
    budget = parser.parse_args().budget
    try:
        seconds_of(budget)
    except ValueError as error:
        parser.error(f"--budget: {error}")
    runs: list[dict[str, Any]] = []
    for _ in range(2):
        found = race(budget)
        if isinstance(found, str):
            print(f"no agreement was measured: a run of the race gave no document: {found}")
            return 1
        runs.append(found)
    one, other = (cpu_lanes(found) for found in runs)
    cpu = runs[0]["cpu"]
    print(f"two runs of the race, {budget} each: CPU medians on {cpu['model']}, {cpu['threads']} threads")
    print(ROW.format("contestant", "lane", "first", "second", "difference", ""))
    for name, lane in one.items():
        print(row(name, lane, other[name]))
    for k, lanes in enumerate((one, other), start=1):
        for name, lane in lanes.items():
            for warning in lane["warnings"]:
                print(f"run {k}, {name[0]}, {name[1]}: {text(warning)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
