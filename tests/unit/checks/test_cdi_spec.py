"""Two CDI specifications for the same cards, on the healthy lab host (field case D6)."""

from __future__ import annotations

import pytest

from tests.unit.checks.cases import Machine
from verify.findings import Status

SPEC = "/var/run/cdi/nvidia.yaml"


@pytest.mark.parametrize(
    ("other", "status"),
    [
        ("/var/run/cdi/nvidia.json", Status.FAIL),
        ("/var/run/cdi/a.yaml", Status.FAIL),
        ("/etc/cdi/nvidia.yaml", Status.WARN),  # a later folder wins, and neither is void
    ],
)
def test_d6_two_files_of_one_folder_make_each_other_void(other: str, status: Status) -> None:
    machine = Machine("lab")
    assert machine.judge()["toolkit.cdi-spec"].status is Status.PASS
    machine.files[other] = dict(machine.files[SPEC])
    finding = machine.judge()["toolkit.cdi-spec"]
    assert finding.status is status, finding.summary
    if status is Status.FAIL:
        assert other in finding.summary
        assert SPEC in finding.summary
        assert "mv " in (finding.remedy or "")
