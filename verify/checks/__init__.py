"""Facts into findings, pure: a layer's module has the rows of its checks, `stack` puts them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.checks.stack import STACK, judged
from verify.facts.state import state
from verify.findings import Finding, Layer, Status

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from verify.recording import Recording

NO_RECORDING = "verify.no-recording"
EXPECTED_MISSING = "verify.expected-missing"
CHECK_IDS: tuple[str, ...] = (NO_RECORDING, *(check.id for check in STACK), EXPECTED_MISSING)

__all__ = ["CHECK_IDS", "EXPECTED_MISSING", "NO_RECORDING", "exit_status", "judge"]


def judge(
    host: Recording | None,
    container: Recording | None,
    race: Mapping[str, Any] | None,
    expected: Collection[str] = (),
    collection: str = "ok",
    *,
    container_due: bool = True,
    host_due: bool = True,
) -> tuple[Finding, ...]:
    """Judge one host in stack order. Without any recording there is one finding, and it says so.

    ``container_due``, ``host_due``: whether a recording of that kind ought to be there too. A host's that
    is due and missing is a failure; one that nobody owed is said, and its layers are skipped.
    """
    if host is None and container is None:
        return (_no_recording(f"there is no recording of this host (collection: {collection})", collection),)
    findings = judged(state(host, container, race, container_due=container_due), expected)
    missing = _expected_missing(findings, expected)
    first = () if host is not None else (_container_alone(collection, host_due=host_due),)
    return (*first, *findings, *(() if missing is None else (missing,)))


def exit_status(findings: Iterable[Finding]) -> int:
    """0 where something passed and nothing failed unexpectedly; warnings are allowed."""
    seen = tuple(findings)
    bad = any(f.status in (Status.FAIL, Status.BLOCKED) and not f.expected for f in seen)
    return 1 if bad or not any(f.status is Status.PASS for f in seen) else 0


def _container_alone(collection: str, *, host_due: bool) -> Finding:
    if host_due:
        return _no_recording(
            f"there is a recording of a container, and none of this host (collection: {collection})",
            collection,
        )
    return Finding(
        id=NO_RECORDING,
        layer=Layer.HOST,
        status=Status.SKIP,
        summary="only a container's recording was given: the layers of its host were not looked at",
    )


def _no_recording(summary: str, collection: str) -> Finding:
    return Finding(
        id=NO_RECORDING,
        layer=Layer.HOST,
        status=Status.FAIL,
        summary=summary,
        remedy="gpu-verify record --host USER@HOST --out FILE  # it says what is in the way",
        evidence=(f"run.json: collection {collection}",),
    )


def _expected_missing(findings: Iterable[Finding], expected: Collection[str]) -> Finding | None:
    """Report expectations that did not come true; one that was blocked could not be judged."""
    by_id = {finding.id: finding for finding in findings}
    excused = (Status.FAIL, Status.BLOCKED)
    missing = sorted(name for name in set(expected) if name not in by_id or by_id[name].status not in excused)
    if not missing:
        return None
    words = ", ".join(
        f"{name} ({by_id[name].status.value}: {by_id[name].summary})"
        if name in by_id
        else f"{name} (no such check)"
        for name in missing
    )
    return Finding(
        id=EXPECTED_MISSING,
        layer=Layer.HOST,
        status=Status.FAIL,
        summary=f"{len(missing)} findings were expected to fail and did not: {words}",
        remedy=f"take {', '.join(missing)} out of gpu_verify_expected_findings",
        evidence=("run.json: expected " + ", ".join(missing),),
    )
