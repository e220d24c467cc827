"""The collection: built, installed from its own archive without a network, and run from an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from scripts import collection

BIN = Path(sys.executable).parent
INVENTORY = """
gpu_hosts:
  hosts:
    here:
      ansible_connection: local
      ansible_python_interpreter: "{{ ansible_playbook_python }}"
      host_preflight_require_card: false
      gpu_verify_race: never
"""
PLAYBOOK = """
- hosts: gpu_hosts
  gather_facts: false
  tasks:
    - ansible.builtin.import_role: {name: gpu_host.gpu_host.host_preflight, tasks_from: probe}
    - ansible.builtin.debug: {msg: "machine={{ __host_preflight_probe.machine is defined }}"}
"""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder outside the repository in which the archive is installed, and nothing else."""
    folder = tmp_path_factory.mktemp("elsewhere")
    archive = collection.main(folder / "dist")
    ran(folder, "ansible-galaxy", "collection", "install", "--offline", "-p", "collections", str(archive))
    (folder / "hosts.yml").write_text(INVENTORY, encoding="utf-8")
    return folder


def ran(folder: Path, program: str, *arguments: str, status: int = 0) -> str:
    """Run a program there, with nothing of this repository in its environment."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        [BIN / program, *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=300,
        env={**env, "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections")},
    )  # fmt: skip
    assert done.returncode == status, done.stdout[-4000:] + done.stderr
    return done.stdout


def test_whatever_a_plugin_or_a_role_names_is_named_in_full(empty: Path) -> None:
    with tarfile.open(next((empty / "dist").glob("*.tar.gz"))) as archive:
        files = {m.name: archive.extractfile(m) for m in archive.getmembers() if m.isfile()}
        texts = {n: f.read().decode() for n, f in files.items() if f and n.endswith((".py", ".yml", ".j2"))}
    roles = {name.split("/")[1] for name in texts if name.startswith("roles/")}
    listed = subprocess.run(
        ["git", "ls-files", "roles"], cwd=collection.ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert roles == {line.split("/")[1] for line in listed.splitlines()}
    for name, text in texts.items():
        assert "ansible.module_utils.gpu_host_" not in text or name.startswith("verify/"), name
        if name.startswith(("roles/", "playbooks/")):
            assert not re.search(r"\|\s*gpu_host_\w", text), name
    assert not [name for name in texts if "simulated" in name and name.startswith("playbooks/")]


def test_a_filter_that_is_nobodys_is_not_packed() -> None:
    with pytest.raises(SystemExit, match="uses the filter gpu_host_nobody"):
        collection.in_a_collection(
            "roles/x/tasks/main.yml", "a: '{{ b | gpu_host_nobody }}'", {"gpu_host_x"}, set()
        )


def test_a_playbook_of_ones_own_uses_its_roles(empty: Path) -> None:
    (empty / "mine.yml").write_text(PLAYBOOK, encoding="utf-8")
    assert "machine=True" in ran(empty, "ansible-playbook", "-i", "hosts.yml", "mine.yml")


def test_its_own_playbook_records_judges_and_leaves_the_evidence_where_it_was_started(empty: Path) -> None:
    ran(empty, "ansible-playbook", "-i", "hosts.yml", "gpu_host.gpu_host.verify", status=2)
    findings = json.loads((empty / "evidence/here/findings.json").read_text(encoding="utf-8"))["findings"]
    # Where this runs there is no card, and nothing else is to be said of one.
    assert {f["id"]: f["status"] for f in findings}["card.present"] == "fail"
    assert (empty / "evidence/failed.hosts").read_text(encoding="utf-8").split() == ["here"]
