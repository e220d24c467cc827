"""Field case C10: systemd's daemon-reload takes cards from running containers: nothing of ours asks for one.

`systemctl enable`, `disable`, `mask` and the like read all units anew too. Each task that does is listed here
with the reason why no container with a card runs at that moment, or why it is said.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.contract.roles import ROLES, ROOT, Role, load, unfold

SYSTEMD = {"ansible.builtin.systemd_service", "ansible.builtin.systemd", "ansible.builtin.service"}
# systemctl's own verbs that end with a reload, unless told otherwise.
VERBS = "daemon-reload|daemon-reexec|enable|disable|reenable|preset|mask|unmask|link|revert|edit|set-property"
RELOADS = re.compile(rf"""systemctl["',\s]+(?:--?[\w=-]+["',\s]+)*(?:{VERBS})\b""")
ALLOWED = {
    ("docker_engine", "Start it, now and at every boot"): "included only where Docker does not run",
    ("nvidia_driver", "Start the driver's services"): "only where the driver has just come: none has a card",
}
each_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)


def reloads(task: dict[str, Any]) -> bool:
    """Whether a task makes systemd read its units anew."""
    for action in SYSTEMD & set(task):
        if {"enabled", "masked", "daemon_reload", "daemon_reexec"} & set(task[action] or {}):
            return True
    return bool(RELOADS.search(str({key: value for key, value in task.items() if key != "name"})))


@each_role
def test_c10_no_task_reloads_systemd_but_those_with_a_reason(role: Role) -> None:
    found = {(role.name, task["name"]) for task in role.tasks() if reloads(task)}
    assert found == {key for key in ALLOWED if key[0] == role.name}


def test_c10_docker_is_enabled_only_where_it_does_not_run() -> None:
    start = [task for task in load(ROOT / "roles/docker_engine/tasks/main.yml") if task["name"] == "Start"]
    assert "__docker_engine_plan.start" in start[0]["when"]


def scripts() -> list[Path]:
    """Return what runs on a host beside tasks: modules, their helpers, files and templates of roles."""
    folders = [ROOT / "plugins", *(role.path / part for role in ROLES for part in ("files", "templates"))]
    return sorted(
        path for folder in folders for path in folder.rglob("*") if path.suffix != ".pyc" and path.is_file()
    )


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_c10_no_module_or_script_reloads_systemd(path: Path) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    # What is told to a person stands in backquotes; what is run does not.
    assert RELOADS.findall(re.sub(r"`[^`]*`", "", text)) == []


def test_c10_no_playbook_reloads_systemd() -> None:
    for path in sorted((ROOT / "playbooks").rglob("*.yml")):
        plays = load(path) or []
        tasks = [task for play in plays for task in unfold([play, *(play.get("tasks") or [])])]
        assert [task.get("name") for task in tasks if reloads(task)] == [], path


@pytest.mark.parametrize(("task", "found"), [
    ({"ansible.builtin.systemd_service": {"name": "docker", "state": "restarted"}}, False),
    ({"ansible.builtin.systemd_service": {"name": "docker", "enabled": True}}, True),
    ({"ansible.builtin.systemd_service": {"daemon_reload": True}}, True),
    ({"ansible.builtin.command": {"argv": ["systemctl", "daemon-reload"]}}, True),
    ({"ansible.builtin.command": {"argv": ["systemctl", "--now", "enable", "docker"]}}, True),
    ({"ansible.builtin.shell": "systemctl restart docker && systemctl daemon-reload"}, True),
    ({"ansible.builtin.command": {"argv": ["systemctl", "restart", "docker"]}}, False),
    ({"ansible.builtin.command": {"argv": ["systemctl", "is-enabled", "docker"]}}, False),
])  # fmt: skip
def test_c10_the_look_itself(task: dict[str, Any], found: bool) -> None:  # noqa: FBT001
    assert reloads(task) is found
