"""The instance is gone; another one gets its volume and comes up by the ansible-pull example."""

from __future__ import annotations

import sys

import instance
import pytest
from conftest import First, Second

from tests.harness.listing import differences, settled

# Each instance's own, and what the two examples put there.
OWN = (
    r"files /etc/ssh/ssh_host_.*", r"files /etc/machine-id", r"files /etc/(gpu-host|cloud)/.*",
    r"files /opt/gpu-host.*", r"files /root(/.*)?", r"files /usr/local/sbin/gpu-host-clone",
    r"files /etc/sudoers.d/90-cloud-init-users",
    # The day on which cloud-init made its user; an image that came with the volume was brought by the first.
    r"files /etc/shadow", r"owned roles race_image .*",
    r"files /etc/systemd/system/.*gpu-host-(bootstrap|pull).*", r"units",
    r"files /etc/sudoers.d/90-cloud-init-users",
    # The day on which cloud-init made its user; an image that came with the volume was brought by the first.
    r"files /etc/shadow", r"owned roles race_image .*",
    r"files /etc/systemd/system/(cloud-init|timers)\.target\.wants", r"files /var/lib/gpu-host/bootstrapped",
)  # fmt: skip


def say(capsys: pytest.CaptureFixture[str], text: str) -> None:
    """Print a figure though the test passes: it asserts no time."""
    with capsys.disabled():
        sys.stdout.write(f"\n{text}\n")


def test_it_is_proven(second: Second) -> None:  # noqa: ARG001
    instance.proven()


def test_no_layer_was_pulled(second: Second, capsys: pytest.CaptureFixture[str]) -> None:
    pulled = instance.layers() - second.layers
    say(capsys, f"layers pulled by the second instance: {len(pulled)} of {len(second.layers)}")
    assert second.layers
    assert pulled == set()
    assert "race_image : Copy the archive" not in second.journal


def test_the_workload_goes_on_from_its_checkpoint(second: Second) -> None:
    starts = instance.begun()
    assert len(starts) == 2
    assert starts[1] == second.epoch > 0
    assert instance.checkpoint() > second.epoch


def test_time_to_ready_as_a_ratio_to_the_first(
    first: First, second: Second, capsys: pytest.CaptureFixture[str]
) -> None:
    ratio = second.ready_s / first.ready_s
    took = f"{first.ready_s:.0f} s, then {second.ready_s:.0f} s on its volume"
    say(capsys, f"time to ready: {took}: {ratio:.2f} of the first")
    assert ratio > 0


def test_a_run_that_was_killed_three_times_ended_as_one_that_was_not(first: First, second: Second) -> None:
    found = differences(settled(first.state), settled(second.state), OWN)
    assert not found, "\n".join(found)
