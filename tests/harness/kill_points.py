"""Kills a provisioning run at each of its changes, runs it again, and compares with a run that nobody killed.

usage: python -m tests.harness.kill_points [--points 3] [--jobs 2] [--namespace NAME] [--keep] [--only N…]

Field case G7, and "Interrupted and repeated" of the issue: a run that was killed leaves nothing that the next
one does not finish, and the user's settings are what they were.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

from docker.errors import APIError

from tests.harness import points, users
from tests.harness.lab import Lab, LabError
from tests.harness.listing import differences, listing, settled
from tests.harness.plays import LOGS, Ran
from tests.harness.points import Point
from tests.harness.table import Table

STATE = "users"
# Two hosts made from one image have these of their own.
OF_EACH_HOST = (r"files /etc/ssh/ssh_host_.*", r"files /etc/machine-id", r"files /etc/gpu-host/.*")
# Everything that belongs to a login: what a strict logind ends with the session.
SESSION_KILL = """
for pid in $(pgrep -u admin) $(pgrep -x sshd-session) $(pgrep -f '^sshd: '); do
  [ "$pid" = "$(cat /run/sshd.pid 2> /dev/null)" ] || todo="$todo $pid"
done
while [ -n "$todo" ]; do
  set -- $todo; todo=
  for pid; do todo="$todo $(pgrep -P "$pid" || true)"; doomed="$doomed $pid"; done
  todo=$(echo $todo)
done
kill -KILL $doomed 2> /dev/null || true
"""


@dataclass
class Outcome:
    """What became of one point."""

    point: Point
    problems: list[str] = field(default_factory=list)
    seconds: float = 0

    @property
    def converged(self) -> bool:
        return not self.problems


@dataclass(frozen=True)
class Clean:
    """A run that nobody killed: its tasks, the host's state afterwards."""

    ran: Ran
    state: dict[str, Any]
    rebooted: dict[str, Any]

    def unlike(self, state: dict[str, Any], how: str) -> list[str]:
        """Return what differs; a host that was taken down is like one that started anew since its run."""
        # What is made at the start (/run is empty then) may name other nodes than what the run itself makes.
        references = [self.state, self.rebooted] if how == points.HOST else [self.state]
        found = [differences(settled(one), settled(state), OF_EACH_HOST) for one in references]
        return min(found, key=len)


def clean_run(lab: Lab) -> Clean:
    """Run once to the end: what fails or loses something unkilled proves nothing here."""
    lab.back(STATE)
    before = listing(lab)
    ran = lab.play("provision")
    if ran.status:
        raise LabError(f"the clean run fails: {ran.why()}")
    state = listing(lab)
    if problems := users.lost(state, before):
        raise LabError(f"the clean run itself loses something: {'; '.join(problems)}")
    lab.kill()
    return Clean(ran, state, listing(lab))


def again(lab: Lab) -> list[str]:
    """Run once more; nothing may be left to do."""
    ran = lab.play("provision")
    if ran.status:
        return [f"a run more fails: {ran.why()}"]
    return [f"a run more changes {', '.join(ran.changed)}"] if ran.changed else []


def interrupt(lab: Lab, point: Point) -> bool:
    """Start a run and kill it at the point; False where the run never came there."""
    halt = point.changed if point.share is None else 0
    running = lab.playing("provision", halt_after=halt)
    reached = running.halted() if halt else running.started(point.task, point.occurrence)
    if reached and point.share is not None:
        time.sleep(point.seconds)
    running.kill()
    running.end()
    if point.how == points.SESSION:
        lab.exec(["sh", "-s"], SESSION_KILL, check=False)
    elif point.how == points.HOST:
        lab.kill()
    return reached


def try_point(lab: Lab, point: Point, clean: Clean) -> Outcome:
    """Kill at one point, run again, compare."""
    start, outcome = time.monotonic(), Outcome(point)
    try:
        try_it(lab, point, clean, outcome)
    except (LabError, APIError, subprocess.SubprocessError) as error:
        # A point that cannot be tried has not converged; the others are tried all the same.
        outcome.problems.append(f"could not be tried: {error}")
    outcome.seconds = time.monotonic() - start
    return outcome


def try_it(lab: Lab, point: Point, clean: Clean, outcome: Outcome) -> None:
    lab.back(STATE)
    before = listing(lab)
    if not interrupt(lab, point):
        outcome.problems.append("the run ended before it came there")
    second = lab.play("provision")
    if second.status:
        outcome.problems.append(f"the next run fails: {second.why()}")
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{lab.namespace}-{point.changed}-{point.share}.log").write_text(
            second.printed, encoding="utf-8"
        )
    state = listing(lab)
    outcome.problems += users.lost(state, before)
    if not second.status:
        outcome.problems += clean.unlike(state, point.how) + again(lab)


def run(labs: Sequence[Lab], *, fixed: bool, only: Sequence[int] = ()) -> list[Outcome]:
    """Try the points on the labs side by side; print each when it is there."""
    with ThreadPoolExecutor(max_workers=len(labs)) as pool:
        list(pool.map(prepare, labs))
        clean = clean_run(labs[0])
        chosen = (points.fixed_points if fixed else points.all_points)(clean.ran.tasks)
        chosen = [point for number, point in enumerate(chosen, 1) if not only or number in only]
        table = Table(("point", 5), ("killed", 8), ("converged", 9), ("s", 4), ("where", 0))
        free: SimpleQueue[Lab] = SimpleQueue()
        for lab in labs:
            free.put(lab)

        def one(point: Point) -> Outcome:
            lab = free.get()
            try:
                outcome = try_point(lab, point, clean)
            finally:
                free.put(lab)
            number = str(chosen.index(point) + 1)
            yes = "yes" if outcome.converged else "NO"
            table.row(number, point.how, yes, f"{outcome.seconds:.0f}", str(point), below=outcome.problems)
            return outcome

        return list(pool.map(one, chosen))


def prepare(lab: Lab) -> None:
    """Make a bare host, put the user's things on it, and keep it so."""
    lab.make()
    users.place(lab)
    lab.keep(STATE)


def verdict(outcomes: Sequence[Outcome]) -> tuple[int, str]:
    """Return the exit status and the last line; a run without points proves nothing."""
    converged = sum(outcome.converged for outcome in outcomes)
    status = 0 if outcomes and converged == len(outcomes) else 1
    return status, f"kill points: {converged} of {len(outcomes)} converged"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, choices=[3], help="three fixed points in place of all")
    parser.add_argument(
        "--only", type=int, nargs="+", default=[], help="of the points, those with these numbers"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--namespace", default="harness-kill")
    parser.add_argument("--keep", action="store_true", help="leave the hosts for a look")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    with ExitStack() as stack:
        labs = [Lab(f"{options.namespace}-{number}") for number in range(1, options.jobs + 1)]
        for lab in labs:
            stack.callback(lab.remove if not options.keep else str)
        outcomes = run(labs, fixed=options.points is not None, only=options.only)
    status, line = verdict(outcomes)
    print(f"{line} ({time.monotonic() - start:.0f} s)", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
