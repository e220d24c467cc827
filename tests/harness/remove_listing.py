"""Takes a listing of a host, provisions it, removes everything again, and compares with the listing.

usage: python -m tests.harness.remove_listing [--only bare|docker] [--namespace NAME] [--keep]

On a host that had nothing, and on one where the user had Docker, a volume in it and a daemon.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

from tests.harness import users
from tests.harness.lab import Lab
from tests.harness.listing import differences, listing
from tests.harness.table import Table

BARE, DOCKER = "bare", "docker"
# What stays and why: each is said in the README of the role that leaves it.
EITHER = {
    r"files /etc/docker/daemon\.json\..*~": "copies of daemon.json from before each change",
}
LEFT = {
    BARE: {
        r"packages (docker\.io|containerd|docker-ce.*|containerd\.io)": "removed, not purged: a purge would "
        "delete /var/lib/docker and /var/lib/containerd, images and volumes that may be the user's",
        r"files /etc/(containerd|cni)(/.*)?": "configuration of the packages that are not purged",
        r"files /etc/(default|init\.d)/docker|files /etc/rc[0-6S]\.d/[KS][0-9]+docker": "likewise",
        r"files /etc/systemd/system/(multi-user|sockets)\.target\.wants"
        r"(/(containerd\.service|docker\.(service|socket)))?": "likewise: whether they start at boot",
        r"groups docker|files /etc/(group|gshadow)": "the group docker: removing a package leaves groups, "
        "since files may still belong to them",
    },
    DOCKER: {},
}
INSTALL = """
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends docker.io docker-cli iptables > /dev/null
docker volume create users > /dev/null
"""


@dataclass
class Outcome:
    """What is not as it was on one kind of host."""

    host: str
    problems: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def place(lab: Lab, host: str) -> None:
    """Put on the host what its user has."""
    files = dict(users.FILES)
    if host == BARE:
        files = {path: text for path, text in files.items() if "/docker" not in path}
    users.place(lab, files)
    if host == DOCKER:
        lab.sh(INSTALL)


def try_host(lab: Lab, host: str) -> Outcome:
    """Look, provision, remove, look."""
    outcome = Outcome(host)
    lab.make()
    place(lab, host)
    before = listing(lab)
    there = lab.play("provision")
    if there.status:
        outcome.problems.append(f"provisioning fails: {there.why()}")
    if not there.changed:
        outcome.problems.append("provisioning changes nothing, so that there is nothing to remove")
    gone = lab.play("remove")
    if gone.status:
        outcome.problems.append(f"removing fails: {gone.why()}")
    after = listing(lab)
    allowed = [*EITHER, *LEFT[host]]
    outcome.problems += differences(before, after, allowed)
    outcome.left = [line for line in differences(before, after) if line not in outcome.problems]
    once_more = lab.play("remove")
    if once_more.status or once_more.changed:
        outcome.problems.append(f"a second removal: {', '.join(once_more.changed) or once_more.why()}")
    return outcome


def verdict(outcomes: Sequence[Outcome]) -> tuple[int, str]:
    """Return the exit status and the last line; a run without hosts proves nothing."""
    good = sum(not outcome.problems for outcome in outcomes)
    return (0 if outcomes and good == len(outcomes) else 1), f"removals: {good} of {len(outcomes)} as before"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=[BARE, DOCKER])
    parser.add_argument("--namespace", default="harness-remove")
    parser.add_argument("--keep", action="store_true", help="leave the hosts for a look")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    hosts = [options.only] if options.only else [BARE, DOCKER]
    table = Table(("host", 6), ("as before", 9), ("left", 0))
    with ExitStack() as stack, ThreadPoolExecutor(max_workers=len(hosts)) as pool:
        labs = [Lab(f"{options.namespace}-{host}") for host in hosts]
        for lab in labs:
            stack.callback(lab.remove if not options.keep else str)
        outcomes = list(pool.map(try_host, labs, hosts))
    for outcome in outcomes:
        left = f"{len(outcome.left)} documented remains"
        table.row(outcome.host, "NO" if outcome.problems else "yes", left, below=outcome.problems)
    status, line = verdict(outcomes)
    print(f"{line} ({time.monotonic() - start:.0f} s)", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
