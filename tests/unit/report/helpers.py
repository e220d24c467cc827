from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from verify.findings import Finding, Layer, Status
from verify.report.model import HostReport

SMI_TABLE = "+---------+\n| NVIDIA-SMI 550.163.01  10.0.0.9 |\n+---------+\n"
RACE: dict[str, Any] = json.loads((Path(__file__).with_name("race.json")).read_text())

FINDINGS = (
    Finding("driver.answers", Layer.DRIVER, Status.PASS, "nvidia-smi answers for 2 cards"),
    Finding("engine.cdi", Layer.ENGINE, Status.WARN, "CDI is off"),
    Finding(
        "runtime.not-registered",
        Layer.RUNTIME,
        Status.FAIL,
        "the running daemon has runc only | not nvidia",
        between=(Layer.ENGINE, Layer.RUNTIME),
        remedy="sudo nvidia-ctk runtime configure --runtime=docker",
        evidence=('docker-info: "Runtimes":{"runc":{}}',),
    ),
    Finding(
        "container.run-runtime",
        Layer.CONTAINER,
        Status.BLOCKED,
        "the runtime is not registered",
        culprit="runtime.not-registered",
    ),
    Finding(
        "framework.cpu-build", Layer.FRAMEWORK, Status.FAIL, "torch 2.13.0+cpu has no CUDA", expected=True
    ),
    Finding("race.ran", Layer.RACE, Status.SKIP, "not recorded \x1b[31m"),
)


def host_report(*findings: Finding, **changes: Any) -> HostReport:
    values: dict[str, Any] = {
        "host": "sim-lab-1",
        "simulated": True,
        "image_digest": "sha256:abc",
        "outcome": "ok",
        "findings": findings,
        "cards": ("NVIDIA A10 (simulated)", "NVIDIA A10 (simulated)"),
        "race": None,
    }
    return HostReport(**{**values, **changes})


def recording(where: str, **commands: dict[str, Any]) -> dict[str, Any]:
    return {
        "schema": 1,
        "where": where,
        "simulated": True,
        "commands": {name.replace("_", "-"): {"argv": [name], **entry} for name, entry in commands.items()},
    }


def run(host: str) -> dict[str, Any]:
    return {
        "schema": 1,
        "host": host,
        "expected": [],
        "image": "gpu-host/race:abc",
        "image_digest": "sha256:abc",
        "collection": {"outcome": "ok", "detail": None},
        "settings": {},
    }


def put(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
