"""One host's report from its documents."""

from __future__ import annotations

from typing import Any

from verify.checks import judge
from verify.facts.container import image_facts
from verify.facts.smi import parse_list
from verify.recording import Recording
from verify.report.besides import NO_ANSWER, no_answer, with_besides
from verify.report.model import HostReport

Json = dict[str, Any]


def judge_host(
    run: Json,
    documents: dict[str, Json],
    race: Json | None,
    *,
    container_due: bool = True,
    host_due: bool = True,
) -> HostReport:
    """Draw one host's report; ``container_due`` and ``host_due`` say which recordings belong to it."""
    recordings = {where: Recording.from_document(document) for where, document in documents.items()}
    collection = run.get("collection") or {}
    outcome = str(collection.get("outcome") or "ok")
    detail = collection.get("detail")
    host = recordings.get("host")
    findings = judge(
        host,
        recordings.get("container"),
        race,
        frozenset(run.get("expected") or ()),
        outcome if not detail or outcome == "ok" else f"{outcome}: {detail}",
        container_due=container_due,
        host_due=host_due,
    )
    listed = host.command("nvidia-smi-list") if host else None
    return HostReport(
        host=str(run["host"]),
        simulated=any(recording.simulated for recording in recordings.values()),
        image_digest=run.get("image_digest") or (image_facts(host).id if host else None),
        outcome=NO_ANSWER if no_answer(run) else outcome,
        findings=with_besides(run, findings),
        cards=tuple(card.name or "?" for card in parse_list(listed.stdout if listed else "")),
        race=race,
    )
