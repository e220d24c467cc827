"""The page that is committed: the fleet's README.md; race.md is the race's own, in verify.race.markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.report.fleet_lines import fleet_lines
from verify.report.standings import HEAD, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from verify.findings import Finding
    from verify.report.model import Fleet, HostReport

_SIMULATED_NOTE = (
    "> **Simulated.** The cards marked so are stand-ins: nothing here is a CUDA result, "
    "or says what a real card is worth."
)


def fleet_page(fleet: Fleet) -> str:
    """Return evidence/README.md: one row a host, then what failed and what to do."""
    failed = sum(host.failed for host in fleet.hosts)
    lines = ["# Evidence", "", f"{len(fleet.hosts)} host(s), {failed} failed.", ""]
    if any(host.simulated for host in fleet.hosts):
        lines += [_SIMULATED_NOTE, ""]
    lines += table(
        ("host", "verdict", "cards", "race", "evidence"),
        (
            (_name(host), host.verdict, host.card_text, host.sentence, f"[{host.host}/]({host.host}/)")
            for host in fleet.hosts
        ),
    )
    lines += ["", *(f"- {_cell(line)}" for line in said)] if (said := fleet_lines(fleet)) else []
    for title, rows in tables(fleet.hosts):
        lines += ["", f"## {title}", "", *table(HEAD, rows)]
    for host in fleet.hosts:
        lines += ["", f"## {_name(host)}", "", f"Verdict: **{_cell(host.verdict)}**"]
        lines += [f"Image: `{host.image_digest}`"] if host.image_digest else []
        lines += _findings(host)
    return "\n".join(lines) + "\n"


def _name(host: HostReport) -> str:
    return host.host + (" (simulated)" if host.simulated else "")


def _findings(host: HostReport) -> list[str]:
    lines = ["", *table(("layer", "check", "status", "found"), (_row(finding) for finding in host.findings))]
    for finding in host.culprits:
        lines += ["", f"### {finding.id}", "", finding.summary]
        if finding.between:
            lines += ["", f"Between: {finding.between[0]} and {finding.between[1]}"]
        if finding.remedy:
            lines += ["", "Next:", "", *(f"    {line}" for line in finding.remedy.splitlines())]
        if finding.evidence:
            lines += [
                "",
                "Seen in:",
                "",
                *(f"    {line}" for text in finding.evidence for line in text.splitlines()),
            ]
    return lines


def _row(finding: Finding) -> tuple[str, ...]:
    status = finding.status.value
    if finding.expected:
        status += ", expected"
    if finding.culprit:
        status += f" by {finding.culprit}"
    return finding.layer.value, f"`{finding.id}`", status, finding.summary


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a markdown table."""
    body = [f"| {' | '.join(_cell(cell) for cell in row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *body]


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
