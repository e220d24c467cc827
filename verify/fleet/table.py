"""The table of index.html: a host has a row of figures, and below it a row that opens its evidence."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from verify.findings import Layer, Status
from verify.fleet.detail import detail, summary
from verify.fleet.words import race_cell, safe, short_digest
from verify.report.model import worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from verify.fleet.drift import Comparison, Reference
    from verify.fleet.member import FleetHost

LETTERS = {Status.PASS: "P", Status.WARN: "W", Status.FAIL: "F", Status.BLOCKED: "B", Status.SKIP: "S"}
NOTHING = "-"
_VERSIONS = ("driver", "toolkit", "engine", "image")
_LAYERS = tuple(layer.value for layer in Layer)
_HEADS = (
    *(("host", ""), ("state", "")),
    *((name, ' class="layer"') for name in _LAYERS),
    *(("cards", ""), ("driver version", ""), ("toolkit version", ""), ("engine version", "")),
    *(("image digest", ""), ("race: one training", "")),
)


def host_table(hosts: Sequence[FleetHost], comparison: Comparison) -> str:
    """Return the table; it says its roles, for a narrow screen shows it as blocks and would lose them."""
    heads = "".join(
        f'<th scope="col" role="columnheader"{kind}><span>{name}</span></th>' for name, kind in _HEADS
    )
    bodies = "\n".join(_host(number, host, comparison.of(host.member)) for number, host in enumerate(hosts))
    return (
        '<table id="hosts" role="table" aria-label="Hosts"><thead role="rowgroup"><tr role="row">'
        f"{heads}</tr></thead>\n{bodies}\n</table>"
    )


def _host(number: int, host: FleetHost, drifts: dict[str, Reference]) -> str:
    simulated = " <small>(simulated)</small>" if host.report.simulated else ""
    failed = host.report.failed
    cells = [
        f'<th scope="row" role="rowheader">{safe(host.report.host)}{simulated}</th>',
        f'<td role="cell" class="state{" bad" if failed else ""}" data-n="state">{safe(host.state)}</td>',
        *(_layer(host, layer) for layer in Layer),
        _cell("cards", host.report.card_text if host.recorded else None),
        *(_version(name, host.versions.get(name), drifts.get(name)) for name in _VERSIONS),
        _raced(host),
    ]
    marks = f"{' failed' if failed else ''}{' drifts' if drifts else ''}"
    return (
        f'<tbody role="rowgroup" class="one{marks}"><tr role="row">{"".join(cells)}</tr>'
        f'<tr role="row" class="more"><td role="cell" colspan="{len(_HEADS)}"><details data-h="{number}">'
        f"<summary>{summary(host)}</summary>{detail(host, drifts)}</details></td></tr></tbody>"
    )


def _layer(host: FleetHost, layer: Layer) -> str:
    status = worst(host.report.findings, layer)
    if status is None:
        return f'<td role="cell" class="layer" data-n="{layer.value}">{NOTHING}</td>'
    kind, letter, said = status.value, LETTERS[status], status.value
    fails = [f for f in host.report.findings if f.layer is layer and f.status is Status.FAIL]
    if fails and all(f.expected for f in fails):
        kind, letter, said = "expected", "E", "expected failure"
    return (
        f'<td role="cell" class="layer" data-n="{layer.value}"><b class="{kind} mark" aria-hidden="true">'
        f"{letter}</b><i>{said}</i></td>"
    )


def _cell(name: str, text: str | None) -> str:
    kind = ' class="v"' if name in _VERSIONS else ""
    return f'<td role="cell"{kind} data-n="{name}">{NOTHING if text is None else safe(text)}</td>'


def _version(name: str, found: str | None, other: Reference | None) -> str:
    if found is None or other is None or other.value is None:
        return _cell(name, None if found is None else short_digest(found))
    mark = f'{safe(short_digest(found))} <b><span aria-hidden="true">≠</span><i>differs from</i> '
    return f'<td role="cell" class="v drift" data-n="{name}">{mark}{safe(short_digest(other.value))}</b></td>'


def _raced(host: FleetHost) -> str:
    lines, seconds = race_cell(host.report)
    if not lines:
        return _cell("race", None)
    key = "" if seconds is None else f' data-k="{seconds!r}"'
    return f'<td role="cell" data-n="race"{key}>{"<br>".join(map(safe, lines))}</td>'


def plain_table(label: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as the narrow screen can show it too; its first cells are its rows' heads."""
    head = "".join(f'<th scope="col" role="columnheader">{safe(name)}</th>' for name in heads)
    body = "".join(f'<tr role="row">{_cells(heads, row)}</tr>' for row in rows)
    return (
        f'<table class="plain" role="table" aria-labelledby="{label}"><thead role="rowgroup"><tr role="row">'
        f'{head}</tr></thead><tbody role="rowgroup">{body}</tbody></table>'
    )


def _cells(heads: Sequence[str], row: Sequence[str]) -> str:
    return "".join(
        f'<td role="cell" data-n="{safe(name)}">{safe(cell)}</td>'
        for name, cell in zip(heads, row, strict=True)
    )


def counted(hosts: Sequence[FleetHost], drifting: int) -> str:
    """Count the hosts by how they stand, what is wrong first."""
    states = Counter(host.state for host in hosts)
    order = sorted(states, key=lambda state: (state.startswith("pass"), state))
    parts = ", ".join(f"{states[state]} {state}" for state in order)
    drift = f"; {drifting} drifting" if drifting else ""
    return f"{len(hosts)} host{'s' * (len(hosts) != 1)}: {parts}{drift}"
