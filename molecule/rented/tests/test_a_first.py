"""A fresh instance, the cloud-init example, and everything killed three times: proven all the same."""

from __future__ import annotations

import re
import time

import instance
from conftest import First


def test_it_was_killed_where_it_was_meant_to_be(first: First) -> None:
    assert first.killed == ["look", "packages", "toolkit"]
    assert first.restarts == "3"


def test_each_run_continued_what_was_killed(first: First) -> None:
    assert first.journal.count("An earlier run did not get to its end: continuing.") == 3


def test_it_is_proven(first: First) -> None:
    assert "from the first start to the proof, in 4 runs" in first.journal
    instance.proven()


def test_time_to_ready_is_split_by_step_and_has_its_price(first: First) -> None:
    steps = (
        "waiting for locks",
        "packages at once",
        "driver",
        "engine",
        "toolkit and runtime",
        "image",
        "verification",
        "interrupted",
    )
    for step in steps:
        assert re.search(rf"^{step} +\d+\.\d +\d+%$", first.journal, re.MULTILINE), step
    assert re.search(
        r"^cost so far: 0\.0\d+ EUR, which is \d+ s at 0\.8 EUR an hour$", first.journal, re.MULTILINE
    )


def test_the_workload_trains_with_the_cards(first: First) -> None:  # noqa: ARG001
    before = instance.checkpoint()
    assert "NVIDIA A10 (simulated)" in instance.sh("docker exec gpu-workload nvidia-smi -L")
    until = time.monotonic() + 20
    while instance.checkpoint() <= before:
        assert time.monotonic() < until, instance.sh("docker logs gpu-workload 2>&1")
        time.sleep(0.5)
    assert instance.begun() == [0]


def test_a_secret_of_the_workload_is_in_root_s_file_alone(first: First) -> None:
    assert "simulated-secret" not in first.journal
    found = instance.sh(
        "stat -c '%a %U' /etc/gpu-host/workload/gpu-workload.env; cat /etc/gpu-host/workload/gpu-workload.env"
    )
    assert found == "600 root\nTOKEN=simulated-secret\n"


def test_the_same_command_again_changes_nothing(first: First) -> None:  # noqa: ARG001
    before = instance.sh("docker container inspect --format '{{.Id}}' gpu-workload")
    said = instance.sh(
        f"export PIP_NO_INDEX=1; sh {instance.CLONE}/bootstrap.sh -e @/etc/gpu-host/settings.yml 2>&1"
    )
    assert re.search(rf"^{instance.NAME} +: ok=\d+ +changed=0 +unreachable=0 +failed=0", said, re.MULTILINE)
    assert instance.sh("docker container inspect --format '{{.Id}}' gpu-workload") == before
