"""A fleet of any size out of tests/recordings: most hosts alike, some that drift, fail or are gone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"
RACES = Path(__file__).resolve().parents[1] / "race" / "documents"
Json = dict[str, Any]
_HEALTHY = "healthy-lab"
_SIMULATED = "healthy-simulated"
_GONE = {
    "unreachable": "Failed to connect to the host via ssh: connect to host 192.0.2.7: No route to host",
    "timed-out": "no recording within 120 s",
    "failed": "the recorder printed no recording",
}


def _read(path: Path) -> Json:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def broken() -> list[str]:
    """Return the recordings of hosts that are not healthy, in order."""
    found = {path.stem: _read(path).get("where") for path in sorted(RECORDINGS.glob("*.json"))}
    return [name for name, where in found.items() if where == "host" and not name.startswith("healthy-")]


def _run(host: str, number: int) -> Json:
    return {
        "schema": 1,
        "host": host,
        "expected": [],
        "image": "gpu-host/race:simulated",
        "image_digest": f"sha256:{'0f' * 32}" if number % 23 else f"sha256:{'ab' * 32}",
        "collection": {"outcome": "ok", "detail": None},
        "settings": {},
    }


def write_host(
    folder: Path, number: int, host: str | None, container: str = "", *, outcome: str = "ok", race: str = ""
) -> None:
    """Write the evidence of one host, as a collection leaves it; ``host`` and so on name recordings."""
    name = f"node-{number:03}"
    home = folder / name
    home.mkdir(parents=True)
    run = _run(name, number)
    if outcome != "ok":
        run["collection"] = {"outcome": outcome, "detail": _GONE[outcome]}
    (home / "run.json").write_text(json.dumps(run))
    for where, recording in (("host", host), ("container", container)):
        if recording:
            text = (RECORDINGS / f"{recording}.json").read_text(encoding="utf-8")
            if number % 29 == 7:  # the odd one out
                text = re.sub(r"\b580\.\d+\.\d+", "580.126.09", text)
            (home / f"recording-{where}.json").write_text(text)
    if race:
        (home / "race.json").write_text(json.dumps({**_read(RACES / f"{race}.json"), "host": name}))


def write_fleet(folder: Path, number: int) -> Path:
    """Write ``number`` hosts; of twenty, fifteen healthy, one simulated, three broken, one gone."""
    bad, gone, races = broken(), sorted(_GONE), ("prices", "gaming-card", "few-cores", "not-significant")
    for k in range(number):
        kind = k % 20
        if kind == 19:
            write_host(folder, k, None, outcome=gone[k // 20 % len(gone)])
        elif kind in (5, 11, 16):
            write_host(folder, k, bad[(7 * k) % len(bad)])
        else:
            pair = _SIMULATED if kind == 2 else _HEALTHY
            write_host(folder, k, f"{pair}-host", f"{pair}-container", race=races[k % len(races)])
    return folder
