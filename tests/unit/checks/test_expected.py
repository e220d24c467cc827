"""Expected findings, a host without a recording, and the exit status."""

from __future__ import annotations

import pytest

from tests.unit.checks.cases import CPU_BUILD, Machine, document
from verify.checks import CHECK_IDS, EXPECTED_MISSING, NO_RECORDING, exit_status, judge
from verify.findings import Finding, Layer, Status
from verify.recording import Recording


def _finding(status: Status, *, expected: bool = False) -> Finding:
    return Finding("x.y", Layer.HOST, status, "…", expected=expected)


@pytest.mark.parametrize(
    ("findings", "status"),
    [
        ([_finding(Status.PASS)], 0),
        ([_finding(Status.PASS), _finding(Status.WARN), _finding(Status.SKIP)], 0),
        ([_finding(Status.PASS), _finding(Status.FAIL)], 1),
        ([_finding(Status.PASS), _finding(Status.FAIL, expected=True)], 0),
        ([_finding(Status.PASS), _finding(Status.BLOCKED, expected=True)], 0),
        ([_finding(Status.PASS), _finding(Status.BLOCKED)], 1),
        ([_finding(Status.SKIP), _finding(Status.WARN)], 1),
        ([], 1),
    ],
)
def test_exit_status(findings: list[Finding], status: int) -> None:
    assert exit_status(findings) == status


def test_an_unexpected_failure_is_the_culprit_even_beside_an_expected_one() -> None:
    machine = Machine("simulated")
    machine.host = document("toolkit-skew")
    cudnn = machine.judge()["framework.cudnn"]
    assert (cudnn.status, cudnn.culprit, cudnn.expected) == (Status.BLOCKED, "toolkit.one-version", False)


def test_an_expected_failure_that_did_not_happen_fails() -> None:
    machine = Machine("lab")
    machine.expected = (CPU_BUILD,)
    finding = machine.judge()[EXPECTED_MISSING]
    assert finding.status is Status.FAIL
    assert CPU_BUILD in finding.summary
    assert exit_status(machine.judge().values()) == 1


def test_an_expected_id_that_no_check_has_fails() -> None:
    machine = Machine("simulated")
    machine.expected = (CPU_BUILD, "framework.cpubuild")
    finding = machine.judge()[EXPECTED_MISSING]
    assert "framework.cpubuild (no such check)" in finding.summary
    assert f"{CPU_BUILD} (" not in finding.summary


def test_an_expected_failure_that_could_not_be_judged_is_not_missing() -> None:
    machine = Machine("simulated")
    machine.host = document("engine-stopped")
    machine.container = machine.race = None
    assert EXPECTED_MISSING not in machine.judge()


def test_an_expected_failure_that_was_not_recorded_is_missing() -> None:
    machine = Machine("simulated")
    machine.expected = ("host.system",)
    machine.files.pop("/etc/os-release")
    assert machine.judge()[EXPECTED_MISSING].status is Status.FAIL


@pytest.mark.parametrize("outcome", ["unreachable", "timed-out: the deadline of 60 s passed", "failed", "ok"])
def test_a_host_without_a_recording_is_a_failure(outcome: str) -> None:
    (finding,) = judge(None, None, None, (CPU_BUILD,), outcome)
    assert (finding.id, finding.status) == (NO_RECORDING, Status.FAIL)
    assert outcome in finding.summary
    assert exit_status([finding]) == 1


def test_a_container_alone_is_judged_and_the_missing_host_is_said() -> None:
    inside = Recording.from_document(document("healthy-lab-container"))
    found = {f.id: f for f in judge(None, inside, None)}
    assert found[NO_RECORDING].status is Status.FAIL
    assert found["framework.kernel"].status is Status.PASS
    assert found["driver.answers"].status is Status.SKIP
    assert "a recording of a container, and none of this host" in found[NO_RECORDING].summary


def test_a_container_alone_that_somebody_gave_owes_no_host() -> None:
    inside = Recording.from_document(document("healthy-lab-container"))
    found = judge(None, inside, None, host_due=False)
    assert (found[0].id, found[0].status, found[0].remedy) == (NO_RECORDING, Status.SKIP, None)
    assert "only a container's recording was given" in found[0].summary
    assert exit_status(found) == 0
    (nothing,) = judge(None, None, None, host_due=False)
    assert nothing.status is Status.FAIL


def test_an_empty_recording_passes_nothing() -> None:
    found = judge(Recording.from_document({"schema": 1, "where": "host"}), None, None)
    assert {f.status for f in found} <= {Status.SKIP, Status.WARN}
    assert exit_status(found) == 1


def test_ids_are_unique() -> None:
    assert len(set(CHECK_IDS)) == len(CHECK_IDS)
