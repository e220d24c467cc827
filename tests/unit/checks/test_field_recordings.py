"""The field cases as recordings: each is judged to be what tests/recordings/verdicts says."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.unit.checks.cases import RECORDINGS
from tests.unit.checks.test_recordings import SOUND, VERDICTS
from verify.checks import judge
from verify.findings import Finding, Status
from verify.recording import Recording, load

Row = dict[str, Any]
ROWS: list[Row] = [
    row
    for path in sorted(RECORDINGS.glob("verdicts/*.yml"))
    for row in yaml.safe_load(path.read_text(encoding="utf-8")) or []
]
SICK = [row for row in ROWS if row["case"] != "healthy"]
HEALTHY = [row for row in ROWS if row["case"] == "healthy"]


def name(row: Row) -> str:
    return str(row["recordings"][0])


def judged(row: Row) -> dict[str, Finding]:
    by_where: dict[str, Recording] = {}
    for one in row["recordings"]:
        recording = load(RECORDINGS / f"{one}.json")
        assert recording.where not in by_where
        by_where[recording.where] = recording
    findings = judge(
        by_where.get("host"),
        by_where.get("container"),
        None,
        row.get("expected", []),
        container_due="container" in by_where,
    )
    # Only a host's recording may be absent: a container's alone is judged for what it holds.
    return {finding.id: finding for finding in findings if finding.id != "verify.no-recording"}


def failing(findings: dict[str, Finding]) -> set[str]:
    return {f.id for f in findings.values() if f.status is Status.FAIL and not f.expected}


@pytest.mark.parametrize("row", SICK, ids=name)
def test_the_culprit_is_named(row: Row) -> None:
    findings = judged(row)
    found = findings[row["id"]]
    assert (found.layer.value, found.status.value) == (row["layer"], row["status"]), found
    for word in row["summary"]:
        assert word in found.summary
    for word in row["remedy"]:
        assert found.remedy is not None
        assert word in found.remedy
    assert found.evidence
    blamed = {row["id"]} if row["status"] == "fail" else set()
    assert failing(findings) == blamed | set(row.get("also", []))


@pytest.mark.parametrize("row", HEALTHY, ids=name)
def test_a_healthy_machine_raises_no_alarm(row: Row) -> None:
    findings = judged(row)
    assert failing(findings) == set()
    assert {f.id for f in findings.values() if f.status is Status.BLOCKED and not f.expected} == set()
    assert {f.id for f in findings.values() if f.status is Status.WARN} == set(row["warns"])
    assert any(f.status is Status.PASS for f in findings.values())


def test_every_recording_has_a_verdict() -> None:
    judged_here = {one for row in ROWS for one in row["recordings"]}
    on_disk = {path.stem for path in RECORDINGS.glob("*.json")}
    assert on_disk == judged_here | set(VERDICTS) | SOUND


def test_the_rows_are_whole() -> None:
    for row in SICK:
        assert {"case", "recordings", "layer", "id", "status", "summary", "remedy"} <= set(row), row
        assert row["summary"], row
        assert row["remedy"], row
        assert name(row).startswith(row["case"].lower() + "-"), row
