"""index.html: one file with every host. It loads nothing, and can be read without its script."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from verify.findings import Status
from verify.fleet.drift import Comparison, compare
from verify.fleet.member import WAY_ON
from verify.fleet.shared import shared_texts
from verify.fleet.table import LETTERS, NOTHING, counted, host_table, plain_table
from verify.fleet.words import safe
from verify.report.standings import HEAD, tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.fleet.drift import Reference
    from verify.fleet.lock import Lock
    from verify.fleet.member import FleetHost

_HERE = Path(__file__)
STYLE = _HERE.with_name("page.css").read_text(encoding="utf-8")
SCRIPT = _HERE.with_name("page.js").read_text(encoding="utf-8")
_OPEN_UP_TO = 20  # rows that a list may have and still stand open
_SIMULATED = (
    "Simulated: the cards marked so are stand-ins. Nothing of theirs is a CUDA result, "
    "or says what a real card is worth."
)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy() -> str:
    """Return what the page may do: use its own style and script, by their hashes, and nothing else."""
    own = f"style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def index(hosts: Sequence[FleetHost], lock: Lock | None = None) -> str:
    """Return index.html."""
    comparison = compare((host.member for host in hosts), lock)
    drifting = sum(bool(comparison.of(host.member)) for host in hosts)
    simulated = any(host.report.simulated for host in hosts)
    whole = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>GPU hosts: {safe(counted(hosts, drifting))}</title>",
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>GPU hosts</h1>",
        f'<p class="sum">{safe(counted(hosts, drifting))}</p>',
        f'<p class="note">{_SIMULATED}</p>' if simulated else "",
        _way_on(hosts),
        _tools(),
        _legend(),
        host_table(hosts, comparison),
        _drift(comparison, lock),
        _race(hosts),
        "</main>",
        f'<script type="application/json" id="texts">{shared_texts(hosts)}</script>',
        f"<script>{SCRIPT}</script>\n</body>\n</html>\n",
    ]
    return "\n".join(part for part in whole if part)


def _way_on(hosts: Sequence[FleetHost]) -> str:
    failed = sum(host.report.failed for host in hosts)
    return f"<p>To go on with the {failed} that failed: <code>{WAY_ON}</code></p>" if failed else ""


def _tools() -> str:
    """Return the filter; the script shows it, for without the script it would do nothing."""
    return (
        '<form id="tools" role="search" hidden><label>Find <input type="search" id="find" '
        'autocomplete="off"></label><label><input type="checkbox" id="failed"> failed only</label>'
        '<label><input type="checkbox" id="drifting"> drifting only</label>'
        '<output id="shown" aria-live="polite"></output></form>'
    )


def _legend() -> str:
    words = {
        Status.PASS: "pass",
        Status.WARN: "warning",
        Status.FAIL: "fails, start here",
        Status.BLOCKED: "blocked: it rests on what fails",
        Status.SKIP: "skipped: nobody looked, or there is no such thing here",
    }
    items = [
        f'<li><b class="{status.value} mark">{LETTERS[status]}</b> {said}</li>'
        for status, said in words.items()
    ]
    items.insert(3, '<li><b class="expected mark">E</b> fails, as was said before</li>')
    items.append("<li><b>≠</b> drifts from the others, or from the lock file</li>")
    return f'<ul class="legend" aria-label="What the marks mean">{"".join(items)}</ul>'


def _drift(comparison: Comparison, lock: Lock | None) -> str:
    kinds = (("real hosts", comparison.real), ("simulated hosts", comparison.simulated))
    rows = [_reference(kind, one) for kind, references in kinds for one in references]
    table = plain_table("drift", ("of", "what", "compared with", "where that comes from"), rows)
    heading = '<section aria-labelledby="drift"><h2 id="drift">What should be alike</h2>'
    return f"{heading}<p>{safe(_basis(lock))}</p>{table}</section>"


def _basis(lock: Lock | None) -> str:
    if lock is None:
        return (
            "There is no lock file: each value is compared with the most common one. "
            "gpu-verify report --from evidence/ --lock HOST writes one, from a host that is proven."
        )
    kind = "simulated" if lock.simulated else "real"
    return (
        f"The lock file was written from {lock.host}, for {kind} hosts; others are compared with the most "
        "common value among them."
    )


def _reference(kind: str, one: Reference) -> tuple[str, ...]:
    return kind, one.field, one.value or NOTHING, one.said


def _race(hosts: Sequence[FleetHost]) -> str:
    found = tables([host.report for host in hosts])
    if not found:
        return ""
    parts = []
    for number, (title, rows) in enumerate(found):
        opened, name = " open" if len(rows) <= _OPEN_UP_TO else "", f"race-{number}"
        table = plain_table(name, HEAD, rows)
        parts.append(f'<details{opened}><summary id="{name}">{safe(title)}</summary>{table}</details>')
    return f'<section aria-labelledby="race"><h2 id="race">The race</h2>{"".join(parts)}</section>'
