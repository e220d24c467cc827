"""What opens below a host: what to do next, what was found, what nvidia-smi printed, where the files are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.findings import Finding, Status
from verify.fleet.words import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verify.fleet.drift import Reference
    from verify.fleet.member import FleetHost

_LONGEST = 180
_WHERE = {"container": "as it ran in a container", "host": "as it ran on the host itself"}


def summary(host: FleetHost) -> str:
    """Return the line that opens it: the verdict, and the finding to start with."""
    first = host.leading
    if first is None:
        return safe(host.report.verdict)
    said = " ".join(first.summary.split())
    said = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
    return f"{safe(host.report.verdict)}: <b>{safe(first.id)}</b> {safe(said)}"


def detail(host: FleetHost, drifts: dict[str, Reference]) -> str:
    """Return all of it; the checks that pass are added by the script, from texts that all hosts share."""
    parts = [_steps(host), *(_open(finding) for finding in _told(host)), _blocked(host)]
    parts += [f"<p>{safe(line)}</p>" for line in (_drifts(drifts), _race(host)) if line]
    return f'<div class="in">{"".join(parts)}{_rest(host)}{_smi(host)}{_files(host)}</div>'


def _steps(host: FleetHost) -> str:
    items = "".join(f"<li><pre>{safe(step)}</pre></li>" for step in host.steps)
    return f"<h3>What to do next</h3><ol>{items}</ol>" if items else ""


def _told(host: FleetHost) -> Iterable[Finding]:
    return (*host.report.culprits, *host.report.remarks)


def _open(finding: Finding) -> str:
    status = "expected failure" if finding.expected else finding.status.value
    parts = [f"<p>{safe(finding.summary)}</p>"]
    if finding.between:
        low, high = finding.between
        parts.append(f"<p>{low.value} and {high.value} disagree</p>")
    parts += [f"<p>next:</p><pre>{safe(finding.remedy)}</pre>"] if finding.remedy else []
    seen = "\n".join(finding.evidence)
    parts += [f"<p>seen in:</p><pre>{safe(seen)}</pre>"] if seen else []
    return f"<h3>{safe(finding.id)}: {status} ({finding.layer.value})</h3>{''.join(parts)}"


def _blocked(host: FleetHost) -> str:
    found: dict[str, list[str]] = {}
    for finding in host.report.findings:
        if finding.status is Status.BLOCKED:
            found.setdefault(finding.culprit or "?", []).append(finding.id)
    return "".join(
        f"<p>blocked by {safe(culprit)}: {safe(', '.join(names))}</p>" for culprit, names in found.items()
    )


def _drifts(drifts: dict[str, Reference]) -> str:
    said = [f"{field} should be {one.value} ({one.said})" for field, one in drifts.items()]
    return f"drifts: {'; '.join(said)}" if said else ""


def _race(host: FleetHost) -> str:
    return f"race: {host.report.sentence}" if host.report.sentence else ""


def _rest(host: FleetHost) -> str:
    """Count what is not opened here; the script puts the checks in its place."""
    statuses = [finding.status for finding in host.report.findings]
    counted = [
        f"{statuses.count(kind)} {kind.value}" for kind in (Status.PASS, Status.SKIP) if kind in statuses
    ]
    if not counted:
        return ""
    link = f'<a href="{host.folder}/findings.json">findings.json</a>'
    return f'<h3>The other checks: {", ".join(counted)}</h3><p class="rest">each is in {link}</p>'


def _smi(host: FleetHost) -> str:
    if host.smi is None:
        return "<h3>nvidia-smi</h3><p>not recorded</p>"
    text, where = host.smi
    # A line feed right behind <pre> is not shown: this one is ours, so that the text keeps its own.
    heading = f"<h3>nvidia-smi, {_WHERE.get(where, safe(where))}</h3>"
    return f'{heading}<pre class="smi" tabindex="0">\n{safe(text)}</pre>'


def _files(host: FleetHost) -> str:
    names = ["findings.json", "junit.xml", "gpu-host.prom", "run.json"]
    names += ["race.html", "race.md"] if host.report.race is not None else []
    links = " ".join(f'<a href="{host.folder}/{name}">{name}</a>' for name in names)
    return f"<p>{safe('files')}: {links}</p>"
