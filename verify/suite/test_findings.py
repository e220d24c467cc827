"""Every finding of every host, from the recordings; and each host's verdict as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from verify.findings import Status

if TYPE_CHECKING:
    from verify.findings import Finding
    from verify.report.model import HostReport


def test_finding(of_host: str, finding: Finding) -> None:
    if finding.status is Status.SKIP:
        pytest.skip(finding.summary)
    if finding.status is Status.BLOCKED:
        # Its culprit is a failure of its own, or an expected one; test_verdict counts them all.
        pytest.skip(f"blocked by {finding.culprit}: {finding.summary}")
    if finding.status is Status.FAIL and finding.expected:
        pytest.xfail(f"expected: {finding.summary}")
    if finding.status is Status.FAIL:
        lines = [f"{of_host}: {finding.id}: {finding.summary}"]
        lines += [f"between {finding.between[0]} and {finding.between[1]}"] if finding.between else []
        lines += [f"next: {finding.remedy}"] if finding.remedy else []
        pytest.fail("\n".join([*lines, *finding.evidence]), pytrace=False)


def test_verdict(report: HostReport) -> None:
    """Counts what single findings cannot: nothing passed, an expected failure that did not occur."""
    if report.failed:
        pytest.fail(f"{report.host}: {report.verdict}", pytrace=False)
