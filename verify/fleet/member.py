"""One host as the fleet sees it: its report, its versions, what nvidia-smi printed, where its folder is."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from verify.checks import NO_RECORDING
from verify.findings import Finding, Status
from verify.fleet.drift import Member
from verify.fleet.versions import Versions, versions
from verify.report.besides import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.report.model import HostReport

OK = "ok"
WAY_ON = "make site LIMIT=@evidence/failed.hosts"
"""What continues with the hosts that failed, and no other."""


@dataclass(frozen=True, slots=True)
class FleetHost:
    """``folder`` is its folder's name as an address; ``smi`` is the text and where it was printed."""

    report: HostReport
    versions: Versions
    smi: tuple[str, str] | None
    folder: str
    recorded: bool

    @property
    def member(self) -> Member:
        """Return what is compared."""
        return Member(self.report.simulated, self.versions)

    @property
    def state(self) -> str:
        """Say in a word or two how this host stands."""
        if not self.report.failed:
            return "pass (mostly skipped)" if self.report.mostly_skipped else "pass"
        if self.report.outcome != OK:
            return _STATES.get(self.report.outcome, self.report.outcome)
        return "fail" if self.recorded else "no recording"

    @property
    def leading(self) -> Finding | None:
        """Return the finding to start with: the first failure, what is blocked, or a warning."""
        blocked = [f for f in self.report.findings if f.status is Status.BLOCKED and not f.expected]
        return next(iter((*self.report.culprits, *blocked, *self.report.remarks)), None)

    @property
    def steps(self) -> tuple[str, ...]:
        """Say what to do next, in order; nothing for a host that passes."""
        if not self.report.failed:
            return ()
        found = [_first_step(self)] if _first_step(self) else []
        found += [
            f.remedy
            for f in self.report.culprits
            if f.remedy and not (f.id == NO_RECORDING and self.report.outcome in _OUTCOMES)
        ]
        return (*dict.fromkeys(found), WAY_ON)


_STATES = {"timed-out": "timed out", "failed": "collection failed", NO_ANSWER: "no answer"}
# What is in the way of a host that nobody could look at, by how its collection went.
_OUTCOMES = {
    "unreachable": "ssh {host}  # until this logs in without a question, Ansible cannot either",
    "timed-out": "ssh {host} nvidia-smi  # the host met its deadline: if this hangs too, it needs a reboot",
    "failed": "gpu-verify doctor --host {host}  # the recorder ran and did not end well: this says where",
}
_DAMAGED = "make verify RACE=always LIMIT={host}  # race.json is damaged: race again"


def _first_step(host: FleetHost) -> str:
    step = _OUTCOMES.get(host.report.outcome, "")
    return (step or (_DAMAGED if host.report.damage else "")).format(host=shlex.quote(host.report.host))


def fleet_host(
    report: HostReport,
    documents: Mapping[str, Mapping[str, Any]],
    smi: Mapping[str, str | None],
    folder: bytes,
) -> FleetHost:
    """Bring together what the page shows of one host; ``smi`` has its texts by where they were printed."""
    told = next(((text, where) for where, text in smi.items() if text), None)
    return FleetHost(report, versions(report, documents), told, quote(folder, safe=""), "host" in documents)
