"""What is due after the one look: nothing on a host that is as it should be, everything above what is not."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from plugins.filter.gpu_host_due import due
from plugins.filter.gpu_host_toolkit_cdi import toolkit_cdi
from tests.unit.plugins.plans import recorded, wanted

ROLES = ["driver", "engine", "toolkit", "image"]
SETTLED = {"repository": True, "runtime": True}
SOURCE = "/etc/apt/sources.list.d/nvidia-container-toolkit.sources"
# A host that these roles provisioned, as its plans see it.
DONE: dict[str, Any] = {
    "driver": {"refusal": "", "notes": [], "action": "keep", "unheld": []},
    "engine": {"refusal": "", "notes": [], "install": False, "start": False},
    "toolkit": {"refusal": "", "notes": [], "install": False, "repository": {"url": "x"}},
}
CDI: dict[str, Any] = {"due": False, "stuck": False, "notes": []}


def asked(**changes: Any) -> dict[str, Any]:
    plans = {role: {**plan, **changes.pop(role, {})} for role, plan in copy.deepcopy(DONE).items()}
    return {
        "plans": plans, "cdi": CDI, "states": dict.fromkeys([*ROLES, "runtime"], "present"),
        "kernel_module": True, "image_settled": True, **changes,
    }  # fmt: skip


def found(**driver: Any) -> dict[str, Any]:
    return {"driver": {"works": True, "reboot": None, **driver}, "image": True, "settled": SETTLED}


def test_a_host_that_is_as_it_should_be_owes_nothing() -> None:
    assert due(found(), asked()) == dict.fromkeys([*ROLES, "repository", "runtime"], False)


@pytest.mark.parametrize("settled", [{}, {"repository": False, "runtime": False}])
def test_a_repository_and_a_runtime_that_differ_or_were_not_looked_at_are_due_alone(
    settled: dict[str, bool],
) -> None:
    made = due({**found(), "settled": settled}, asked())
    assert [name for name in made if made[name]] == ["repository", "runtime"]
    assert not due({**found(), "settled": settled}, asked(toolkit={"repository": {}}))["repository"]


def test_a_runtime_that_is_to_go_is_due() -> None:
    assert due(found(), asked(states={**dict.fromkeys(ROLES, "present"), "runtime": "absent"}))["runtime"]


@pytest.mark.parametrize(
    ("first", "changes"),
    [
        ("driver", {"driver": {"action": "install"}}),
        ("driver", {"driver": {"action": "change"}}),
        ("driver", {"driver": {"unheld": ["libcuda1"]}}),
        ("driver", {"driver": {"notes": ["know this"]}}),
        ("driver", {"driver": {"refusal": "no"}}),
        ("driver", {"states": {**dict.fromkeys([*ROLES, "runtime"], "present"), "driver": "absent"}}),
        ("engine", {"engine": {"install": True}}),
        ("engine", {"engine": {"start": True}}),
        ("engine", {"engine": {"refusal": "no"}}),
        ("toolkit", {"toolkit": {"install": True}}),
        ("toolkit", {"toolkit": {"notes": ["know this"]}}),
        ("toolkit", {"cdi": {**CDI, "due": True}}),
        ("toolkit", {"cdi": {**CDI, "stuck": True}}),
        ("toolkit", {"cdi": {}}),
        ("image", {"image_settled": False}),
        ("image", {"states": {**dict.fromkeys([*ROLES, "runtime"], "present"), "image": "absent"}}),
    ],
)
def test_what_is_not_as_it_should_be_is_due_and_so_is_all_above_it(
    first: str, changes: dict[str, Any]
) -> None:
    made = due(found(), asked(**changes))
    assert [role for role in ROLES if made[role]] == ROLES[ROLES.index(first) :]
    assert made["runtime"] == (first != "image")
    # The whole role looks at its repository too.
    assert not made["repository"]


def test_a_driver_that_does_not_work_or_whose_reboot_is_over_is_looked_at() -> None:
    assert due(found(works=False), asked())["driver"]
    assert not due(found(works=False), asked(kernel_module=False))["driver"]
    assert due(found(reboot={"due": False, "because": "x"}), asked())["driver"]


def test_an_image_that_is_missing_or_not_known_is_due() -> None:
    assert due({**found(), "image": False}, asked())["image"]
    assert due({**found(), "image": None}, asked())["image"]


@pytest.mark.parametrize("role", ["driver", "engine", "toolkit"])
def test_a_plan_that_nobody_made_is_due(role: str) -> None:
    made = asked()
    made["plans"][role] = {}
    assert due(found(), made)[role]


def test_plans_of_a_recorded_bare_host_fit() -> None:
    bare = recorded("debian13-bare")
    plans = wanted(bare)
    cdi = toolkit_cdi(bare, plans["plans"]["toolkit"]["version"], changed=True)
    made = due(bare, {**asked(), **plans, "cdi": cdi})
    assert all(made[role] for role in ROLES)
