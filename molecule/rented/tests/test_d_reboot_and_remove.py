"""The second instance is rebooted: its container goes on, nothing is to be done. Then all of it is undone."""

from __future__ import annotations

import re
import time

import instance
import pytest
from conftest import PULL, Second

REMOVE = f"""
cd {instance.CLONE}
export LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1
export PATH="$PWD/.cache/bootstrap/venv/bin:$PATH"
ansible-playbook -i .cache/bootstrap/hosts.json -e @/etc/gpu-host/settings.yml playbooks/remove.yml
"""


@pytest.fixture(scope="module")
def rebooted(second: Second) -> str:
    """Reboot; wait for the pull that follows. What that one said."""
    instance.boot()
    instance.wait_for(PULL)
    return instance.journal(PULL).removeprefix(second.journal)


def test_the_workload_survives_a_reboot(rebooted: str) -> None:  # noqa: ARG001
    before = instance.checkpoint()
    until = time.monotonic() + 30
    while instance.checkpoint() <= before:
        assert time.monotonic() < until, instance.sh("docker ps -a; docker logs gpu-workload 2>&1")
        time.sleep(0.5)
    # It was stopped and went on: nobody made it anew.
    starts = instance.begun()
    assert len(starts) == 3
    assert starts[2] >= starts[1]


def test_a_pull_that_finds_all_as_it_should_be_changes_nothing(rebooted: str) -> None:
    recaps = re.findall(rf"^{instance.NAME} +: ok=\d+ +changed=(\d+) ", rebooted, re.MULTILINE)
    # A boot empties /dev; there is no udev in the simulated host to link the cards' nodes anew.
    changed = re.findall(r"TASK \[(.*?)\] \**\nchanged: ", rebooted)
    assert recaps
    assert set(changed) <= {"nvidia_container_toolkit : Make them"}
    assert recaps[-1] == str(len(changed))


def test_remove_takes_the_container_and_leaves_the_checkpoint(rebooted: str) -> None:  # noqa: ARG001
    said = instance.sh(REMOVE)
    assert re.search(rf"^{instance.NAME} +: .* failed=0 ", said, re.MULTILINE)
    assert instance.sh("ls /etc/gpu-host/workload 2> /dev/null || echo gone") == "gone\n"
    assert instance.sh("command -v docker || echo gone") == "gone\n"
    assert instance.checkpoint() > 0
    assert "gpu_workload" not in instance.sh("cat /var/lib/gpu-host/owned.json 2> /dev/null || true")
