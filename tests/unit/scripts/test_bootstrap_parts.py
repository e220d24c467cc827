"""What stands behind bootstrap.sh: the table of times, the kind of machine, the lock, the callback."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from plugins.callback.gpu_host_steps import STEPS, step_of
from scripts.bootstrap import lock, machine, steps

ROOT = Path(__file__).resolve().parents[3]
ROLES = [path.name for path in (ROOT / "roles").iterdir()]


def events(*pairs: tuple[float, str]) -> list[tuple[float, str]]:
    return list(pairs)


ONE = events((100, "start"), (101, "waiting"), (111, "setup"), (121, "engine"), (131, "engine"), (141, "end"))


def test_seconds_by_step() -> None:
    assert steps.durations(ONE) == {"look": 1, "waiting": 10, "setup": 10, "engine": 20}


def test_a_run_that_was_killed_and_the_time_until_the_next() -> None:
    killed = events((0, "start"), (0, "engine"), (5, "engine"), (60, "start"), (60, "engine"), (70, "end"))
    assert steps.durations(killed) == {"look": 0, "engine": 15, "interrupted": 55}


def test_a_run_that_failed_and_the_time_until_the_next() -> None:
    failed = events((0, "start"), (0, "engine"), (5, "end"), (60, "start"), (61, "engine"), (70, "end"))
    assert steps.durations(failed) == {"look": 1, "engine": 14, "interrupted": 55}


def test_clocks_of_whole_seconds_beside_exact_ones() -> None:
    """The shell writes whole seconds: a step cannot take less than none."""
    assert steps.durations(events((1.9, "engine"), (1, "image"), (3, "end"))) == {"engine": 0, "image": 2}


def test_lines_that_were_cut_off_are_left_out() -> None:
    assert steps.read("1\tstart\n2.5\tengine\n3.1\ttoo\n\n4\tstart\n5") == [
        (1, "start"), (2.5, "engine"), (4, "start"),
    ]  # fmt: skip
    assert steps.read("x\tengine\n5\t\n5\n\tengine") == []


def test_the_table_and_the_cost() -> None:
    lines = steps.table(ONE, 36.0, "USD", proven=True)
    assert lines[0].split() == ["step", "seconds", "share"]
    assert [line.split()[-2:] for line in lines if line.startswith("engine")] == [["20.0", "49%"]]
    assert lines[-2].startswith("time to ready")
    assert lines[-2].split()[3] == "41.0"
    assert lines[-1] == "cost so far: 0.4100 USD, which is 41 s at 36 USD an hour"


def test_the_race_and_the_workload_come_after_the_proof() -> None:
    more = [*ONE[:-1], (141.0, "race"), (151.0, "workload"), (152.0, "end")]
    lines = steps.table(more, 36.0, "EUR", proven=True)
    assert lines[-2].split()[3] == "41.0"
    assert "52 s" in lines[-1]


def test_what_is_not_proven_is_not_ready() -> None:
    lines = steps.table(ONE, None, "EUR", proven=False)
    assert "not ready yet" in lines[-1]
    assert "time to ready" not in "\n".join(lines)


def test_a_step_without_time_is_no_line() -> None:
    assert "race" not in "\n".join(
        steps.table([(0, "race"), (0.01, "engine"), (2, "end")], None, "", proven=True)
    )


def test_two_runs_are_said() -> None:
    assert "in 2 runs" in steps.table([*ONE, *ONE], None, "EUR", proven=True)[-1]


def test_the_file_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "steps.tsv"
    path.write_text("".join(f"{at}\t{step}\n" for at, step in ONE), encoding="utf-8")
    assert steps.main([str(path), "--price", "0.8", "--currency", "CHF"]) == 0
    assert "CHF" in capsys.readouterr().out


# --- Ansible's callback


def test_every_role_is_a_step_with_a_name() -> None:
    for role in ROLES:
        step = step_of(f"{role} : Whatever it does")
        assert step in steps.NAMES, role


def test_steps_of_the_callback_have_names() -> None:
    assert {step for _, step in STEPS} <= set(steps.NAMES)


@pytest.mark.parametrize(
    ("task", "step"),
    [
        ("host_preflight : Wait for cloud-init and apt-get", "waiting"),
        ("host_preflight : Look at the machine", "look"),
        ("gpu_verify : Race in a container", "race"),
        ("gpu_verify : Judge", "verification"),
        ("nvidia_container_toolkit : At once, the packages: driver, engine, toolkit", "packages"),
        ("nvidia_container_toolkit : The repository, if its key is the expected one", None),
        ("Take back the hosts that failed before", None),
    ],
)
def test_tasks(task: str, step: str | None) -> None:
    assert step_of(task) == step


# --- The kind of machine


def found(kind: str, *, systemd: bool) -> dict[str, Any]:
    return {"kind": kind, "because": "the test says so", "systemd": systemd}


DRIVER: dict[str, Any] = {"works": True, "version": "580.95.05", "origin": "NVIDIA's repository"}
NONE: dict[str, Any] = {"works": False, "says": "nvidia-smi is not installed", "version": None}


@pytest.mark.parametrize(
    ("kind", "systemd", "driver", "wanted"),
    [
        ("rented", True, NONE, "full"),
        ("lab", True, NONE, "full"),
        ("simulated", True, NONE, "full"),
        ("system-container", True, NONE, "full"),
        ("rented", True, DRIVER, "vendor"),
        ("rented-container", False, DRIVER, "bare"),
        ("wsl", True, DRIVER, "bare"),
        ("lab", False, NONE, "bare"),
    ],
)
def test_modes(kind: str, *, systemd: bool, driver: dict[str, Any], wanted: str) -> None:
    mode, words = machine.mode(found(kind, systemd=systemd), driver)
    assert mode == wanted
    assert "the test says so" in words
    assert ("Docker cannot be set up here" in words) == (wanted == "bare")


def test_the_vendor_s_driver_is_named() -> None:
    assert "580.95.05 from NVIDIA's repository" in machine.mode(found("rented", systemd=True), DRIVER)[1]


# --- The lock


def blocks() -> list[tuple[Requirement, list[str]]]:
    text = (ROOT / "scripts/bootstrap/requirements.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.split("\n", 1)[1].strip())
    return [
        (Requirement(entry.partition("\\")[0].strip()), re.findall(r"--hash=sha256:([0-9a-f]{64})", entry))
        for entry in entries
    ]


def test_every_file_has_its_hash() -> None:
    found = blocks()
    assert len(found) > 20
    assert [str(requirement) for requirement, hashes in found if not hashes] == []


def test_versions_are_those_of_the_constraints() -> None:
    """When constraints.txt has changed: ``.venv/bin/python scripts/bootstrap/lock.py``."""
    pins = {(r.name.lower(), str(r.specifier)) for r in constraints()}
    assert {(r.name, str(r.specifier)) for r, _ in blocks()} <= pins


def constraints() -> list[Requirement]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


def test_what_site_needs_is_locked_for_each_python() -> None:
    for python in lock.PYTHONS:
        names = [
            requirement.name
            for requirement, _ in blocks()
            if not requirement.marker or requirement.marker.evaluate({"python_version": python})
        ]
        assert len(names) == len(set(names)), python
        assert {name.lower() for name in lock.WANTED} <= set(names), python


def test_pins_of_one_python() -> None:
    assert "ansible-core==2.19.14" in lock.pins("3.11").splitlines()
    assert "ansible-core==2.21.5" in lock.pins("3.13").splitlines()
    assert ";" not in lock.pins("3.13")
