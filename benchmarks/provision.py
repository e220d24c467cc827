"""What provisioning costs against the floor, and a second run against the gathering of minimal facts.

usage: python -m benchmarks.provision [--repeats 3] [--namespace bench]

One simulated host, brought back to bare before each cold run. The floor is one shell script over SSH that
installs exactly the packages, and writes exactly the files, that the roles did: made from the host that they
provisioned. Goals are printed; nothing fails where one is missed, only where a run goes wrong.
"""

from __future__ import annotations

import argparse
import base64
import shlex
import sys
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.shared.cost import Cost, cost_of, median, ssh
from tests.harness.lab import Lab
from tests.harness.plays import Ran

COLD_GOAL, COLD_AIM, NO_OP_GOAL = 2.0, 1.4, 2.5  # issue "Many hosts, few seconds": ratios to the floor
PACKAGES = "dpkg-query -W -f='${Package}=${Version}\\n' | sort"
# Where roles write what no package brings; the engine's and apt's own state is not theirs.
WRITTEN = """
find /etc/apt /etc/docker /etc/modules-load.d /etc/modprobe.d /usr/share/keyrings \
  /etc/nvidia-container-toolkit -newer /root/bench-began -type f 2> /dev/null | while read -r file; do
  dpkg-query -S "$file" > /dev/null 2>&1 || echo "$file"
done
"""
FACTS = "- {hosts: gpu_hosts, become: true, gather_facts: true, gather_subset: ['!all', 'min'], tasks: []}\n"
UNREACHABLE = "cp /etc/resolv.conf /root/bench-resolv; echo 'nameserver 127.0.0.1' > /etc/resolv.conf"
REACHABLE = "cat /root/bench-resolv > /etc/resolv.conf"


def good(ran: Ran, *, changed: bool) -> Ran:
    """Return the run, or stop where it is not what is to be measured."""
    if ran.status or bool(ran.changed) != changed:
        raise SystemExit(f"error: the run ended with {ran.status}, changed {ran.changed}: {ran.why()}")
    return ran


def floor_script(lab: Lab, before: set[str]) -> str:
    """Write the script that does the same as the roles did, and checks nothing."""
    packages = sorted(set(lab.sh(PACKAGES).split()) - before)
    files = lab.sh(WRITTEN).split()
    lines = ["export DEBIAN_FRONTEND=noninteractive"]
    first = [
        f for f in files if not f.startswith("/etc/docker")
    ]  # sources and keys before, the engine's file after
    for group, after in ((first, install(packages)), ([f for f in files if f not in first], [])):
        for file in group:
            content = lab.exec(["base64", "-w0", file]).stdout
            lines += [f"mkdir -p {shlex.quote(str(Path(file).parent))}"]
            lines += [f"echo {content} | base64 -d > {shlex.quote(file)}"]
        lines += after
    archive = base64.b64encode(
        Path(lab.settings["race_image_archive"], "race-image.tar").read_bytes()
    ).decode()
    return "\n".join([
        *lines, "nvidia-ctk cdi generate --output=/var/run/cdi/nvidia.yaml > /dev/null 2>&1 || true",
        "systemctl reset-failed docker docker.socket; systemctl restart docker",
        f"echo {archive} | base64 -d | docker load > /dev/null", "docker info > /dev/null",
    ])  # fmt: skip


def install(packages: list[str]) -> list[str]:
    wanted = " ".join(map(shlex.quote, packages))
    return [
        "apt-get update -qq > /dev/null",
        f"apt-get install -y -qq --no-install-recommends {wanted} > /dev/null 2>&1",
    ]


def cold(lab: Lab, repeats: int) -> tuple[list[Cost], list[Cost]]:
    """Measure the roles and the floor in turn, each on a host that was bare."""
    roles, floor, config = [], [], str(lab.folder / "state/ssh_config")
    before = set(lab.sh(PACKAGES).split())
    script = ""
    for _ in range(repeats):
        ssh_ready(lab)
        lab.sh("touch /root/bench-began")
        roles.append(cost_of(lambda: good(lab.play("provision"), changed=True), [lab.container]))
        script = script or floor_script(lab, before)
        ssh_ready(lab)
        floor.append(cost_of(partial(ssh, config, lab.name, script), [lab.container]))
        progress(f"cold: roles {roles[-1]}; floor {floor[-1]}")
    return roles, floor


def ssh_ready(lab: Lab) -> None:
    """Bring the bare host back, and log in once: booting and connecting are neither side's."""
    lab.back("bare")
    ssh(str(lab.folder / "state/ssh_config"), lab.name, "true")


def no_op(lab: Lab, repeats: int) -> tuple[list[Cost], list[Cost], Ran]:
    """Measure the second run, and minimal facts, in turn; the second run once without any repository."""
    lab.back("bare")
    good(lab.play("provision"), changed=True)
    good(lab.play("provision"), changed=False)
    file = lab.folder / "facts.yml"
    file.write_text(FACTS, encoding="utf-8")
    again, facts = [], []
    for _ in range(repeats):
        again.append(cost_of(lambda: good(lab.play("provision"), changed=False), [lab.container]))
        facts.append(cost_of(lambda: good(lab.play(str(file)), changed=False), [lab.container]))
        progress(f"no-op: roles {again[-1]}; facts {facts[-1]}")
    lab.sh(UNREACHABLE)
    offline = good(lab.play("provision"), changed=False)
    lab.sh(REACHABLE)
    return again, facts, offline


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def row(table: Table, what: str, ours: Cost, theirs: Cost, goal: float) -> None:
    ratio = ours.wall / theirs.wall
    cpu = (ours.controller + ours.hosts) / (theirs.controller + theirs.hosts)
    met = "met" if ratio <= goal else "MISSED"
    table.add_row(
        what,
        f"{ours.wall:.2f}",
        f"{theirs.wall:.2f}",
        f"{ratio:.2f}",
        f"{cpu:.2f}",
        f"at most {goal:g}: {met}",
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--namespace", default="bench")
    options = parser.parse_args()
    lab = Lab(options.namespace)
    try:
        lab.make()
        lab.keep("bare")
        roles, floor = cold(lab, options.repeats)
        again, facts, offline = no_op(lab, options.repeats)
    finally:
        lab.remove()
    table = Table(title=f"Provisioning one host: medians of {options.repeats}", title_justify="left")
    for heading in ("what", "s", "floor s", "ratio", "of CPU s", "goal"):
        table.add_column(heading, overflow="fold")
    row(
        table,
        "cold, against a script of the same packages and files",
        median(roles),
        median(floor),
        COLD_GOAL,
    )
    row(table, "second run, against minimal facts", median(again), median(facts), NO_OP_GOAL)
    out = Console(highlight=False, width=110)
    out.print(table)
    tasks, here, least = len(offline.tasks), median(again).controller, median(facts).controller
    out.print(
        f"The second run: {tasks} tasks, none changed, and the same where no name is resolved on the host."
    )
    out.print(f"It takes {here:.2f} s of the controller's CPU (minimal facts: {least:.2f} s).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
