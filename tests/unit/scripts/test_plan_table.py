"""`make plan`: the callback keeps what a dry run says, the table shows it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from scripts.plan_table import main, summary, verdict

ROOT = Path(__file__).resolve().parents[3]
PLAN = {
    "lines": [
        ["driver", "works, 580.95.05", "kept", ""],
        ["runtime", "not registered", "registered", "Docker restarts: 1 container stops (grading)"],
    ],
    "stops": ["grading"], "waits": ["cloud-init"], "warnings": ["an \x1b[31mold note"], "refusals": [],
}  # fmt: skip


def entry(**more: Any) -> dict[str, Any]:
    return {"plan": PLAN, "changes": [], "failed": None, "unreachable": None, **more}


HOSTS = {
    "a": entry(changes=["docker_engine : Install", "docker_engine : Start", "race_image : Bring it"]),
    "b": entry(plan={**PLAN, "stops": [], "waits": [], "warnings": []}),
    "c": entry(plan={**PLAN, "refusals": ["This is WSL."]}, failed=["x", "This is WSL."]),
    "d": entry(plan=None, unreachable="Failed to connect\nto the host"),
    "e": entry(plan=None),
    "f": entry(failed=["docker_engine : Install", "Task failed: no such package"]),
}


def shown(hosts: dict[str, Any], tmp_path: Path) -> tuple[int, str]:
    path, out = tmp_path / "plan.json", Console(width=160, record=True, file=io.StringIO())
    path.write_text(json.dumps(hosts), encoding="utf-8")
    return main([str(path)], out), out.export_text()


def test_one_table_of_all_hosts(tmp_path: Path) -> None:
    rc, text = shown(HOSTS, tmp_path)
    assert rc == 1
    for word in ("kept", "Docker restarts: 1", "This is WSL.", "Failed to connect to the host"):
        assert word in text
    assert "docker_engine : Install: no such package" in " ".join(text.split())
    assert "\x1b" not in text


def test_the_sentences_below_it() -> None:
    said = summary(HOSTS)
    assert "a: Docker's restart would stop grading." in said
    assert "a: `make site` would wait for cloud-init." in said
    assert "a: 3 tasks would change something (docker_engine 2, race_image 1)." in said
    assert said[-1] == (
        "6 hosts: 1 would change, 1 stays as it is, 1 refused, 1 not reached, 1 no Python, 1 would fail. "
        "Nothing was changed."
    )


@pytest.mark.parametrize(
    ("names", "rc"), [("a", 0), ("b", 0), ("e", 0), ("ab", 0), ("ac", 1), ("d", 1), ("f", 1)]
)
def test_exit_status(tmp_path: Path, names: str, rc: int) -> None:
    assert shown({name: HOSTS[name] for name in names}, tmp_path)[0] == rc


def test_no_dry_run_is_no_green_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "absent")]) == 1
    assert "said nothing" in capsys.readouterr().err


PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - block:
        - fail: {msg: first}
      rescue:
        - set_fact: {host_preflight_plan: {lines: [], refusals: []}}
    - fail: {msg: "because so"}
      when: inventory_hostname == 'bad'
    - debug: {msg: x}
      changed_when: true
"""


def test_the_callback_keeps_plans_changes_and_failures(tmp_path: Path) -> None:
    (tmp_path / "play.yml").write_text(PLAYBOOK, encoding="utf-8")
    told = {
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        "GPU_HOST_PLAN": str(tmp_path / "plan.json"),
        "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "plugins/callback"),
        "ANSIBLE_CALLBACKS_ENABLED": "gpu_host_plan",
    }
    program = Path(sys.executable).with_name("ansible-playbook")
    subprocess.run(
        [program, "-i", "good,bad", "-c", "local", tmp_path / "play.yml"],
        cwd=ROOT,
        capture_output=True,
        check=False,
        env={**os.environ, **told},
    )
    hosts = json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))
    assert hosts["good"] == {
        "plan": {"lines": [], "refusals": []}, "changes": ["debug"], "failed": None, "unreachable": None,
    }  # fmt: skip
    assert hosts["bad"]["failed"] == ["fail", "because so"]
    assert [verdict(hosts[name])[0] for name in ("good", "bad")] == ["would change", "would fail"]


@pytest.mark.parametrize("action", ["site", "plan", "verify", "remove"])
def test_a_limit_that_matches_nothing_is_one_sentence(action: str) -> None:
    done = subprocess.run(
        ["sh", ROOT / "scripts/site.sh", action],
        capture_output=True, text=True, check=False,
        env={**os.environ, "INVENTORY": "inventory/lab", "LIMIT": "no-such-host"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: LIMIT=no-such-host matches no host of the group gpu_hosts")
    assert len(done.stderr.splitlines()) == 1
