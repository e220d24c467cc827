"""What is said of a fleet as a whole, a line each: who drifts from the others, who failed, what continues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.fleet.drift import compare
from verify.fleet.member import WAY_ON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.fleet.lock import Lock
    from verify.fleet.member import FleetHost
    from verify.report.model import Fleet

_LISTED = 12


def drifts(hosts: Sequence[FleetHost], lock: Lock | None) -> Mapping[str, str]:
    """Return what each drifting host has, and what it should have, in one line; nothing of the others."""
    comparison = compare((host.member for host in hosts), lock)
    found = {}
    for host in hosts:
        said = [
            f"{field} is {host.versions.get(field)}, should be {one.value} ({one.said})"
            for field, one in comparison.of(host.member).items()
        ]
        if said:
            found[host.report.host] = "; ".join(said)
    return found


def fleet_lines(fleet: Fleet) -> list[str]:
    """Return the lines below the table: drift host by host, then the failed hosts and the way on."""
    lines = [f"{host}: drifts: {said}" for host, said in fleet.drifts.items()]
    failed = [host.host for host in fleet.hosts if host.failed]
    if failed and len(fleet.hosts) > 1:  # of one host the table has said it
        more = f" and {len(failed) - _LISTED} more" if len(failed) > _LISTED else ""
        named = f"{', '.join(failed[:_LISTED])}{more}"
        lines.append(f"{len(failed)} of {len(fleet.hosts)} failed: {named}. To go on with these: {WAY_ON}")
    return lines
