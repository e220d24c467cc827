"""What no recording shows: a pass is none where provisioning did not end, or the second look did not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.report.helpers import FINDINGS
from verify.findings import Status
from verify.report.besides import NOT_PROVISIONED, SECOND_LOOK, with_besides

if TYPE_CHECKING:
    from verify.findings import Finding

RUN: dict[str, Any] = {"host": "lab 1", "collection": {"outcome": "ok"}}
STOPPED = {"outcome": "failed", "detail": "Storage: /data is full"}
OTHERWISE = {"outcome": "failed", "detail": "one card asked for is one card seen"}
GONE = {"outcome": "no-answer", "detail": "it was recorded, and then did not answer within 90 s"}
PASSING = tuple(f for f in FINDINGS if f.status in (Status.PASS, Status.WARN))


def ids(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.id for finding in findings]


@pytest.mark.parametrize(
    ("more", "first", "last"),
    [
        ({}, PASSING[0].id, PASSING[-1].id),
        ({"provisioning": STOPPED}, NOT_PROVISIONED, PASSING[-1].id),
        ({"second_look": OTHERWISE}, PASSING[0].id, SECOND_LOOK),
        ({"second_look": GONE, "provisioning": STOPPED}, NOT_PROVISIONED, SECOND_LOOK),
        ({"provisioning": STOPPED, "collection": {"outcome": "timed-out"}}, PASSING[0].id, PASSING[-1].id),
    ],
)
def test_they_stand_around_the_findings(more: dict[str, Any], first: str, last: str) -> None:
    found = with_besides(RUN | more, PASSING)
    assert (found[0].id, found[-1].id) == (first, last)
    added = [f for f in found if f.id.startswith("verify.")]
    assert all(f.status is Status.FAIL and f.remedy and "'lab 1'" in f.remedy for f in added)


def test_a_second_look_that_only_says_the_same_again_is_not_said_twice() -> None:
    assert ids(with_besides(RUN | {"second_look": OTHERWISE}, FINDINGS)) == ids(FINDINGS)
    assert ids(with_besides(RUN | {"second_look": GONE}, FINDINGS)) == [*ids(FINDINGS), SECOND_LOOK]


def test_the_reason_stands_in_the_summary() -> None:
    first = with_besides(RUN | {"provisioning": STOPPED}, PASSING)[0]
    assert first.summary == "provisioning did not reach its end: Storage: /data is full"
