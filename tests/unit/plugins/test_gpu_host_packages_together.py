"""Several roles' packages in one run of apt, with a small apt of our own."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.plugins.modules import run_module
from tests.unit.plugins.test_gpu_host_packages import BEFORE, Host
from tests.unit.plugins.test_locks import end, hold

if TYPE_CHECKING:
    from pathlib import Path

OFFERS: dict[str, Any] = {
    "docker.io": {"version": "26", "needs": ["runc"]},
    "runc": {"version": "1"},
    "toolkit": {"version": "2", "needs": ["base", "runc"]},
    "base": {"version": "2"},
}


@pytest.fixture
def host(tmp_path: Path) -> Host:
    made = Host(tmp_path)
    made.write(offers=OFFERS)
    return made


def bring(host: Host, *, check: bool = False, **more: Any) -> dict[str, Any]:
    host.write(log=[])
    wanted = [
        {"role": "docker_engine", "names": ["docker.io"]},
        {
            "role": "nvidia_container_toolkit",
            "names": ["toolkit=2"],
            "files": [str(host.lock.parent / "spec")],
        },
    ]
    given = {"wanted": wanted, "path": str(host.owned), "lock_timeout": 1, **more}
    env = {**os.environ, "PATH": f"{host.bin}:{os.environ['PATH']}", "FAKE_APT": str(host.file)}
    arguments = {**given, "_ansible_check_mode": check}
    return run_module("gpu_host_packages_together", arguments, str(host.lock), before=BEFORE, env=env)


def owned(host: Host) -> dict[str, Any]:
    roles: dict[str, Any] = json.loads(host.owned.read_text())["roles"] if host.owned.exists() else {}
    return roles


def installs(host: Host) -> list[str]:
    return [line for line in host.log() if " install " in line and "--print-uris" not in line]


def test_one_run_of_apt_and_each_package_has_its_own_owner(host: Host) -> None:
    result = bring(host)
    assert (result["changed"], result["left"]) == (True, "")
    assert set(host.read()["packages"]) == {"theirs", *OFFERS}
    assert len(installs(host)) == 1
    assert sum(line.endswith(" update") for line in host.log()) == 1
    assert owned(host)["docker_engine"]["packages"] == ["docker.io", "runc"]
    assert owned(host)["nvidia_container_toolkit"]["packages"] == ["base", "toolkit"]
    assert owned(host)["nvidia_container_toolkit"]["files"] == [str(host.lock.parent / "spec")]


def test_a_second_run_does_nothing_and_asks_nobody(host: Host) -> None:
    bring(host)
    again = bring(host)
    assert (again["changed"], again["left"]) == (False, "all of it is here")
    assert host.log() == []


def test_a_file_and_a_package_that_are_there_stay_the_users(host: Host) -> None:
    (host.lock.parent / "spec").write_text("theirs")
    host.has("runc", version="1")
    assert bring(host)["changed"]
    assert owned(host)["docker_engine"]["packages"] == ["docker.io"]
    assert owned(host)["nvidia_container_toolkit"]["files"] == []


def test_it_is_noted_before_it_is_there_and_left_to_the_roles_after_a_failure(host: Host) -> None:
    host.write(fails="E: Sub-process /usr/bin/dpkg returned an error code (1)")
    result = bring(host)
    assert (result["failed"], result["reason"]) == (True, "install")
    assert "Half configured now: " in result["msg"]
    assert owned(host)["docker_engine"]["packages"] == ["docker.io", "runc"]
    host.write(fails="", packages={})
    again = bring(host)
    assert not again["changed"]
    assert "packages of its own" in again["left"]
    assert installs(host) == []


HELD = [
    {"role": "docker_engine", "names": ["docker.io"]},
    {"role": "nvidia_container_toolkit", "names": ["toolkit=2"], "hold": True},
]


def test_what_is_to_be_held_is_held_and_nothing_else(host: Host) -> None:
    bring(host, wanted=HELD)
    assert host.read()["holds"] == ["base", "toolkit"]
    assert owned(host)["nvidia_container_toolkit"]["holds"] == ["base", "toolkit"]
    assert owned(host)["nvidia_container_toolkit"]["settings"] == {}
    assert owned(host)["docker_engine"]["holds"] == []


def test_a_hold_that_was_cut_off_is_noted_as_still_to_be_done(host: Host) -> None:
    host.write(fails="E: Sub-process /usr/bin/dpkg returned an error code (1)")
    bring(host, wanted=HELD)
    assert host.read()["holds"] == []
    assert owned(host)["nvidia_container_toolkit"]["settings"] == {"holding": True}


@pytest.mark.parametrize(
    ("state", "left"),
    [
        ({"packages": {"theirs": ["iF", "1"]}}, "half configured: theirs"),
        ({"packages": {"runc": ["ii", "0"]}, "holds": ["runc"]}, "Held by somebody"),
        ({"packages": {"runc": ["ii", "0"]}}, "runc would change"),
        ({"offers": {**OFFERS, "base": {"version": "2", "breaks": ["theirs"]}}}, "would remove theirs"),
        ({"update": "E: The list of sources could not be read."}, "cannot read its package sources"),
        ({"unpacked": 900 * 10**9}, "/usr has"),
    ],
)
def test_what_apt_objects_to_is_left_to_the_roles_and_nothing_is_changed(
    host: Host, state: dict[str, Any], left: str
) -> None:
    host.write(**state)
    before = host.read()["packages"]
    result = bring(host)
    assert not result["changed"]
    assert left in result["left"]
    assert (host.read()["packages"], owned(host), installs(host)) == (before, {}, [])


def test_a_held_lock_is_named_and_nothing_is_done(host: Host) -> None:
    holder = hold(host.lock)
    try:
        result = bring(host)
    finally:
        end(holder)
    assert (result["failed"], result["reason"]) == (True, "lock")
    assert installs(host) == []
    assert owned(host) == {}


def test_check_mode_says_what_would_come_and_takes_no_network(host: Host) -> None:
    result = bring(host, check=True)
    assert (result["changed"], result["installed"]) == (True, ["docker.io", "toolkit=2"])
    assert host.log() == []
    assert owned(host) == {}


def test_without_apt_it_is_left_to_the_roles(host: Host) -> None:
    (host.bin / "apt-get").unlink()
    hide = (
        "from ansible.module_utils import basic as b\nb.AnsibleModule.get_bin_path = lambda *a, **k: None\n"
    )
    given = {"wanted": [{"role": "docker_engine", "names": ["docker.io"]}], "path": str(host.owned)}
    result = run_module("gpu_host_packages_together", given, str(host.lock), before=BEFORE + hide)
    assert not result["changed"]
    assert result["left"] == "there is no apt-get on this host"
