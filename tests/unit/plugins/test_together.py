"""Whose packages come at once: those of several layers, where nothing stands between them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from plugins.filter.gpu_host_together import together

LAYERS = ("driver", "engine", "toolkit")
WAY = {"proxy": "", "ca_file": "", "hold": False}
FOUND = {"machine": {"family": "debian"}, "toolkit": {"installed": {}, "obsolete": {}}}
PLANS: dict[str, Any] = {
    "driver": {
        "refusal": "", "action": "install", "packages": ["nvidia-smi"], "repository": {}, "gpg": [],
        "pinning": [], "replaces": [], "modules": [],
    },
    "engine": {"refusal": "", "install": True, "names": ["docker.io"], "repository": {}, "replaces": []},
    "toolkit": {"refusal": "", "differs": True, "packages": ["toolkit=1"], "repository": {"url": "x"}},
}  # fmt: skip


def asked(**changes: Any) -> dict[str, Any]:
    plans = {layer: {**plan, **changes.pop(layer, {})} for layer, plan in copy.deepcopy(PLANS).items()}
    return {
        "plans": plans, "kernel_module": False, "states": dict.fromkeys(LAYERS, "present"),
        "folders": dict.fromkeys(LAYERS, ""), "apt": dict.fromkeys(LAYERS, WAY), **changes,
    }  # fmt: skip


def layers(found: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    return [row["layer"] for row in together(found, wanted)]


def test_all_that_a_bare_host_lacks_comes_at_once() -> None:
    assert together(FOUND, asked()) == [
        {"layer": "driver", "role": "nvidia_driver", "names": ["nvidia-smi"], **WAY},
        {"layer": "engine", "role": "docker_engine", "names": ["docker.io"], **WAY},
        {"layer": "toolkit", "role": "nvidia_container_toolkit", "names": ["toolkit=1"], **WAY},
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"kernel_module": True},
        {"driver": {"action": "change"}},
        {"driver": {"repository": {"url": "x"}}},
        {"driver": {"gpg": ["gpgv"]}},
        {"driver": {"pinning": ["pin"]}},
        {"driver": {"replaces": ["old"]}},
        {"driver": {"modules": ["open"]}},
        {"states": {**dict.fromkeys(LAYERS, "present"), "driver": "absent"}},
        {"states": {**dict.fromkeys(LAYERS, "present"), "driver": "absent"}, "driver": {"action": "keep"}},
    ],
)
def test_a_driver_with_steps_between_leaves_each_its_own_turn(changes: dict[str, Any]) -> None:
    assert layers(FOUND, asked(**changes)) == []


@pytest.mark.parametrize("action", ["keep", "none"])
def test_above_a_driver_that_is_left_as_it_is_the_others_come_at_once(action: str) -> None:
    for module in (True, False):
        assert layers(FOUND, asked(driver={"action": action}, kernel_module=module)) == ["engine", "toolkit"]


@pytest.mark.parametrize(
    "changes",
    [{"install": False}, {"repository": {"url": "x"}}, {"replaces": ["podman-docker"]}],
)
def test_an_engine_with_steps_between_comes_by_itself(changes: dict[str, Any]) -> None:
    assert layers(FOUND, asked(engine=changes)) == ["driver", "toolkit"]


def test_a_toolkit_that_was_here_comes_by_itself() -> None:
    for toolkit in (
        {"installed": {"toolkit": "0"}, "obsolete": {}},
        {"installed": {}, "obsolete": {"old": "1"}},
    ):
        assert layers({**FOUND, "toolkit": toolkit}, asked()) == ["driver", "engine"]
    assert layers(FOUND, asked(toolkit={"differs": False})) == ["driver", "engine"]
    assert layers(FOUND, asked(toolkit={"repository": {}})) == ["driver", "engine"]


@pytest.mark.parametrize(
    "changes",
    [
        {"driver": {"action": "keep"}, "engine": {"install": False}},
        {"folders": {**dict.fromkeys(LAYERS, ""), "toolkit": "/srv/packages"}},
        {"apt": {**dict.fromkeys(LAYERS, WAY), "engine": {"proxy": "http://proxy:3128", "ca_file": ""}}},
        {"engine": {"refusal": "a kubelet runs here"}},
    ],
)
def test_none_where_it_is_one_roles_or_apt_is_run_in_different_ways(changes: dict[str, Any]) -> None:
    assert together(FOUND, asked(**changes)) == []


def test_none_on_dnf_and_none_without_all_plans() -> None:
    assert together({**FOUND, "machine": {"family": "redhat"}}, asked()) == []
    wanted = asked()
    wanted["plans"]["driver"] = {}
    assert together(FOUND, wanted) == []


def test_one_proxy_for_all_is_the_runs() -> None:
    way = {"proxy": "http://proxy:3128", "ca_file": "/etc/ssl/own.pem"}
    made = together(FOUND, asked(apt=dict.fromkeys(LAYERS, way)))
    assert [{key: row[key] for key in way} for row in made] == [way] * 3
