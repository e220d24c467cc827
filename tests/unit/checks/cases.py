"""Recordings to judge: the healthy ones, and how to change them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.checks import judge
from verify.recording import Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.findings import Finding

Json = dict[str, Any]
RECORDINGS = Path(__file__).parents[2] / "recordings"
CPU_BUILD = "framework.cpu-build"


def document(name: str) -> Json:
    loaded: Json = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


class Machine:
    """One machine's two recordings and its race, free to be changed."""

    def __init__(self, kind: str = "lab") -> None:
        self.host: Json | None = document(f"healthy-{kind}-host")
        self.container: Json | None = document(f"healthy-{kind}-container")
        self.race: Json | None = race("ran" if kind == "lab" else "absent")
        self.expected: tuple[str, ...] = () if kind == "lab" else (CPU_BUILD,)

    @property
    def commands(self) -> Json:
        assert self.host
        commands: Json = self.host["commands"]
        return commands

    @property
    def files(self) -> Json:
        assert self.host
        files: Json = self.host["files"]
        return files

    @property
    def inside(self) -> Json:
        assert self.container
        commands: Json = self.container["commands"]
        return commands

    def torch(self, **changes: Any) -> None:
        answer = json.loads(self.inside["torch"]["stdout"])
        self.inside["torch"]["stdout"] = json.dumps(answer | changes) + "\n"

    def info(self, **changes: Any) -> None:
        self.commands["docker-info"]["stdout"] = json.dumps(
            json.loads(self.commands["docker-info"]["stdout"]) | changes
        )

    def judge(self) -> dict[str, Finding]:
        found = judge(_recording(self.host), _recording(self.container), self.race, self.expected)
        assert len({finding.id for finding in found}) == len(found)
        return {finding.id: finding for finding in found}


def _recording(content: Mapping[str, Any] | None) -> Recording | None:
    return None if content is None else Recording.from_document(copy.deepcopy(dict(content)))


def race(cuda: str) -> Json:
    def lane(name: str, status: str) -> Json:
        ran = status == "ran"
        reason = None if ran else {"id": "absent-card", "torch": "2.13.0", "cuda": "12.6"}
        return {
            "name": name,
            "status": status,
            "reason": reason,
            "median": 0.5 if ran else None,
            "warnings": [],
        }

    return {
        "schema": 2,
        "contestants": [
            {"name": "network", "lanes": [lane("cpu", "ran"), lane("cuda", cuda)]},
            {"name": "fraud", "lanes": [lane("cpu", "ran"), lane("cpu-torch", "ran"), lane("cuda", cuda)]},
        ],
        "sentence": "…",
    }
