"""Which hosts a run provisioned to the end, as Ansible tells the callback, and the verification then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.collect.test_collect import given
from verify import collect

ROOT = Path(__file__).resolve().parents[3]
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.set_fact: {gpu_host_provisioned: false}
    - block:
        - ansible.builtin.fail: {msg: tried and mended}
      rescue:
        - ansible.builtin.debug:
    - name: Storage
      ansible.builtin.fail: {msg: the disk is full}
      when: inventory_hostname == 'bad'
    - ansible.builtin.fail: {msg: a secret}
      no_log: true
      when: inventory_hostname == 'hushed'
    - ansible.builtin.ping:
      when: inventory_hostname == 'down'
    - ansible.builtin.set_fact: {gpu_host_provisioned: true}
"""
INVENTORY = """
[all]
good ansible_connection=local
bad ansible_connection=local
hushed ansible_connection=local
down ansible_host=127.0.0.1 ansible_port=1
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what the callback wrote of such a run."""
    folder = tmp_path_factory.mktemp("provisioned")
    (folder / "play.yml").write_text(PLAY, encoding="utf-8")
    (folder / "hosts").write_text(INVENTORY, encoding="utf-8")
    told = {
        "GPU_HOST_PROVISIONED": str(folder / "provisioned.json"),
        "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "plugins/callback"),
        "ANSIBLE_CALLBACKS_ENABLED": "gpu_host_provisioned",
    }
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run(
        [program, "-i", folder / "hosts", folder / "play.yml"],
        cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, **told},
    )  # fmt: skip
    assert done.returncode, done.stdout
    return folder / "provisioned.json"


def test_who_came_through_and_why_the_others_did_not(written: Path) -> None:
    found = json.loads(written.read_text(encoding="utf-8"))
    assert found["through"] == ["good"]
    assert set(found["said"]) == {"bad", "hushed", "down"}
    assert found["said"]["bad"] == "Storage: the disk is full"
    assert "secret" not in found["said"]["hushed"]
    assert "port 1" in found["said"]["down"]


def run_of(evidence: Path, **changes: Any) -> dict[str, Any]:
    collect.start(evidence, {"hosts": [changes.get("host", "a")]})
    collect.stage(evidence, given(race="never", **changes))
    document: dict[str, Any] = json.loads(next(evidence.glob(".staging/*/run.json")).read_text())
    return document


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ("good", None),
        ("bad", "Storage: the disk is full"),
        ("never-begun", "the run that provisions ended before; it printed why"),
    ],
)
def test_the_run_before_is_believed(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, says: str | None
) -> None:
    monkeypatch.setenv(collect.PROVISIONED, str(written))
    # A run of its own knows no facts of the one before.
    found = run_of(tmp_path, host=host).get("provisioning")
    assert found == (None if says is None else {"outcome": "failed", "detail": says})


def test_a_run_that_was_ended_before_it_wrote_has_provisioned_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(collect.PROVISIONED, str(tmp_path / "none"))
    assert run_of(tmp_path / "evidence")["provisioning"]["outcome"] == "failed"


@pytest.mark.parametrize(("fact", "failed"), [(None, False), (True, False), (False, True)])
def test_in_one_run_the_host_s_fact_is_believed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fact: bool | None,  # noqa: FBT001
    failed: bool,  # noqa: FBT001
) -> None:
    monkeypatch.delenv(collect.PROVISIONED, raising=False)
    assert ("provisioning" in run_of(tmp_path, provisioned=fact)) is failed
