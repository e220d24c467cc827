"""What each host costs the controller when there are more of them: a second run, and a verification.

usage: python -m benchmarks.scale [--hosts 1,4,16] [--repeats 3] [--namespace scale]

Simulated hosts of one provisioned state, each with systemd and an engine of its own. They share this machine
with the controller, so wall-clock time says little: the figure to compare is the controller's CPU seconds for
a host. The image that verification starts is a small one with Python, and no PyTorch: the controller's work
is the same, sixteen copies of the real one are not. Goals are printed; nothing fails where one is missed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import docker
from rich.console import Console
from rich.table import Table

from benchmarks.shared.cost import Cost, cost_of, median
from benchmarks.shared.fleet import Fleet
from tests.harness.lab import Lab
from tests.harness.plays import ROOT, Play, Ran, descendants, parents_of_all, play

GROWTH_GOAL, HOST_GOAL = 1.1, 0.5  # issue "Many hosts, few seconds"; ../shared/peers.md: CPU seconds per host
NAME = "gpu-host/race:scale"
THOUSAND, CORES = 1000, 8
SAMPLE_S = 0.25


def archive(folder: Path) -> str:
    """Save the simulated hosts' base system as the image that is verified: small, and with Python."""
    built = subprocess.run(
        [sys.executable, "tests/standins/build.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    engine = docker.from_env()
    image = engine.images.get(json.loads(built.splitlines()[-1])["base"]["image"])
    image.tag(*NAME.split(":"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with (folder / "race-image.tar").open("wb") as file:
            file.writelines(engine.api.get_image(NAME))
    finally:
        engine.images.remove(NAME)
    size = (folder / "race-image.tar").stat().st_size
    note = {"name": NAME, "id": image.id, "bytes": size, "unpacked_bytes": image.attrs["Size"]}
    (folder / "race-image.json").write_text(json.dumps(note), encoding="utf-8")
    return str(folder)


class Bench:
    """The fleet, and what is done on its first so many hosts."""

    def __init__(self, fleet: Fleet, evidence: Path) -> None:
        self.fleet, self.evidence = fleet, evidence

    def limited(self, count: int) -> tuple[str, str]:
        """Return what keeps a playbook to the first so many."""
        return "--limit", ",".join([*self.fleet.names[:count], "localhost"])

    def again(self, count: int) -> None:
        """Run provisioning once more; whatever it changes is an error."""
        whole(play(self.fleet.inventory, "provision", *self.limited(count)), changed=False)

    def verify(self, count: int) -> None:
        """Collect, judge and report, as `make verify RACE=never` does. The verdict fails: no PyTorch."""
        given = {
            "gpu_verify_race": "never",
            "gpu_verify_image": NAME,
            "gpu_verify_evidence_dir": str(self.evidence),
        }
        play(self.fleet.inventory, "verify", *self.limited(count), "-e", json.dumps(given))
        program = [Path(sys.executable).with_name("gpu-verify"), "report", "--from", self.evidence]
        subprocess.run(program, cwd=ROOT, capture_output=True, check=False)
        for name in self.fleet.names[:count]:
            if not (self.evidence / name / "recording-container.json").is_file():
                raise SystemExit(f"error: {self.evidence / name} has no recording of a container.")

    def memory(self, count: int) -> float:
        """Return the most memory, in MB, that the controller's processes held at once in a second run."""
        run = Play(self.fleet.inventory, "provision", *self.limited(count))
        most, ended = 0, threading.Event()

        def sample() -> None:
            nonlocal most
            while not ended.wait(SAMPLE_S):
                most = max(most, sum(map(proportional, descendants(run.process.pid, parents_of_all()))))

        thread = threading.Thread(target=sample)
        thread.start()
        run.end()
        ended.set()
        thread.join()
        return most / 1e6


def proportional(pid: int) -> int:
    """Return a process's memory in bytes, what it shares with others counted in part."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it ended meanwhile
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def whole(ran: Ran, *, changed: bool) -> None:
    if ran.status or bool(ran.changed) != changed:
        raise SystemExit(f"error: the run ended with {ran.status}, changed {ran.changed}: {ran.why()}")


def measured(bench: Bench, counts: list[int], repeats: int) -> dict[str, dict[int, Cost]]:
    """Return the medians by what was done and on how many; the counts in turn, under one load."""
    costs: dict[str, dict[int, list[Cost]]] = {what: {n: [] for n in counts} for what in ("again", "verify")}
    for _ in range(repeats):
        for count in counts:
            for what in costs:
                work = partial(getattr(bench, what), count)
                costs[what][count].append(cost_of(work, bench.fleet.containers(count)))
                print(f"{what} on {count}: {costs[what][count][-1]}", file=sys.stderr, flush=True)
    return {what: {n: median(each) for n, each in by.items()} for what, by in costs.items()}


def show(out: Console, found: dict[str, dict[int, Cost]], memory: dict[int, float], repeats: int) -> None:
    """Print the table, the ratios, and what follows for a thousand hosts."""
    table = Table(title=f"The same state on more hosts: medians of {repeats}", title_justify="left")
    for heading in (
        "what",
        "hosts",
        "s",
        "controller CPU s",
        "for a host",
        "host CPU s for a host",
        "memory MB",
    ):
        table.add_column(heading, overflow="fold")
    titles = {"again": "second run", "verify": "verification, no race"}
    for what, by in found.items():
        for count, cost in by.items():
            table.add_row(
                titles[what], str(count), f"{cost.wall:.1f}", f"{cost.controller:.2f}",
                f"{cost.controller / count:.2f}", f"{cost.hosts / count:.2f}",
                f"{memory[count]:.0f}" if what == "again" else "",
            )  # fmt: skip
    out.print(table)
    for what, by in found.items():
        counts = sorted(by)
        each = {n: by[n].controller / n for n in counts}
        if len(counts) > 1:
            ratio = each[counts[-1]] / each[counts[-2]]
            met = "met" if ratio <= GROWTH_GOAL else "MISSED"
            out.print(
                f"{titles[what]}: a host at {counts[-1]} costs {ratio:.2f} of one at {counts[-2]} "
                f"(at most {GROWTH_GOAL:g}: {met})."
            )
        if what == "again" and counts[-1] >= CORES:
            met = "met" if each[counts[-1]] <= HOST_GOAL else "MISSED"
            out.print(
                f"{titles[what]}: {each[counts[-1]]:.2f} s of CPU for a host (at most {HOST_GOAL:g}: {met})."
            )
        # What more hosts add: the slope between the two largest, not the start that all share.
        few, many = counts[-2] if len(counts) > 1 else 0, counts[-1]
        slope = (by[many].controller - (by[few].controller if few else 0.0)) / (many - few)
        minutes = slope * THOUSAND / CORES / 60
        out.print(
            f"{titles[what]}: {slope:.2f} s of CPU for each further host, so {THOUSAND} hosts keep {CORES} "
            f"cores of a controller busy for {minutes:.1f} min, whatever the forks (projected, not measured)."
        )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", default="1,4,16")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--namespace", default="scale")
    options = parser.parse_args()
    counts = sorted({int(word) for word in options.hosts.split(",")})
    folder = ROOT / ".cache/harness" / f"{options.namespace}-image"
    lab = Lab(options.namespace, settings={"race_image_archive": archive(folder)})
    try:
        lab.make()
        whole(lab.play("provision"), changed=True)
        lab.sh("rm -f /etc/machine-id /var/lib/dbus/machine-id; touch /etc/machine-id")
        lab.keep("provisioned")
        lab.engine.api.remove_container(lab.container, force=True)
        fleet = Fleet(lab, "provisioned", counts[-1])
        fleet.make()
        bench = Bench(fleet, lab.folder / "evidence")
        # Each gets its image; then it is as it should be.
        whole(play(fleet.inventory, "provision", *bench.limited(counts[-1])), changed=True)
        found = measured(bench, counts, options.repeats)
        memory = {count: bench.memory(count) for count in counts}
    finally:
        lab.remove()
    show(Console(highlight=False, width=120), found, memory, options.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
