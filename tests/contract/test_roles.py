"""Every role has the same skeleton; argument specs, defaults and README say the same."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.contract.roles import ROLES, Role, load, unfold

SKELETON = ["README.md", "defaults/main.yml", "meta/main.yml", "meta/argument_specs.yml", "tasks/main.yml"]
CONTENTS = {"name", "when", "tags", "vars", "apply"}
EXPECTED_ROLES = {
    "docker_engine",
    "docker_nvidia_runtime",
    "gpu_sharing",
    "gpu_verify",
    "host_preflight",
    "nvidia_container_toolkit",
    "nvidia_driver",
    "race_image",
    "registry_login",
}
TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str, "path": str, "bool": bool, "int": int, "float": (int, float), "list": list, "dict": dict,
    "raw": object,
}  # fmt: skip

each_role = pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)


def test_the_roles_of_the_design_are_there() -> None:
    assert {role.name for role in ROLES} >= EXPECTED_ROLES


@each_role
def test_skeleton(role: Role) -> None:
    assert [name for name in SKELETON if not (role.path / name).is_file()] == []


@each_role
def test_main_is_a_table_of_contents(role: Role) -> None:
    for task in load(role.path / "tasks/main.yml"):
        action = set(task) - CONTENTS
        assert action <= {"ansible.builtin.include_tasks", "ansible.builtin.import_tasks"}, task["name"]
        assert len(action) == 1, task["name"]


@each_role
def test_argument_specs_have_the_defaults(role: Role) -> None:
    assert set(role.options) == set(role.defaults)
    for name, option in role.options.items():
        assert option.get("default") == role.defaults[name], name


@each_role
def test_argument_specs_are_typed_and_described(role: Role) -> None:
    for name, option in role.options.items():
        assert option.get("description"), name
        assert isinstance(option.get("default"), (TYPES[option["type"]], type(None))), name
        assert option["type"] != "list" or "elements" in option, name
        assert "choices" not in option or option["default"] in option["choices"], name


@each_role
def test_state_can_be_absent(role: Role) -> None:
    state = role.options[f"{role.name}_state"]
    assert state["choices"] == ["present", "absent"]
    assert state["default"] == "present"


@each_role
def test_defaults_are_explained(role: Role) -> None:
    lines = (role.path / "defaults/main.yml").read_text(encoding="utf-8").splitlines()
    above = dict(zip(lines[1:], lines, strict=False))
    first = [line for line in lines if re.match(r"[a-z]", line) and above[line].strip() in {"", "---"}]
    assert first == [], "a comment above each variable, or above the group that it belongs to"


@each_role
def test_public_and_internal_names(role: Role) -> None:
    assert [name for name in role.defaults if not name.startswith(f"{role.name}_")] == []
    internal = [name for file in role.files("vars") for name in load(file) or {}]
    internal += [task["register"] for task in role.tasks() if "register" in task]
    assert [name for name in internal if not name.startswith(f"__{role.name}_")] == []
    facts = [task.get("ansible.builtin.set_fact") or {} for task in role.tasks()]
    exported = [name for fact in facts for name in fact if name != "cacheable"]
    assert [name for name in exported if not name.removeprefix("__").startswith(f"{role.name}_")] == []


@each_role
def test_readme_lists_every_variable(role: Role) -> None:
    rows = dict(re.findall(rf"^\| `({role.name}_\w+)` \| (.+?) \|", role.readme, re.MULTILINE))
    assert set(rows) == set(role.defaults)
    for name, default in role.defaults.items():
        assert "{{" in str(default) or cell(default) in rows[name], name


def cell(default: Any) -> str:
    """Write a default as the README's tables do."""
    if isinstance(default, bool) or default is None:
        return f"`{str(default).lower().replace('none', 'null')}`"
    if isinstance(default, list):
        return f"`[{', '.join(map(str, default))}]`"
    return f"`{default}`" if str(default) else '`""`'


@each_role
def test_tasks_are_named_and_swallow_nothing(role: Role) -> None:
    for task in role.tasks():
        assert task.get("name"), task
        assert "ignore_errors" not in task, task["name"]


@each_role
def test_a_task_that_may_not_fail_says_why(role: Role) -> None:
    for file in [*role.files("tasks"), *role.files("handlers")]:
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if re.search(r"failed_when:\s*false", line):
                assert "#" in line or lines[number - 1].strip().startswith("#"), f"{file}:{number + 1}"


def test_unfold_finds_tasks_in_blocks() -> None:
    inner = {"name": "inner"}
    assert unfold([{"name": "outer", "block": [{"rescue": [inner]}]}])[-1] is inner
