"""Playbooks run as a person runs them, watched task by task, and killed where a harness says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# What a run printed that did not do what it should.
LOGS = ROOT / ".cache/harness/logs"
# A whole run takes a minute or two, with a kernel module some more; one that takes longer hangs.
LIMIT_S = 1800
POLL_S = 0.01


@dataclass(frozen=True)
class Done:
    """One task that ended: its name, the how manieth of that name it was, and what it did."""

    task: str
    occurrence: int
    action: str
    changed: bool
    seconds: float


@dataclass(frozen=True)
class Ran:
    """One run of a playbook that was not killed: exit status, what was printed, what the events say."""

    status: int
    printed: str
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def tasks(self) -> list[Done]:
        return ended(self.events)

    @property
    def changed(self) -> list[str]:
        return [done.task for done in self.tasks if done.changed]

    @property
    def failures(self) -> list[str]:
        """The messages of what failed; the last one is what the person reads."""
        return [event["msg"] for event in self.events if event["event"] in {"failed", "unreachable"}]

    @property
    def warnings(self) -> list[str]:
        return [warning for event in self.events for warning in event["warnings"]]

    @property
    def waits(self) -> list[str]:
        """What the person saw that was waited for."""
        return [line for line in self.printed.splitlines() if "RETRYING" in line]

    def why(self) -> str:
        """Return the one line that explains a failure."""
        last = (self.failures or [self.printed[-400:]])[-1]
        return " ".join(last.split())[:500]


def ended(events: list[dict[str, Any]]) -> list[Done]:
    """Pair each task's end with its start."""
    started: dict[str, float] = {}
    seen: dict[str, int] = {}
    done = []
    for event in events:
        name = event["task"]
        if event["event"] == "start":
            started[name] = event["time"]
            seen[name] = seen.get(name, 0) + 1
        elif event["event"] == "ok":
            seconds = event["time"] - started.get(name, event["time"])
            done.append(Done(name, seen.get(name, 1), event["action"], event["changed"], seconds))
    return done


def descendants(pid: int, parents: dict[int, int]) -> list[int]:
    """Return a process and all that come from it; a worker of Ansible's is in a session of its own."""
    found = [pid]
    for child in sorted(child for child, parent in parents.items() if parent == pid):
        found += descendants(child, parents)
    return found


def parents_of_all() -> dict[int, int]:
    """Return each process's parent."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it ended meanwhile
    return parents


class Play:
    """A playbook that runs in a session of its own."""

    def __init__(self, inventory: Path, playbook: str, *arguments: str, halt_after: int = 0) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="gh-")
        self.file = Path(self.folder.name, "events")
        self.file.touch()
        self.log = Path(self.folder.name, "log")
        settings = {
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "tests/harness/callback"),
            "ANSIBLE_CALLBACKS_ENABLED": "gpu_host_events",
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_FORCE_COLOR": "0",
            "GPU_HOST_EVENTS": str(self.file),
            "GPU_HOST_HALT_AFTER": str(halt_after),
        }
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [Path(sys.executable).with_name("ansible-playbook"), "-i", inventory,
                 playbook if "/" in playbook else ROOT / "playbooks" / f"{playbook}.yml", *arguments],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, env={**os.environ, **settings},
            )  # fmt: skip

    def events(self) -> list[dict[str, Any]]:
        # The last line may be half written.
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").split("\n")[:-1]]

    def end(self) -> Ran:
        """Wait for the end."""
        try:
            status = self.process.wait(LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            status = -1
        ran = Ran(status, self.log.read_text(encoding="utf-8", errors="replace"), self.events())
        self.folder.cleanup()
        return ran

    def watch(self) -> Iterator[dict[str, Any]]:
        """Yield each event when it comes, until the run ends."""
        seen, until = 0, time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            running = self.process.poll() is None
            events = self.events()
            yield from events[seen:]
            seen = len(events)
            if not running:
                return
            time.sleep(POLL_S)

    def halted(self) -> bool:
        """Wait until the run halts after its changed task; False where it ends before."""
        return self._reaches("halted")

    def started(self, task: str, occurrence: int) -> bool:
        """Wait until the nth task of this name starts; False where it never does."""
        return self._reaches("start", task, occurrence)

    def _reaches(self, kind: str, task: str | None = None, occurrence: int = 1) -> bool:
        seen = 0
        for event in self.watch():
            if event["event"] == kind and task in {None, event["task"]}:
                seen += 1
                if seen == occurrence:
                    return True
        return False

    def kill(self) -> None:
        """SIGKILL to the playbook and everything that came from it."""
        for pid in descendants(self.process.pid, parents_of_all()):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait()


def play(inventory: Path, playbook: str, *arguments: str) -> Ran:
    """Run a playbook to its end."""
    return Play(inventory, playbook, *arguments).end()
