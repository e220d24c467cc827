"""What apt did last to the driver's packages, by its own history."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, file_text

if TYPE_CHECKING:
    from verify.recording import Recording

HISTORY = "/var/log/apt/history.log"
_FIELD = re.compile(r"^([A-Za-z-]+): (.*)$", re.MULTILINE)
# `libnvidia-compute-535:amd64 (530.30.02-0ubuntu1, 535.54.03-0ubuntu1)`
_PACKAGE = re.compile(
    r"((?:lib)?nvidia-(?!container)[\w.+-]+|libcuda1)(?::\w+)? \(([^,)]+)(?:, ([^,)]+))?[^)]*\)"
)


@dataclass(frozen=True, slots=True)
class DriverUpgrade:
    """One run of apt that changed the driver."""

    date: str
    package: str
    before: str
    after: str
    unattended: bool
    evidence: tuple[str, ...]


def driver_upgrade(recording: Recording) -> DriverUpgrade | None:
    """Return the last upgrade of the driver that the recorded end of the history has."""
    for entry in reversed((file_text(recording, HISTORY) or "").split("\n\n")):
        fields = dict(_FIELD.findall(entry))
        found = _PACKAGE.search(fields.get("Upgrade", ""))
        if found and found.group(3):
            command = fields.get("Commandline", "")
            date = fields.get("Start-Date", "an unknown date").replace("  ", " ")
            return DriverUpgrade(
                date=date,
                package=found.group(1),
                before=found.group(2).strip(),
                after=found.group(3).strip(),
                unattended="unattended-upgrade" in command,
                evidence=(cite(HISTORY, f"{date} {command}: {found.group(0)}"),),
            )
    return None
