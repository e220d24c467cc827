"""What stands where in an evidence folder: names, and how a document is written. Imports next to nothing."""

from __future__ import annotations

import json

RUN = "run.json"
RACE = "race.json"
RECORDINGS = {"host": "recording-host.json", "container": "recording-container.json"}
LOCK = "fleet.lock.json"


def dump(document: object) -> str:
    """Return a document as it stands in evidence: for reading, and alike each time."""
    return json.dumps(document, indent=1, sort_keys=False, ensure_ascii=False) + "\n"
