"""The kernel module that really does not build, and the one that really does, for Debian's own kernel.

usage: python -m tests.harness.dkms [--short] [--namespace NAME] [--keep]

Field case C4. Debian 13 has NVIDIA's 550.163.01 in both flavours: for its own kernel 6.12 the open one fails
to compile, the proprietary one compiles. The host is a container: the kernel that is built for does not run.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from tests.harness.lab import Lab
from tests.harness.listing import differences, listing
from tests.harness.plays import Ran
from tests.harness.remove_listing import EITHER
from tests.harness.table import Table

ROLES = ("host_preflight", "nvidia_driver")
# On Debian the proprietary module is called so, and its DKMS entry too.
BUILT = "nvidia-current"
SETTINGS = {
    "nvidia_driver_source": "distro",
    "nvidia_driver_kernel_module": True,
}
KERNEL = """
apt-get update -qq
apt-cache depends linux-headers-amd64 | sed -n 's/.*Depends: linux-headers-//p' | head -n 1
"""
# What the person must read: the log, its first error with the file it is in, the module, the kernel.
NEEDED = (r"make\.log", r"error: ", r"550\.163\.01")

# depmod and DKMS keep folders of their own; the headers' folder goes with the packages.
LEFT = {
    r"files /usr/lib/modules(/.*)?": "depmod's lists for a kernel that has no modules any more",
    r"groups (clock|input|kvm|render|sgx)": "udev makes them, and Debian's packages leave groups behind",
    r"files /etc/(group|gshadow)": "the same groups",
    r"files /var/lib/dkms(/mok\.(key|pub))?": "the key that DKMS signs modules with: it may be enrolled",
}


@dataclass
class Outcome:
    """What is wrong with one step."""

    step: str
    problems: list[str] = field(default_factory=list)
    seconds: float = 0


def kernel_of(lab: Lab) -> str:
    """Return the kernel that Debian has headers for."""
    return lab.sh(KERNEL).strip()


def status(lab: Lab, kernel: str) -> list[str]:
    """Return the modules that DKMS has built for that kernel."""
    lines = lab.sh("dkms status 2> /dev/null || true").splitlines()
    return [line for line in lines if f"{kernel}," in line and line.rstrip().endswith("installed")]


def broken(lab: Lab, ran: Ran) -> list[str]:
    """Say what dpkg has not configured, unless the message says it too."""
    audit = lab.sh("dpkg --audit").strip()
    if not audit or "dpkg --configure -a" in ran.why():
        return []
    return [f"dpkg --audit, and the message does not say how: {' '.join(audit.split())}"]


def misread(ran: Ran, kernel: str) -> list[str]:
    """Say what the message of the failed build lacks."""
    if ran.status == 0:
        return ["the run passes, with a module that does not build"]
    said = (ran.failures or [""])[-1]
    lacking = [pattern for pattern in (*NEEDED, re.escape(kernel)) if not re.search(pattern, said)]
    return [f"the message lacks {pattern}: {' '.join(said.split())[:900]}" for pattern in lacking]


def fails(lab: Lab, kernel: str) -> list[str]:
    """Ask for the module that does not build; what was built before must stay."""
    before = status(lab, kernel)
    ran = lab.roles(ROLES, nvidia_driver_flavour="open")
    problems = misread(ran, kernel) + broken(lab, ran)
    if status(lab, kernel) != before:
        problems.append(f"dkms status for {kernel}: {before} → {status(lab, kernel)}")
    return problems


def builds(lab: Lab, kernel: str) -> list[str]:
    """Ask for the module that builds; a second time nothing is left to do."""
    ran = lab.roles(ROLES, nvidia_driver_flavour="proprietary")
    if ran.status:
        return [f"the run fails: {ran.why()}"]
    problems = (
        [] if any(line.startswith(BUILT) for line in status(lab, kernel)) else ["dkms status: not installed"]
    )
    if lab.exec(["modinfo", "-k", kernel, BUILT], check=False).returncode:
        problems.append(f"modinfo -k {kernel} does not find {BUILT}")
    once_more = lab.roles(ROLES, nvidia_driver_flavour="proprietary")
    if once_more.status or once_more.changed:
        problems.append(f"a run more: {', '.join(once_more.changed) or once_more.why()}")
    return problems + broken(lab, ran)


def gone(lab: Lab, before: dict[str, Any]) -> list[str]:
    """Remove; nothing of it may be left."""
    ran = lab.roles(ROLES[1:], nvidia_driver_state="absent")
    if ran.status:
        return [f"the removal fails: {ran.why()}"]
    return differences(before, listing(lab), [*EITHER, *LEFT])


def run(lab: Lab, *, short: bool) -> list[Outcome]:
    """Build what fails, and with it what does not."""
    lab.make()
    kernel = kernel_of(lab)
    lab.configure(**SETTINGS, nvidia_driver_kernel=kernel)
    before = listing(lab)
    steps: list[tuple[str, Callable[[], list[str]]]] = [
        ("fails on a bare host", lambda: fails(lab, kernel)),
    ]
    if not short:
        steps += [
            ("builds", lambda: builds(lab, kernel)),
            ("fails, and the older stays", lambda: fails(lab, kernel)),
            ("absent", lambda: gone(lab, before)),
        ]
    table = Table(("build", 26), ("good", 4), ("s", 5), ("kernel", 0))
    outcomes = []
    for name, step in steps:
        start = time.monotonic()
        outcome = Outcome(name, step())
        outcome.seconds = time.monotonic() - start
        good = "NO" if outcome.problems else "yes"
        table.row(name, good, f"{outcome.seconds:.0f}", kernel, below=outcome.problems)
        outcomes.append(outcome)
    return outcomes


def verdict(outcomes: Sequence[Outcome]) -> tuple[int, str]:
    """Return the exit status and the last line; a run without builds proves nothing."""
    good = sum(not outcome.problems for outcome in outcomes)
    return (
        0 if outcomes and good == len(outcomes) else 1
    ), f"builds: {good} of {len(outcomes)} as they should be"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="only the build that fails")
    parser.add_argument("--namespace", default="harness-dkms")
    parser.add_argument("--keep", action="store_true", help="leave the host for a look")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    with ExitStack() as stack:
        lab = Lab(options.namespace)
        stack.callback(lab.remove if not options.keep else str)
        outcomes = run(lab, short=options.short)
    state, line = verdict(outcomes)
    print(f"{line} ({time.monotonic() - start:.0f} s)", flush=True)
    return state


if __name__ == "__main__":
    sys.exit(main())
