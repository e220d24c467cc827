"""The harnesses under the names of the field cases that they prove. GPU_HOST_HARNESS is short or long.

Each makes simulated hosts of its own, and removes them. `scripts/harness.sh short` takes minutes.
"""

from __future__ import annotations

import os

import pytest

from tests.harness import dkms, faults, kill_points, remove_listing

LENGTHS = ("short", "long")


@pytest.fixture(scope="session")
def short() -> bool:
    length = os.environ.get("GPU_HOST_HARNESS", "short")
    assert length in LENGTHS, f"GPU_HOST_HARNESS is {length}; needed is one of {', '.join(LENGTHS)}"
    return length == "short"


def test_g7_a_run_that_was_killed_converges_and_a_third_changes_nothing(short: bool) -> None:  # noqa: FBT001
    assert kill_points.main(["--points", "3"] if short else []) == 0


def test_a2_b3_b4_b6_c4_i3_each_external_step_that_fails_is_named_and_nothing_is_lost(short: bool) -> None:  # noqa: FBT001
    assert faults.main(["--short"] if short else []) == 0


def test_remove_brings_a_host_back_that_had_docker_and_one_that_had_none(short: bool) -> None:  # noqa: FBT001
    assert remove_listing.main(["--only", "docker"] if short else []) == 0


def test_c4_a_module_that_does_not_build_is_explained_and_leaves_dpkg_whole(short: bool) -> None:  # noqa: FBT001
    assert dkms.main(["--short"] if short else []) == 0
