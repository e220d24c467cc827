"""One rule for what holds the CPU lane back."""

from __future__ import annotations

import pytest

from verify.race.few_cores import few_cores


@pytest.mark.parametrize(
    ("cpu", "found"),
    [
        ({"cores": 64, "threads": 2, "usable_cores": 64, "quota_cores": None}, (2.0, 64)),
        ({"cores": 64, "threads": 32, "usable_cores": 64, "quota_cores": None}, None),
        ({"cores": 64, "threads": 32, "usable_cores": 2, "quota_cores": 1.5}, (1.5, 64)),
        ({"cores": 2, "threads": 1, "usable_cores": 2, "quota_cores": None}, None),
        ({"cores": None, "threads": 1}, None),
        ({"cores": 64}, None),
        ({}, None),
    ],
)
def test_fewer_than_half_of_the_cores_are_few(
    cpu: dict[str, float | None], found: tuple[float, int] | None
) -> None:
    assert few_cores(cpu) == found
