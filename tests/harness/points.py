"""Where a run is killed: worked out from a clean run, whatever tasks the roles have. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.harness.plays import Done

# What is killed. "session" takes the commands on the host along, as a strict logind does at a logout.
PLAYBOOK, SESSION, HOST = "playbook", "session", "host"
# A task shorter than this is not hit in its middle for sure; a long one is hit at several places.
SHORT_S, LONG_S = 0.3, 4.0
INSIDE = (SESSION, PLAYBOOK, HOST)
# Of the points after a task each fourth takes the host down.
AFTER = (PLAYBOOK, PLAYBOOK, PLAYBOOK, HOST)


@dataclass(frozen=True)
class Point:
    """One place: after a changed task (counted from 1), or the share of its time that has passed."""

    changed: int
    task: str
    occurrence: int
    share: float | None
    seconds: float
    how: str

    def __str__(self) -> str:
        where = "after" if self.share is None else f"{self.share:.0%} into"
        return f"{where} {self.task}"


def places(clean: Sequence[Done]) -> list[tuple[int, Done]]:
    """Return the tasks that change something, numbered from 1."""
    return list(enumerate((done for done in clean if done.changed), start=1))


def point(changed: int, done: Done, share: float | None, how: str) -> Point:
    return Point(changed, done.task, done.occurrence, share, (share or 0) * done.seconds, how)


def all_points(clean: Sequence[Done]) -> list[Point]:
    """Return a point after each task that changes something, and points within those that take their time."""
    found = []
    for changed, done in places(clean):
        found.append(point(changed, done, None, AFTER[(changed - 1) % len(AFTER)]))
        shares = () if done.seconds < SHORT_S else (0.5,) if done.seconds < LONG_S else (0.25, 0.5, 0.75)
        for share in shares:
            inside = sum(one.share is not None for one in found)
            found.append(point(changed, done, share, INSIDE[inside % len(INSIDE)]))
    return found


def fixed_points(clean: Sequence[Done]) -> list[Point]:
    """Return three: within the longest installation, after daemon.json, within the toolkit's last change."""

    def of(role: str) -> list[tuple[int, Done]]:
        found = [(changed, done) for changed, done in places(clean) if done.task.startswith(f"{role} : ")]
        if not found:
            raise ValueError(f"the clean run changed nothing in {role}")
        return found

    # An installation: the engine's own, or that of several layers at once.
    longest = max(places(clean), key=lambda place: place[1].seconds, default=None)
    if longest is None:
        raise ValueError("the clean run changed nothing")
    return [
        point(*longest, 0.5, SESSION),
        point(*of("docker_nvidia_runtime")[-1], None, PLAYBOOK),
        point(*of("nvidia_container_toolkit")[-1], 0.5, HOST),
    ]
