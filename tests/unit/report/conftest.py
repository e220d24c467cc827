from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.report.helpers import RACE, SMI_TABLE, put, recording, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """One collected host, and one that could not be reached."""
    folder = tmp_path / "evidence"
    smi = {"rc": 0, "stdout": SMI_TABLE, "stderr": ""}
    listing = {
        "rc": 0,
        "stdout": "".join(f"GPU {n}: NVIDIA A10 (simulated) (UUID: GPU-{n})\n" for n in (0, 1)),
    }
    put(folder / "sim-lab-1" / "run.json", run("sim-lab-1"))
    put(folder / "sim-lab-1" / "recording-host.json", recording("host", nvidia_smi_list=listing))
    put(folder / "sim-lab-1" / "recording-container.json", recording("container", nvidia_smi=smi))
    put(folder / "sim-lab-1" / "race.json", RACE)
    gone = run("lab-2")
    gone["collection"] = {"outcome": "unreachable", "detail": "No route to host"}
    put(folder / "lab-2" / "run.json", gone)
    return folder
