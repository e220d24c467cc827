"""The judgement on a run with a fault in it: a pass, a wrong word, a loss are failures."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import dkms, faults, test_harnesses, users
from tests.harness.fault_cases import FAULTS, SHORT, Fault, nothing
from tests.harness.plays import Ran

FATAL = Fault("f", nothing, nothing, ("404", "toolkit-repo"))
WARNS = Fault("w", nothing, nothing, ("foreign",), fatal=False)


def ran(status: int, *, failed: str = "", warned: str = "") -> Ran:
    kind = "failed" if failed else "ok"
    warnings = [warned] if warned else []
    event = {
        "event": kind,
        "task": "a",
        "action": "x",
        "changed": False,
        "time": 1.0,
        "msg": failed,
        "warnings": warnings,
    }
    return Ran(status, "printed", [event])


@pytest.mark.parametrize(
    ("fault", "one", "problem"),
    [
        (FATAL, ran(2, failed="http://toolkit-repo:8000 answers 404; do this."), ""),
        (FATAL, ran(0), "passes over it"),
        (FATAL, ran(2, failed="toolkit-repo answers"), "lacks 404"),
        (FATAL, ran(2, failed="404 toolkit-repo\nTraceback (most recent call last)"), "stack"),
        (WARNS, ran(0, warned="foreign.list is broken"), ""),
        (WARNS, ran(0), "lacks foreign"),
        (WARNS, ran(2, failed="foreign"), "the run fails"),
    ],
)
def test_what_is_said_is_judged(fault: Fault, one: Ran, problem: str) -> None:
    found = faults.misread(fault, one)
    assert problem in " ".join(found) if problem else found == []


def state(**values: Any) -> dict[str, Any]:
    return {"files": dict.fromkeys(users.FILES, "x"), "packages": {"a": "1 ii"}, "audit": [], **values}


@pytest.mark.parametrize(
    ("after", "problem"),
    [
        (state(), ""),
        (state(packages={"a": "1 ii", "b": "1 ii"}), ""),
        (state(packages={}), "package a"),
        (state(packages={"a": "1 iF"}), "package a"),
        (state(audit=["half"]), "dpkg --audit"),
        (state(files={}), "daemon.json is not what it was"),
    ],
)
def test_what_is_lost_is_judged(after: dict[str, Any], problem: str) -> None:
    found = faults.harmed(FATAL, state(), after)
    assert problem in " ".join(found) if problem else found == []


def test_no_faults_and_a_bad_one_are_failures() -> None:
    good, bad = faults.Outcome(FATAL), faults.Outcome(FATAL, problems=["x"])
    assert faults.verdict([]) == (1, "faults: 0 of 0")
    assert faults.verdict([good]) == (0, "faults: 1 of 1")
    assert faults.verdict([good, bad]) == (1, "faults: 1 of 2")


def test_each_fault_has_a_name_of_its_own_and_asks_for_words() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names))
    assert set(SHORT) <= set(names)
    assert all(fault.says for fault in FAULTS)


def test_the_test_that_runs_them_carries_their_cases() -> None:
    names = [name.split("_") for name in vars(test_harnesses) if "external_step" in name]
    assert len(names) == 1
    assert {fault.case for fault in FAULTS if fault.case} <= set(names[0])


def test_c4_a_failed_build_is_told_with_its_log_its_error_and_the_kernel() -> None:
    whole = "the module 550.163.01 for 6.12-amd64 does not build: make.log says nv.c:1:2: error: no"
    assert dkms.misread(ran(2, failed=whole), "6.12-amd64") == []
    assert dkms.misread(ran(0), "6.12-amd64")
    assert dkms.misread(ran(2, failed=whole), "6.13-amd64")
    assert dkms.misread(ran(2, failed="apt failed"), "6.12-amd64")
    assert dkms.verdict([])[0] == 1
    assert dkms.verdict([dkms.Outcome("a"), dkms.Outcome("b", ["x"])])[0] == 1
