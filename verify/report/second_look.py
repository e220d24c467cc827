"""The finding of a second look that did not pass: what the suite asked the host after its recording."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from verify.checks import exit_status
from verify.findings import Finding, Layer, Status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SECOND_LOOK = "verify.second-look"
NO_ANSWER, FAILED = "no-answer", "failed"


def no_answer(run: Mapping[str, Any]) -> bool:
    """Whether the host was recorded, and then answered no more."""
    return (run.get("second_look") or {}).get("outcome") == NO_ANSWER


def second_look(run: Mapping[str, Any], findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Say what its findings do not: that it answers no more, or that it answers otherwise than they pass."""
    said = run.get("second_look") or {}
    if not said or (not no_answer(run) and exit_status(findings)):
        return ()
    host = shlex.quote(str(run["host"]))
    detail = str(said.get("detail") or said.get("outcome"))
    if no_answer(run):
        summary = detail
        remedy = f"ssh {host} nvidia-smi  # if this hangs or is refused too, it needs a reboot"
    else:
        summary = f"the recording passes, and the host asked once more did not pass: {detail}"
        remedy = f"make verify LIMIT={host}  # it prints what the host said"
    return (
        Finding(
            id=SECOND_LOOK,
            layer=Layer.HOST,
            status=Status.FAIL,
            summary=summary,
            remedy=remedy,
            evidence=(f"run.json: second_look {said.get('outcome')}",),
        ),
    )
