"""What a person sees in the terminal of a fleet: its table, then what failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from verify.console import console
from verify.findings import Status
from verify.race.sentence import seconds
from verify.report.fleet_lines import fleet_lines
from verify.report.stack_view import STYLE, open_finding, verdict_style
from verify.report.standings import HEAD, tables
from verify.report.words import short
from verify.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rich.console import Console

    from verify.facts.usage import UsageFacts
    from verify.report.model import Fleet, HostReport

_HOST = ("host", "verdict", "cards")


def print_fleet(fleet: Fleet, out: Console | None = None) -> None:
    """Print one row a host, what was expected or warned of, then each failure with its next step."""
    out = out or console()
    table = _table("GPU hosts", (*_HOST, "race", "sentence"), show_lines=True)
    for host in fleet.hosts:
        table.add_row(*_row(host), Text(plain(_race(host))), Text(plain(host.sentence)))
    out.print(table)
    for title, rows in tables(fleet.hosts):
        order = _table(title, HEAD)
        for row in rows:
            order.add_row(*(Text(plain(cell)) for cell in row))
        out.print(order)
    _open_hosts(fleet.hosts, out)
    for line in fleet_lines(fleet):
        out.print(Text(plain(line), style=STYLE[Status.WARN]), soft_wrap=True)


def print_hosts(hosts: Sequence[tuple[HostReport, UsageFacts]], out: Console) -> None:
    """Print one row a host with how its cards are used, then each culprit."""
    table = _table("GPU hosts", (*_HOST, "at the moment"), show_lines=True)
    for host, usage in hosts:
        table.add_row(*_row(host), Text("\n".join(short(card) for card in usage.cards) or "no figures"))
    out.print(table)
    _open_hosts([host for host, _ in hosts], out)


def _table(title: str, headings: Iterable[str], *, show_lines: bool = False) -> Table:
    made = Table(title=plain(title), title_justify="left", show_lines=show_lines)
    for heading in headings:
        made.add_column(heading, overflow="fold")
    return made


def _row(host: HostReport) -> tuple[Text, Text, Text]:
    """Return what both tables say of a host first."""
    return (
        Text(plain(host.host) + ("\n(simulated)" if host.simulated else "")),
        Text(plain(host.verdict), style=verdict_style(host)),
        Text(plain(host.card_text)),
    )


def _open_hosts(hosts: Sequence[HostReport], out: Console) -> None:
    for host in hosts:
        for finding in host.remarks:
            word = "expected" if finding.expected else finding.status.value
            line = f"{plain(host.host)}: {word}: {finding.id}: {plain(finding.summary)}"
            out.print(Text(line, style=STYLE[Status.WARN]))
        for finding in host.culprits:
            out.print(
                Text(f"{plain(host.host)}: ", style="bold"), Text(f"{finding.id}", style="bold red"), sep=""
            )
            open_finding(out, finding, 4)


def _race(host: HostReport) -> str:
    if host.race is None:
        return "cannot be read" if host.damage else "not run"
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
