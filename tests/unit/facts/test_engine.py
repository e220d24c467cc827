from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.engine import engine_facts

INFO = {
    "ServerVersion": "26.1.5+dfsg1",
    "Runtimes": {"runc": {"path": "runc"}, "nvidia": {"path": "nvidia-container-runtime"}},
    "DefaultRuntime": "runc",
}
CANNOT = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"


def info(**changes: object) -> dict[str, object]:
    return said(json.dumps({**INFO, **changes}) + "\n")


def test_a_running_engine() -> None:
    found = engine_facts(recording(commands={"docker-info": info(CDISpecDirs=["/etc/cdi", "/var/run/cdi"])}))
    assert (found.answers, str(found.version), found.default_runtime) == (True, "26.1.5", "runc")
    assert found.runtimes == {"runc": "runc", "nvidia": "nvidia-container-runtime"}
    assert found.cdi_dirs == ("/etc/cdi", "/var/run/cdi")


@pytest.mark.parametrize(
    ("entry", "answers"),
    [
        (said(json.dumps({"ID": "", "ServerErrors": [CANNOT]}), rc=1), False),
        # docker info of an older client: exit status 0 and no server in it
        (said(json.dumps({"ID": "", "ServerErrors": [CANNOT]}), rc=0), False),
        (said("", rc=1, stderr=CANNOT), False),
        (said("null"), False),
        (said("[]"), False),
        (said('{"ServerVersion": ""}'), False),
        ({"argv": ["docker"], "timed_out": True}, False),
        ({"argv": ["docker"], "missing": True}, False),
        ({"argv": ["docker"], "error": "not run: asleep"}, False),
    ],
)
def test_what_is_no_answer(entry: dict[str, object], *, answers: bool) -> None:
    assert engine_facts(recording(commands={"docker-info": entry})).answers is answers


def test_the_sentence_about_the_daemon_is_found() -> None:
    entry = said(json.dumps({"ServerErrors": [CANNOT]}), rc=1)
    assert engine_facts(recording(commands={"docker-info": entry})).said == CANNOT
    assert (
        engine_facts(recording(commands={"docker-info": said("", 1, f"noise\nERROR: {CANNOT}\n")})).said
        == f"ERROR: {CANNOT}"
    )


def test_states_of_service_and_socket() -> None:
    commands = {
        "docker-show": said("LoadState=loaded\nActiveState=inactive\nSubState=dead\n"),
        "docker-socket-show": said("LoadState=loaded\nActiveState=active\n"),
    }
    found = engine_facts(recording(commands=commands))
    assert (found.recorded, found.unit_state, found.socket_state, found.daemon_installed) == (
        False,
        "inactive",
        "active",
        True,
    )


@pytest.mark.parametrize(
    ("sections", "installed"),
    [
        ({"paths": {"/usr/bin/dockerd": True}}, True),
        ({"paths": {"/usr/bin/dockerd": False}}, None),
        ({"commands": {"docker-show": said("LoadState=not-found\nActiveState=inactive\n")}}, False),
        ({}, None),
    ],
)
def test_whether_there_is_a_daemon(sections: dict[str, Any], *, installed: bool | None) -> None:
    assert engine_facts(recording(**sections)).daemon_installed is installed


@pytest.mark.parametrize(
    ("changes", "default"),
    [
        ({}, False),
        ({"DefaultRuntime": "nvidia"}, True),
        (
            {"DefaultRuntime": "ours", "Runtimes": {"ours": {"path": "/usr/bin/nvidia-container-runtime"}}},
            True,
        ),
        ({"DefaultRuntime": "ours", "Runtimes": {"ours": {"path": "crun"}}}, False),
    ],
)
def test_nvidia_as_the_default_by_any_name(changes: dict[str, object], *, default: bool) -> None:
    assert engine_facts(recording(commands={"docker-info": info(**changes)})).nvidia_is_default is default


def test_only_nvidias_cdi_devices_count() -> None:
    devices = [
        {"Source": "cdi", "ID": "nvidia.com/gpu=0"},
        {"Source": "cdi", "ID": "amd.com/gpu=0"},
        "junk",
        {"ID": 3},
    ]
    found = engine_facts(recording(commands={"docker-info": info(DiscoveredDevices=devices)}))
    assert found.cdi_devices == ("nvidia.com/gpu=0",)


def test_cdi_off_and_unknown_are_two_things() -> None:
    assert engine_facts(recording(commands={"docker-info": info()})).cdi_dirs is None
    assert engine_facts(recording(commands={"docker-info": info(CDISpecDirs=None)})).cdi_dirs == ()
