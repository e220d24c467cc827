"""The fleet's lock file: what every host should run, taken from one that is proven.

It is JSON, as all evidence is: a program writes it, a program reads it, git shows what changed in it, and
nobody has to write it by hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.errors import VerifyError
from verify.findings import Layer, Status
from verify.fleet.versions import FIELDS, Versions

if TYPE_CHECKING:
    from pathlib import Path

    from verify.report.model import HostReport

SCHEMA = 1
_AGAIN = "write it again with `gpu-verify report --from evidence/ --lock HOST`"


@dataclass(frozen=True, slots=True)
class Lock:
    """The versions that were proven together, on which host, and whether that one was simulated."""

    host: str
    simulated: bool
    versions: Versions

    def document(self) -> dict[str, Any]:
        """Return the lock file as a document."""
        kept = {field: self.versions.get(field) for field in FIELDS}
        return {"schema": SCHEMA, "host": self.host, "simulated": self.simulated, **kept}


def lock_of(report: HostReport, versions: Versions) -> Lock:
    """Take a lock from a host; one that is not proven is refused."""
    start = f"{report.host} is no host to lock the fleet to:"
    if report.failed:
        raise VerifyError(
            f"{start} its verdict is {report.verdict}, and it must be a pass; mend it and verify again, "
            "or name another host"
        )
    if not any(f.layer is Layer.CONTAINER and f.status is Status.PASS for f in report.findings):
        raise VerifyError(
            f"{start} nothing was proven in a container there; verify it with the image, or name another host"
        )
    missing = [field for field in FIELDS if versions.get(field) is None]
    if missing:
        raise VerifyError(
            f"{start} its {' and '.join(missing)} is not known, and all of {', '.join(FIELDS)} are needed; "
            "verify it again, or name another host"
        )
    return Lock(report.host, report.simulated, versions)


def read_lock(path: Path) -> Lock | None:
    """Read a lock file; None where there is none."""
    if not path.exists():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise VerifyError(f"{path} cannot be read ({error}): {_AGAIN}") from error
    document = document if isinstance(document, dict) else {}
    values = {field: document.get(field) for field in FIELDS}
    right = (
        document.get("schema") == SCHEMA
        and isinstance(document.get("host"), str)
        and isinstance(document.get("simulated"), bool)
        and all(isinstance(value, str) and value for value in values.values())
    )
    if not right:
        needed = f"schema {SCHEMA}, host, simulated, {', '.join(FIELDS)}"
        raise VerifyError(f"{path} is no lock file of this version (it needs {needed}): {_AGAIN}")
    return Lock(document["host"], document["simulated"], Versions(**values))
