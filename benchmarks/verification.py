"""What verification costs against its floor, and against thirty ordinary testinfra tests of the same host.

usage: python -m benchmarks.verification [--repeats 5] [--namespace bench-verify]

One simulated host, provisioned with the real race image. The floor is what verification cannot do without:
the recorder over SSH on the host, and once more in a container with the cards. Ours is what `make verify
RACE=never` runs: the playbook and the report. The thirty tests start no container, so beside them stands what
looks at the host alone too: one round trip of the recorder without its commands that start a container, and
the judging of all that it brought.
Each connection is opened anew. Goals are printed; nothing fails where one is missed, only where a run goes
wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.shared.cost import Cost, cost_of, median
from tests.harness.lab import Lab
from tests.harness.plays import ROOT
from verify.manifest import manifest, recorder_argv, recorder_source
from verify.report.layout import RECORDINGS, RUN

FLOOR_GOAL, THIRTY_GOAL = 1.5, 10.0  # issue "Many hosts, few seconds"
THIRTY = ROOT / "benchmarks/yardstick/test_thirty.py"
IMAGE = "gpu-host/race:latest"
HERE = Path(sys.executable).parent


def without_containers() -> dict[str, Any]:
    """Return what is recorded of a host, less the commands that start a container."""
    content = manifest("host")
    kept = [command for command in content["commands"] if command["argv"][:2] != ["docker", "run"]]
    return {**content, "commands": kept}


class Bench:
    """The host, and the ways of looking at it."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.evidence, self.alone = lab, lab.folder / "evidence", lab.folder / "alone"
        self.shared = lab.folder / "state/ssh_config"
        self.single = lab.folder / "state/ssh_config.single"
        lines = self.shared.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if not line.strip().startswith("Control")]
        self.single.write_text("\n".join([*kept, ""]), encoding="utf-8")

    def record(self, argv: list[str]) -> str:
        """Run the recorder on the host over a connection of its own."""
        done = subprocess.run(
            ["ssh", "-F", self.single, self.lab.name, shlex.join(["sudo", *argv])],
            input=recorder_source(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode or not done.stdout.startswith("{"):
            raise SystemExit(f"error: no recording ({done.returncode}): {done.stderr.strip()[-500:]}")
        return done.stdout

    def floor(self) -> None:
        """Record twice, and judge nothing."""
        self.record(recorder_argv("host", IMAGE))
        self.record(recorder_argv("container", IMAGE, "gpu-host-run-floor"))

    def host_alone(self) -> None:
        """Record the host and judge that."""
        folder = self.alone / self.lab.name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.evidence / self.lab.name / RUN, folder / RUN)
        (folder / RECORDINGS["host"]).write_text(self.record(recorder_argv("host", IMAGE)), encoding="utf-8")
        # Without the container's recording it is not proven (1): that is not what is measured here.
        self.run([HERE / "gpu-verify", "report", "--from", self.alone], good={0, 1})

    def ours(self) -> None:
        """Verify as scripts/site.sh does."""
        where = json.dumps({"gpu_verify_evidence_dir": str(self.evidence), "gpu_verify_race": "never"})
        inventory = str(self.lab.inventory)
        playbook = str(ROOT / "playbooks/verify.yml")
        self.run([HERE / "ansible-playbook", "-i", inventory, playbook, "-e", where])
        self.run([HERE / "gpu-verify", "report", "--from", self.evidence])

    def thirty(self, config: Path) -> None:
        """Run the tests, which must pass."""
        options = [f"--hosts=ssh://{self.lab.name}", f"--ssh-config={config}", "--sudo"]
        said = self.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", THIRTY, *options])
        if "30 passed" not in said:
            raise SystemExit(f"error: these are not thirty tests: {said[-500:]}")

    def run(self, argv: list[str | Path], good: frozenset[int] | set[int] = frozenset({0})) -> str:
        """Run a command of ours; stop where it ends as it should not."""
        path = f"{HERE}:{os.environ['PATH']}"
        done = subprocess.run(
            argv, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "PATH": path},
        )  # fmt: skip
        if done.returncode not in good:
            raise SystemExit(
                f"error: {argv[0]} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr}"
            )
        return done.stdout

    def disconnect(self) -> None:
        """End the connections that are kept open, so that each way opens its own."""
        for socket in Path.home().glob(f".ansible/cp/gpu-host-{self.lab.namespace}-*"):
            subprocess.run(
                ["ssh", "-O", "exit", "-o", f"ControlPath={socket}", "x"], capture_output=True, check=False
            )


def measure(bench: Bench, repeats: int) -> dict[str, Cost]:
    """Run each way in turn, so often, and return the medians; each once before that, unmeasured."""
    ways: dict[str, Callable[[], None]] = {
        "floor": bench.floor,
        "ours": bench.ours,
        "alone": bench.host_alone,
        "thirty": lambda: bench.thirty(bench.single),
        "shared": lambda: bench.thirty(bench.shared),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in ways}
    for turn in range(repeats + 1):
        for name, way in ways.items():
            bench.disconnect()
            cost = cost_of(way, [bench.lab.container])
            print(f"{name}: {cost}", file=sys.stderr, flush=True)
            if turn:
                costs[name].append(cost)
    return {name: median(several) for name, several in costs.items()}


def cpu(cost: Cost) -> float:
    return cost.controller + cost.hosts


def show(costs: dict[str, Cost], repeats: int) -> None:
    table = Table(title=f"Verifying one host: medians of {repeats}", title_justify="left")
    for heading in ("what", "s", "CPU s here", "CPU s there", "against", "ratio", "of CPU s", "goal"):
        table.add_column(heading, overflow="fold")

    def row(what: str, name: str, against: str = "", other: str = "", goal: float | None = None) -> None:
        cost = costs[name]
        cells = [what, f"{cost.wall:.2f}", f"{cost.controller:.2f}", f"{cost.hosts:.2f}"]
        if other:
            ratio = cost.wall / costs[other].wall
            cells += [against, f"{ratio:.1f}", f"{cpu(cost) / cpu(costs[other]):.1f}"]
        if goal == FLOOR_GOAL:
            cells += [f"at most {goal:g}: {'met' if ratio <= goal else 'MISSED'}"]
        elif goal:
            cells += [f"at least {goal:g}: {'met' if ratio >= goal else 'MISSED'}"]
        table.add_row(*cells)

    row("floor: recorder on the host and in a container", "floor")
    row("ours: the playbook without the race, and the report", "ours", "the floor", "floor", FLOOR_GOAL)
    row("host alone: the recorder without containers, and judging", "alone")
    row("thirty tests, ssh:// as documented", "thirty", "host alone", "alone", THIRTY_GOAL)
    row("thirty tests, ssh:// with ControlMaster", "shared", "host alone", "alone")
    row("thirty tests, ssh:// as documented", "thirty", "ours, all of it", "ours")
    out = Console(highlight=False, width=132)
    out.print(table)
    out.print(
        "The thirty tests start no container; the recorder on the host starts one for each way to a card."
    )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--namespace", default="bench-verify")
    options = parser.parse_args()
    build = [sys.executable, str(ROOT / "tests/standins/build.py")]
    parts = json.loads(subprocess.run(build, capture_output=True, text=True, check=True).stdout)
    lab = Lab(options.namespace, settings={"race_image_archive": parts["race"]["dir"]})
    try:
        lab.make()
        ran = lab.play("provision")
        if ran.status:
            raise SystemExit(f"error: the host could not be provisioned: {ran.why()}")
        costs = measure(Bench(lab), options.repeats)
    finally:
        lab.remove()
    show(costs, options.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
