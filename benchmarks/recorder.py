"""How long a recording takes: one round trip without the run-* commands, and with every command hanging.

usage: recorder.py [--host USER@HOST [--ssh-config FILE]] [--deadline SECONDS]; without --host, this
machine. That the commands hang is tried here in any case: stand-ins that ignore every signal but the last
go first on PATH. The manifest's deadline (60 s) is shortened to --deadline for it. Goals are printed;
nothing fails where one is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from verify.manifest import manifest, recorder_argv, recorder_source, usage_manifest
from verify.take import ssh_argv

GOAL_S = 3.0
RUNS = 5
_HANGS = "#!/bin/sh\necho $$ >> '{pids}'\ntrap '' TERM INT HUP\nexec sleep 1000\n"


def record(argv: list[str], env: dict[str, str] | None = None) -> tuple[float, dict[str, Any]]:
    """Take one recording; return its wall-clock seconds and the document."""
    began = time.perf_counter()
    done = subprocess.run(
        argv, input=recorder_source(), capture_output=True, encoding="utf-8", env=env, check=False
    )
    took = time.perf_counter() - began
    try:
        document: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        sys.exit(f"no recording: exit status {done.returncode}: {done.stderr.strip()[-300:]}")
    return took, document


def hanging(deadline: float) -> tuple[float, dict[str, Any]]:
    """Record here with a program in front of every one that the manifest starts: it never ends."""
    content = {**manifest("host"), "deadline": deadline}
    with tempfile.TemporaryDirectory() as folder:
        pids = Path(folder) / ".pids"
        pids.touch()
        for command in content["commands"]:
            names = (command["argv"][0], *command.get("needs", []), *command.get("needs_any", []))
            for name in (name for name in names if "/" not in name):
                (Path(folder) / name).write_text(_HANGS.format(pids=pids))
                (Path(folder) / name).chmod(0o755)
        env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        try:
            return record(recorder_argv("host", "no/such:image", content=content), env)
        finally:
            # The recorder does not wait for a clean-up that hangs too; what it killed is gone already.
            for pid in pids.read_text().split():
                if _name(pid) == "sleep":
                    os.kill(int(pid), signal.SIGKILL)


def _name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def counts(document: dict[str, Any]) -> str:
    """Say how the commands of a recording ended."""
    entries = document["commands"].values()
    kinds = {
        "answered": sum("rc" in entry for entry in entries),
        "not installed": sum(entry.get("missing", False) for entry in entries),
        "timed out": sum(entry.get("timed_out", False) for entry in entries),
        "not asked": sum("error" in entry for entry in entries),
    }
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items() if number)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", metavar="USER@HOST")
    parser.add_argument("--ssh-config", type=Path, metavar="FILE")
    parser.add_argument("--deadline", type=float, default=5.0, metavar="SECONDS")
    options = parser.parse_args()
    table = Table(title=f"The recorder: median of {RUNS} round trips", title_justify="left")
    for heading in ("what is recorded", "wall s", "goal", "commands"):
        table.add_column(heading, overflow="fold")
    place = options.host or "this machine"
    for name, content in (
        ("a host, without run-*", manifest("host")),
        ("what --watch asks", usage_manifest()),
    ):
        argv = recorder_argv("host", content=content)
        argv = ssh_argv(options.host, argv, options.ssh_config) if options.host else argv
        runs = [record(argv) for _ in range(RUNS)]
        wall = statistics.median(took for took, _ in runs)
        goal = f"under {GOAL_S:g} s: {'met' if wall < GOAL_S else 'MISSED'}"
        table.add_row(f"{place}: {name}", f"{wall:.2f}", goal, counts(runs[-1][1]))
    took, document = hanging(options.deadline)
    slack = options.deadline + 2
    goal = f"its deadline of {options.deadline:g} s and a moment: {'met' if took < slack else 'MISSED'}"
    table.add_row("this machine: every command hangs", f"{took:.2f}", goal, counts(document))
    Console(highlight=False, width=110).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
