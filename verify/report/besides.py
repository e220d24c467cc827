"""What no recording shows: provisioning that did not reach its end, a second look that did not pass."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from verify.checks import exit_status
from verify.findings import Finding, Layer, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Run = Mapping[str, Any]

NOT_PROVISIONED = "verify.not-provisioned"
SECOND_LOOK = "verify.second-look"
NO_ANSWER, FAILED = "no-answer", "failed"


def no_answer(run: Run) -> bool:
    """Whether the host was recorded, and then answered no more."""
    return (run.get("second_look") or {}).get("outcome") == NO_ANSWER


def with_besides(run: Run, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Add them: what stopped provisioning is the first thing to read, the second look the last."""
    return (*_not_provisioned(run), *findings, *_second_look(run, findings))


def _not_provisioned(run: Run) -> tuple[Finding, ...]:
    """Say why provisioning ended, of a host that was recorded all the same; it may pass as it was before."""
    said = run.get("provisioning") or {}
    if said.get("outcome") != FAILED or (run.get("collection") or {}).get("outcome", "ok") != "ok":
        return ()
    summary = f"provisioning did not reach its end: {said.get('detail')}"
    remedy = f"make site LIMIT={_host(run)}  # once that is mended"
    return (_finding(NOT_PROVISIONED, summary, remedy, "provisioning failed"),)


def _second_look(run: Run, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Say what its findings do not: that it answers no more, or that it answers otherwise than they pass."""
    said = run.get("second_look") or {}
    detail = str(said.get("detail") or "no detail")
    if no_answer(run):
        remedy = f"ssh {_host(run)} nvidia-smi  # if this hangs or is refused too, it needs a reboot"
        return (_finding(SECOND_LOOK, detail, remedy, f"second_look {NO_ANSWER}"),)
    if said and not exit_status(findings):
        summary = f"the recording passes, and the host asked once more did not pass: {detail}"
        remedy = f"make verify LIMIT={_host(run)}  # it prints what the host said"
        return (_finding(SECOND_LOOK, summary, remedy, f"second_look {FAILED}"),)
    return ()


def _host(run: Run) -> str:
    return shlex.quote(str(run["host"]))


def _finding(name: str, summary: str, remedy: str, line: str) -> Finding:
    evidence = (f"run.json: {line}",)
    return Finding(name, Layer.HOST, Status.FAIL, summary, remedy=remedy, evidence=evidence)
