"""Makes each external step fail once: what is said, that nothing is lost, and that a run afterwards finishes.

usage: python -m tests.harness.faults [--short] [--only NAME…] [--jobs 2] [--namespace NAME] [--keep]
"""

from __future__ import annotations

import argparse
import re
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

from tests.harness import users
from tests.harness.bad_repo import BadRepo
from tests.harness.fault_cases import BARE, ENGINE, FAULTS, SHORT, Fault
from tests.harness.lab import Lab, LabError
from tests.harness.listing import listing
from tests.harness.plays import LOGS, Ran
from tests.harness.table import Table

# What a person installed: the same packages that the roles would take.
BY_THE_USER = "docker.io docker-cli iptables nvidia-smi libnvidia-ml1 libcuda1"


@dataclass
class Outcome:
    """What became of one fault."""

    fault: Fault
    said: str = ""
    problems: list[str] = field(default_factory=list)
    seconds: float = 0


@dataclass(frozen=True)
class Bench:
    """A host and the repository that misbehaves for it."""

    lab: Lab
    repo: BadRepo


def prepare(lab: Lab) -> Bench:
    """Make a host in both states, and a repository of its own."""
    lab.make()
    repo = BadRepo(lab)
    lab.configure(nvidia_container_toolkit_key_fingerprint=repo.start())
    users.place(lab)
    lab.keep(BARE)
    lab.back(BARE)
    lab.sh(
        "export DEBIAN_FRONTEND=noninteractive; apt-get update -qq; "
        f"apt-get install -y -qq --no-install-recommends {BY_THE_USER} > /dev/null; apt-get clean"
    )
    lab.keep(ENGINE)
    return Bench(lab, repo)


def misread(fault: Fault, ran: Ran) -> list[str]:
    """Say what is wrong with what was said."""
    if fault.fatal and ran.status == 0:
        return ["the run passes over it"]
    if not fault.fatal and ran.status:
        return [f"the run fails: {ran.why()}"]
    said = ran.failures[-1:] if fault.fatal else ran.warnings + ran.waits
    lacking = [
        pattern for pattern in fault.says if not any(re.search(pattern, text, re.IGNORECASE) for text in said)
    ]
    problems = [
        f"the message lacks {pattern}: {' '.join(' '.join(said).split())[:600]}" for pattern in lacking
    ]
    return problems + [f"a stack of calls: {text[-300:]}" for text in said if "Traceback" in text]


def harmed(fault: Fault, before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Say what the failed run took from the user: files, packages, dpkg's order."""
    problems = [
        f"{path} is not what it was"
        for path in users.FILES
        if fault.fatal and after["files"].get(path) != before["files"].get(path)
    ]
    problems += [
        f"package {name}: {was} → {after['packages'].get(name, 'nothing')}"
        for name, was in before["packages"].items()
        if after["packages"].get(name) != was
    ]
    if after["audit"] != before["audit"]:
        problems.append(f"dpkg --audit: {' '.join(after['audit'])}")
    return problems


def try_fault(bench: Bench, fault: Fault) -> Outcome:
    """Break, run, look, heal, run, run."""
    start, outcome = time.monotonic(), Outcome(fault)
    try:
        try_it(bench, fault, outcome)
    except (LabError, APIError, subprocess.SubprocessError) as error:
        # One fault that cannot be tried, or healed, is bad; the others are tried all the same.
        outcome.problems.append(f"could not be tried: {error}")
    outcome.seconds = time.monotonic() - start
    return outcome


def try_it(bench: Bench, fault: Fault, outcome: Outcome) -> None:
    lab = bench.lab
    bench.repo.mode("")
    lab.back(fault.state)
    before_fault = listing(lab)
    fault.do(lab, bench.repo)
    before = listing(lab)
    ran = lab.play("provision", *fault.settings)
    after = listing(lab)
    outcome.said = ran.why() if ran.status else " ".join([*ran.waits[:1], *ran.warnings])
    outcome.problems = misread(fault, ran) + harmed(fault, before, after)
    if outcome.problems:
        LOGS.mkdir(parents=True, exist_ok=True)
        (LOGS / f"{lab.namespace}-{fault.name}.log").write_text(ran.printed, encoding="utf-8")
    fault.lift(lab, bench.repo)
    healed = lab.play("provision")
    if healed.status:
        outcome.problems.append(f"the run after it fails: {healed.why()}")
    else:
        outcome.problems += users.lost(listing(lab), before_fault)
        once_more = lab.play("provision")
        if once_more.status or once_more.changed:
            outcome.problems.append(f"a run more: {', '.join(once_more.changed) or once_more.why()}")


def run(labs: Sequence[Lab], faults: Sequence[Fault]) -> list[Outcome]:
    """Try the faults on the labs side by side."""
    with ThreadPoolExecutor(max_workers=len(labs)) as pool:
        free: SimpleQueue[Bench] = SimpleQueue()
        for bench in pool.map(prepare, labs):
            free.put(bench)
        table = Table(("fault", 20), ("good", 4), ("s", 4), ("said", 0))

        def one(fault: Fault) -> Outcome:
            bench = free.get()
            try:
                outcome = try_fault(bench, fault)
            finally:
                free.put(bench)
            good = "NO" if outcome.problems else "yes"
            table.row(fault.name, good, f"{outcome.seconds:.0f}", outcome.said, below=outcome.problems)
            return outcome

        return list(pool.map(one, faults))


def verdict(outcomes: Sequence[Outcome]) -> tuple[int, str]:
    """Return the exit status and the last line; a run without faults proves nothing."""
    good = sum(not outcome.problems for outcome in outcomes)
    return (0 if outcomes and good == len(outcomes) else 1), f"faults: {good} of {len(outcomes)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help=f"only {', '.join(SHORT)}")
    parser.add_argument("--only", nargs="+", default=[], choices=[fault.name for fault in FAULTS])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--namespace", default="harness-fault")
    parser.add_argument("--keep", action="store_true", help="leave the hosts for a look")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    chosen = options.only or (SHORT if options.short else [fault.name for fault in FAULTS])
    with ExitStack() as stack:
        labs = [Lab(f"{options.namespace}-{number}") for number in range(1, options.jobs + 1)]
        for lab in labs:
            stack.callback(lab.remove if not options.keep else str)
        outcomes = run(labs, [fault for fault in FAULTS if fault.name in chosen])
    status, line = verdict(outcomes)
    print(f"{line} ({time.monotonic() - start:.0f} s)", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
