"""The texts of checks that pass or were skipped: each once, whichever hosts say it, as JSON for the script.

They are nine tenths of the findings, and mostly alike on all hosts: in every row they would make the page of
500 hosts several times as large.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from verify.findings import Status
from verify.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.fleet.member import FleetHost

_TOLD = (Status.PASS, Status.SKIP)


def shared_texts(hosts: Sequence[FleetHost]) -> str:
    """Return ``{texts, hosts}``: a host is a flat list of places in ``texts``, three a check."""
    places: dict[str, int] = {}

    def place(text: str) -> int:
        return places.setdefault(plain(text), len(places))

    rows = [
        [
            place(part)
            for finding in host.report.findings
            if finding.status in _TOLD
            for part in (finding.id, finding.status.value, finding.summary)
        ]
        for host in hosts
    ]
    document = json.dumps({"texts": list(places), "hosts": rows}, ensure_ascii=False, separators=(",", ":"))
    # Inside a script nothing but this ends it or opens a comment.
    return document.replace("<", "\\u003c")
