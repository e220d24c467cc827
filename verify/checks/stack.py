"""All checks in stack order, and what a failed one does to those above it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from verify.checks import (
    card,
    container,
    driver,
    engine,
    framework,
    host,
    image,
    module,
    race,
    runtime,
    toolkit,
)
from verify.checks.applies import not_here
from verify.findings import Finding, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from verify.checks.check import Check, Verdict
    from verify.facts.state import State

STACK: tuple[Check, ...] = (
    *host.CHECKS,
    *card.CHECKS,
    *module.CHECKS,
    *driver.CHECKS,
    *engine.CHECKS,
    *toolkit.CHECKS,
    *runtime.CHECKS,
    *container.CHECKS,
    *image.CHECKS,
    *framework.CHECKS,
    *race.CHECKS,
)


def judged(state: State, expected: Collection[str]) -> tuple[Finding, ...]:
    """Judge everything; block what rests on a failure, and name the failure at its root."""
    verdicts = {check.id: not_here(state, check.layer) or check.judge(state) for check in STACK}
    roots = _roots(verdicts)
    return tuple(_finding(check, verdicts[check.id], roots[check.id], expected) for check in STACK)


def _roots(verdicts: Mapping[str, Verdict]) -> dict[str, tuple[str, ...]]:
    """Return for each check the failures that block it, lowest in the stack first."""
    needs = {check.id: check.needs for check in STACK}
    order = {check.id: number for number, check in enumerate(STACK)}
    found: dict[str, frozenset[str]] = {}

    def blockers(name: str) -> frozenset[str]:
        if name not in found:
            collected: set[str] = set()
            for need in (*needs[name], *verdicts[name].because):
                above = blockers(need)
                if above and not verdicts[need].final:
                    collected |= above
                elif verdicts[need].status is Status.FAIL and verdicts[need].blocks:
                    collected.add(need)
            found[name] = frozenset(collected)
        return found[name]

    return {name: tuple(sorted(blockers(name), key=order.__getitem__)) for name in needs}


def _finding(check: Check, verdict: Verdict, roots: tuple[str, ...], expected: Collection[str]) -> Finding:
    finding = Finding(
        id=check.id,
        layer=check.layer,
        status=verdict.status,
        summary=verdict.summary,
        expected=verdict.status is Status.FAIL and check.id in expected,
        between=verdict.between,
        remedy=verdict.remedy,
        evidence=verdict.evidence,
    )
    if not roots or verdict.final:
        return finding
    # The culprit that nobody expected comes first: it is the one to look at.
    culprit = next((root for root in roots if root not in expected), roots[0])
    return replace(
        finding,
        status=Status.BLOCKED,
        summary=_unjudged(culprit, verdict),
        expected=all(root in expected for root in roots),
        culprit=culprit,
        between=None,
        remedy=None,
    )


def _unjudged(culprit: str, verdict: Verdict) -> str:
    """Say what blocks it, and what was seen all the same: it may be what somebody else needs to know."""
    seen = "" if verdict.status is Status.SKIP else f"; seen all the same: {verdict.summary}"
    return f"not judged because of {culprit}{seen}"
