"""The doctor's view of one host: the stack from the machine up, one line a layer, every culprit opened."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from verify.findings import Finding, Layer, Status
from verify.report.model import worst
from verify.text import hang, plain

if TYPE_CHECKING:
    from rich.console import Console

    from verify.report.model import HostReport

STYLE = {
    Status.PASS: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.BLOCKED: "magenta",
    Status.SKIP: "dim",
}
_LAYER, _STATUS, _LABEL = 11, 9, 10
_MEANING = {
    Status.WARN: "warn: it works, and you should know",
    Status.FAIL: "fail: start here",
    Status.BLOCKED: "blocked: not judged, it rests on what fails",
    Status.SKIP: "skip: nobody looked, or there is nothing of the kind here",
}


def print_doctor(host: HostReport, out: Console) -> None:
    """Print the stack from the machine up, one line a layer, with every culprit opened."""
    simulated = " (simulated)" if host.simulated else ""
    out.print(Text.assemble(f"{plain(host.host)}{simulated}: ", (plain(host.verdict), verdict_style(host))))
    for layer in Layer:
        status = worst(host.findings, layer)
        if status is not None:
            _layer(out, status, [finding for finding in host.findings if finding.layer is layer])
    seen = {finding.status for finding in host.findings}
    legend = [meaning for status, meaning in _MEANING.items() if status in seen]
    for line in hang("; ".join(legend), out.width, 4) if legend else ():
        out.print(Text(line if line[0] == " " else f"  {line}", style="dim"), soft_wrap=True)


def verdict_style(host: HostReport) -> str:
    """Return the colour of a verdict: a pass of which most was skipped is not green."""
    if host.failed:
        return STYLE[Status.FAIL]
    return STYLE[Status.WARN] if host.mostly_skipped else STYLE[Status.PASS]


def _layer(out: Console, status: Status, findings: list[Finding]) -> None:
    leading = next(finding for finding in findings if finding.status is status)
    unexpected = [f for f in findings if f.status is Status.FAIL and not f.expected]
    word, summary = status.value, leading.summary
    if unexpected:
        summary = ", ".join(finding.id for finding in unexpected)
    elif leading.status is Status.FAIL:
        word, summary = "expected", f"fails, as was said before: {leading.summary}"
    elif leading.culprit and leading.culprit not in leading.summary:
        summary = f"by {leading.culprit}: {summary}"
    rest = [finding for finding in findings if finding not in (unexpected or [leading])]
    start = 2 + _LAYER + _STATUS
    first, *more = hang(f"{summary}{_others(rest)}", out.width, start)
    head = (
        Text(f"  {leading.layer.value:<{_LAYER}}").append(f"{word:<{_STATUS}}", STYLE[status]).append(first)
    )
    _lines(out, [head, *map(Text, more)])
    for finding in findings:
        if finding in unexpected:
            out.print(Text(f"    {finding.id}", style="bold red"), soft_wrap=True)
            open_finding(out, finding, 6)
        elif finding.status is Status.WARN:
            _warning(out, finding, with_summary=finding is not leading)


def _others(findings: list[Finding]) -> str:
    """Count what stands behind a layer's line: ``(+2 pass, 1 skip)``."""
    counted = Counter(finding.status for finding in findings)
    told = ", ".join(f"{counted[status]} {status.value}" for status in Status if counted[status])
    return f" (+{told})" if told else ""


def _warning(out: Console, finding: Finding, *, with_summary: bool) -> None:
    rows = [("warn", finding.summary)] if with_summary else []
    rows += [("next", finding.remedy)] if finding.remedy else []
    _grid(out, rows, 4, "yellow")


def open_finding(out: Console, finding: Finding, indent: int) -> None:
    """Print what was found, which neighbours disagree, the next step, and the recorded lines behind it."""
    rows = [("found", finding.summary)]
    if finding.between:
        rows.append(("between", f"{finding.between[0].value} and {finding.between[1].value} disagree"))
    if finding.remedy:
        rows.append(("next", finding.remedy))
    rows += [("evidence", line) for line in finding.evidence]
    _grid(out, rows, indent, "dim")


def _grid(out: Console, rows: list[tuple[str, str]], indent: int, style: str) -> None:
    for label, text in rows:
        first, *more = hang(text, out.width, indent + _LABEL)
        head = Text(" " * indent).append(label.ljust(_LABEL), style).append(first)
        _lines(out, [head, *map(Text, more)])


def _lines(out: Console, lines: list[Text]) -> None:
    # Wrapped already: a console that wraps again would cut where it likes.
    out.print(Text("\n").join(lines), soft_wrap=True)
