"""gpu-run in this process, with a docker and an nvidia-smi of the test's own on PATH."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[3] / "roles/gpu_sharing/files/gpu_run.py"
A, B = "GPU-aaaa-simulated", "GPU-bbbb-simulated"
ROWS = (
    f"0, {A}, 00:01, NVIDIA X (simulated), 10, 8000, 5, 40, [N/A]\n"
    f"1, {B}, 00:02, NVIDIA X (simulated), 0, 8000, 0, 30, [N/A]\n"
)
ID = "c" * 64
DEAL: dict[str, Any] = {
    "schema": 1, "way": "gpus", "limits": {"memory": 90, "cpu": 100, "shm": 50},
    "pairs": {
        "alpha": {"users": ["u1", "u2"], "cards": [{"uuid": A, "pci": "00:01", "name": "X"}]},
        "beta": {"users": ["u3"], "cards": [{"uuid": B, "pci": "00:02", "name": "X"}]},
    },
}  # fmt: skip


def container(**changes: Any) -> dict[str, Any]:
    """Return what docker inspect tells of a container of gpu-run's on the first card."""
    labels = {"gpu-host.card": A, "gpu-host.user": "u1", "gpu-host.pair": "alpha", "gpu-host.by": "gpu-run"}
    return {
        "Id": ID, "Name": "/alpha-u1", "State": {"StartedAt": "2026-12-02T10:00:00.123456789Z"},
        "Config": {"Labels": labels, "Image": "image:1", "Env": []}, "HostConfig": {}, **changes,
    }  # fmt: skip


@dataclass
class Host:
    """A host whose programs say what the test wants."""

    program: Any
    folder: Path

    def says(self, program: str, script: str) -> None:
        path = self.folder / "bin" / program
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def cards(self, rows: str = ROWS, apps: str = "") -> None:
        (self.folder / "cards").write_text(rows, encoding="utf-8")
        (self.folder / "apps").write_text(apps, encoding="utf-8")
        self.says(
            "nvidia-smi",
            f'case "$*" in *compute-apps*) cat {self.folder}/apps;; *) cat {self.folder}/cards;; esac',
        )

    def containers(self, *found: dict[str, Any]) -> None:
        """Give docker these containers; it notes each call of `run` with its words."""
        (self.folder / "ids").write_text("".join(f"{one['Id']}\n" for one in found), encoding="utf-8")
        (self.folder / "inspect").write_text(json.dumps(found), encoding="utf-8")
        self.says(
            "docker",
            f'case "$1 $2" in "ps --quiet") cat {self.folder}/ids;; "ps "*) ;; '
            f'"inspect "*) cat {self.folder}/inspect;; '
            f'"image "*) ;; "run "*) printf "%s\\n" "$@" > {self.folder}/ran; exit 7;; esac',
        )

    def ran(self) -> list[str]:
        path = self.folder / "ran"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def run(self, *words: str) -> int:
        status = self.program.main("gpu-run", list(words))
        assert isinstance(status, int)
        return status

    def who(self, *words: str) -> int:
        status = self.program.main("gpu-who", list(words))
        assert isinstance(status, int)
        return status


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Host:
    spec = importlib.util.spec_from_file_location("gpu_run", SOURCE)
    assert spec
    assert spec.loader
    program = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "gpu_run", program)
    spec.loader.exec_module(program)
    made = Host(program, tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "locks").mkdir()
    for uuid in (A, B):
        (tmp_path / f"locks/gpu-host-{uuid}.lock").touch()
    (tmp_path / "sharing.json").write_text(json.dumps(DEAL), encoding="utf-8")
    monkeypatch.setattr(program, "CONFIG", str(tmp_path / "sharing.json"))
    monkeypatch.setattr(program, "LOCKS", str(tmp_path / "locks"))
    monkeypatch.setattr(program, "LOCK_OWNER", os.getuid())
    monkeypatch.setattr(program, "SIMULATED", str(tmp_path / "simulated"))
    monkeypatch.setattr(program, "caller", lambda: "u1")
    monkeypatch.setattr(program, "ids", lambda: (1001, 1002))
    # Signals are the process's own business, which here is pytest's.
    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    made.cards()
    made.containers()
    return made
