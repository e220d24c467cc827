"""What a person sees in the terminal: the fleet's table, and the doctor's view of one host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from verify.findings import Finding, Layer, Status
from verify.race.sentence import seconds
from verify.report.model import HostReport, worst

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.report.model import Fleet

_STYLE = {
    Status.PASS: "green",
    Status.WARN: "yellow",
    Status.FAIL: "bold red",
    Status.BLOCKED: "magenta",
    Status.SKIP: "dim",
}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_PIPE_WIDTH = 120  # a log file has no width of its own


def console() -> Console:
    """Return a console that is readable in a log file as well."""
    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=_PIPE_WIDTH)


def plain(text: str) -> str:
    """Take the control characters out of recorded text: a host must not steer our terminal."""
    return _CONTROL.sub("\ufffd", text)


def print_fleet(fleet: Fleet, out: Console | None = None) -> None:
    """Print one row a host, what was expected or warned of, then each failure with its next step."""
    out = out or console()
    table = Table(title="GPU hosts", title_justify="left", show_lines=True)
    for heading in ("host", "verdict", "cards", "race", "sentence"):
        table.add_column(heading, overflow="fold")
    for host in fleet.hosts:
        table.add_row(
            Text(plain(host.host) + ("\n(simulated)" if host.simulated else "")),
            Text(plain(host.verdict), style="bold red" if host.failed else "green"),
            Text(plain(host.card_text)),
            Text(plain(_race(host))),
            Text(plain(host.sentence)),
        )
    out.print(table)
    for host in fleet.hosts:
        for finding in host.remarks:
            word = "expected" if finding.expected else finding.status.value
            line = f"{plain(host.host)}: {word}: {finding.id}: {plain(finding.summary)}"
            out.print(Text(line, style=_STYLE[Status.WARN]))
        for finding in host.culprits:
            out.print(
                Text(f"{plain(host.host)}: ", style="bold"), Text(f"{finding.id}", style="bold red"), sep=""
            )
            _open(out, finding)


def _race(host: HostReport) -> str:
    if host.race is None:
        return "not run"
    rows = [
        f"{name}: CPU {cpu}, GPU {gpu}" + (f", {ratio} times" if ratio else "")
        for name, cpu, gpu, ratio in race_rows(host.race)
    ]
    return "\n".join(rows) or "no contestant"


def race_rows(race: Mapping[str, Any]) -> list[tuple[str, str, str, str | None]]:
    """Return contestant, fastest CPU lane, card, ratio; what did not run is said, never a number."""
    return [
        (
            str(contestant["name"]),
            _fastest(contestant.get("lanes", []), cuda=False),
            _fastest(contestant.get("lanes", []), cuda=True),
            f"{ratio:.3g}" if isinstance(ratio := contestant.get("ratio"), int | float) else None,
        )
        for contestant in race.get("contestants", [])
    ]


def _fastest(lanes: Sequence[Mapping[str, Any]], *, cuda: bool) -> str:
    mine = [lane for lane in lanes if (lane.get("device", lane["name"]) == "cuda") is cuda]
    medians = [lane["median"] for lane in mine if isinstance(lane.get("median"), int | float)]
    if medians:
        return seconds(min(medians))
    return " and ".join(sorted({str(lane.get("status") or "not measured") for lane in mine})) or "no lane"


def print_doctor(host: HostReport, out: Console | None = None) -> None:
    """Print the stack from the silicon up, one line a layer, with every culprit opened."""
    out = out or console()
    simulated = " (simulated)" if host.simulated else ""
    out.print(
        Text(f"{plain(host.host)}{simulated}: "),
        Text(plain(host.verdict), style="bold red" if host.failed else "green"),
        sep="",
    )
    for layer in Layer:
        status = worst(host.findings, layer)
        if status is not None:
            _layer(out, layer, status, [finding for finding in host.findings if finding.layer is layer])


def _layer(out: Console, layer: Layer, status: Status, findings: list[Finding]) -> None:
    leading = next(finding for finding in findings if finding.status is status)
    word = f"{status.value}, expected" if leading.expected and status is Status.FAIL else status.value
    others = f" (+{len(findings) - 1})" if len(findings) > 1 else ""
    culprit = leading.culprit or ""
    blocked = f"by {culprit}: " if culprit not in leading.summary else ""
    line = Table.grid(padding=(0, 1))
    for width in (10, 14):
        line.add_column(min_width=width, no_wrap=True)
    text = Text(plain(f"{blocked}{leading.summary}{others}"), overflow="fold")
    line.add_row(layer.value, Text(word, style=_STYLE[status]), text)
    out.print(Padding(line, (0, 0, 0, 2)))
    for finding in findings:
        if finding.status is Status.FAIL and not finding.expected:
            out.print(Text(f"    {finding.id}", style="bold red"))
            _open(out, finding)
        elif finding.status is Status.WARN and finding is not leading:
            out.print(Text(plain(f"    warn: {finding.summary}"), style="yellow"))


def _open(out: Console, finding: Finding) -> None:
    rows = [("found", finding.summary)]
    if finding.between:
        rows.append(("between", f"{finding.between[0].value} and {finding.between[1].value}"))
    if finding.remedy:
        rows.append(("next", finding.remedy))
    rows += [("evidence", line) for line in finding.evidence]
    grid = Table.grid(padding=(0, 2))
    for name, text in rows:
        grid.add_row(Text(name, style="dim"), Text(plain(text), overflow="fold"))
    out.print(Padding(grid, (0, 0, 0, 6)))
