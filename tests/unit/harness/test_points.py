"""Where a run is killed, and that the harness can fail."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import kill_points, points
from tests.harness.plays import Done, ended


def done(task: str, *, changed: bool = True, seconds: float = 1.0, occurrence: int = 1) -> Done:
    return Done(task, occurrence, "command", changed, seconds)


CLEAN = [
    done("host_preflight : Look", changed=False),
    done("nvidia_driver : Install", seconds=9),
    done("docker_engine : Note", seconds=0.1),
    done("docker_engine : Install", seconds=20),
    done("nvidia_container_toolkit : Install", seconds=2),
    done("nvidia_container_toolkit : Make"),
    done("docker_nvidia_runtime : Register", seconds=2),
]


def test_g7_each_change_has_a_point_after_it_and_long_ones_points_inside() -> None:
    found = points.all_points(CLEAN)
    assert [point.changed for point in found if point.share is None] == [1, 2, 3, 4, 5, 6]
    assert {point.task for point in found} == {one.task for one in CLEAN if one.changed}
    assert [point.share for point in found if point.changed == 1] == [None, 0.25, 0.5, 0.75]
    assert [point.share for point in found if point.changed == 2] == [None]
    assert [point.share for point in found if point.changed == 4] == [None, 0.5]
    assert {point.how for point in found} == {points.PLAYBOOK, points.SESSION, points.HOST}
    assert next(point for point in found if point.share == 0.75).seconds == pytest.approx(6.75)


def test_g7_three_fixed_points_for_each_way_of_killing() -> None:
    found = points.fixed_points(CLEAN)
    assert [str(point) for point in found] == [
        "50% into docker_engine : Install",
        "after docker_nvidia_runtime : Register",
        "50% into nvidia_container_toolkit : Make",
    ]
    assert {point.how for point in found} == {points.PLAYBOOK, points.SESSION, points.HOST}


def test_fixed_points_need_a_run_that_changed_something() -> None:
    with pytest.raises(ValueError, match="changed nothing"):
        points.fixed_points([done("docker_engine : Install", changed=False)])


def test_tasks_of_one_name_are_told_apart() -> None:
    def event(kind: str, time: float, *, changed: bool = False) -> dict[str, Any]:
        return {"event": kind, "task": "a", "action": "x", "changed": changed, "time": time}

    events = [event("start", 1), event("ok", 2), event("start", 3), event("ok", 6, changed=True)]
    assert [(one.occurrence, one.changed, one.seconds) for one in ended(events)] == [
        (1, False, 1),
        (2, True, 3),
    ]


@pytest.mark.parametrize(
    ("problems", "status", "line"),
    [
        ([], 1, "kill points: 0 of 0 converged"),
        ([[]], 0, "kill points: 1 of 1 converged"),
        ([[], ["daemon: lost"]], 1, "kill points: 1 of 2 converged"),
    ],
)
def test_no_points_and_one_that_does_not_converge_are_failures(
    problems: list[list[str]], status: int, line: str
) -> None:
    point = points.point(1, done("a"), None, points.PLAYBOOK)
    outcomes = [kill_points.Outcome(point, found) for found in problems]
    assert kill_points.verdict(outcomes) == (status, line)
