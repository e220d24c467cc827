"""The engine that is there: every kind told apart, and no socket woken (field cases A6, A8)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from plugins.module_utils.gpu_host_engine import STRANGERS, engine, named, stranger
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Commands = dict[str, tuple[int, str]]
PACKAGED: Commands = {
    "docker --version": (0, "Docker version 26.1.5+dfsg1, build a72d7cd"),
    "dockerd": (0, ""),
}
RUNS: Commands = {"systemctl is-active": (0, "active\ninactive\ninactive")}
STOPPED: Commands = {"systemctl is-active": (3, "inactive\ninactive\ninactive")}
INFO = {
    "ServerVersion": "26.1.5",
    "OperatingSystem": "Debian GNU/Linux 13 (trixie)",
    "DockerRootDir": "/var/lib/docker",
    "SecurityOptions": ["name=seccomp,profile=builtin"],
    "LiveRestoreEnabled": False,
    "ContainersRunning": 0,
}
ASK = "docker -H unix:///var/run/docker.sock info"


def says(**changes: Any) -> Commands:
    return {ASK: (0, "WARNING: something\n" + json.dumps({**INFO, **changes}))}


class Asked(Machine):
    """A machine that remembers what was run on it."""

    def run(self, argv: list[str], seconds: float = 20.0) -> tuple[int | None, str]:
        self.__dict__.setdefault("asked", []).append(" ".join(argv))
        return super().run(argv, seconds)


def look(root: Path, commands: Commands, files: Mapping[str, str] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = engine(Machine(root, files or {}, commands))
    return found


def test_an_engine_from_packages(tmp_path: Path) -> None:
    found = look(tmp_path, {**PACKAGED, **RUNS, **says()})
    assert {name: found[name] for name in ("client", "daemon", "version", "active", "snap", "kind")} == {
        "client": "/usr/bin/docker", "daemon": "/usr/bin/dockerd", "version": "26.1.5+dfsg1",
        "active": True, "snap": False, "kind": "engine",
    }  # fmt: skip
    assert found["live_restore"] is False
    assert found["containers_running"] == 0
    assert found["config_file"] == "/etc/docker/daemon.json"
    assert stranger(found) is None


def test_a_bare_machine(tmp_path: Path) -> None:
    found = look(tmp_path, {})
    assert (found["client"], found["version"], found["active"], found["kind"]) == (None, None, False, "none")
    assert found["live_restore"] is None
    assert found["flags"] == []
    assert stranger(found) is None


def test_a_stopped_daemon_is_not_asked(tmp_path: Path) -> None:
    machine = Asked(tmp_path, {}, {**PACKAGED, **STOPPED, **says()})
    found = engine(machine)
    assert (found["active"], found["containers_running"]) == (False, None)
    assert [line for line in machine.__dict__["asked"] if "-H" in line] == []


DESKTOP_DIR = {"/home/a/.docker/desktop/x": ""}
ROOTLESS = {"/run/user/1000/docker.sock": ""}
SNAP_RUNS: Commands = {"systemctl is-active": (0, "inactive\nactive\ninactive")}
BOTH_RUN: Commands = {"systemctl is-active": (0, "active\nactive\ninactive")}
CLIENT: Commands = {"docker --version": (0, "Docker version 28.4.0, build x")}
SNAP_CLIENT: Commands = {"/snap/bin/docker": (0, "Docker version 28.4.0, build x")}
SNAP_ROOT = "/var/snap/docker/common/var-lib-docker"
SHIM = {"/usr/bin/docker": '#!/bin/sh\nexec /usr/bin/podman "$@"\n'}
ROOTLESS_SAYS = says(SecurityOptions=["name=seccomp", "name=rootless"])
KINDS: list[tuple[str, Commands, dict[str, str], str]] = [
    ("snap", {**SNAP_CLIENT, **SNAP_RUNS}, {}, "/snap/bin/docker"),
    ("snap", {**PACKAGED, **SNAP_RUNS, **says(DockerRootDir=SNAP_ROOT)}, {}, "/var/snap/docker"),
    ("two", {**PACKAGED, **BOTH_RUN, **says()}, {}, "both run"),
    ("desktop", {**CLIENT, **STOPPED}, DESKTOP_DIR, "/home/a/.docker/desktop"),
    ("desktop", {**CLIENT, **STOPPED}, {"/opt/docker-desktop/x": ""}, "/opt/docker-desktop"),
    ("desktop", {**PACKAGED, **RUNS, **says(OperatingSystem="Docker Desktop")}, {}, "calls itself"),
    ("rootless", {**PACKAGED, **STOPPED}, ROOTLESS, "/run/user/1000/docker.sock"),
    ("rootless", {**PACKAGED, **RUNS, **ROOTLESS_SAYS}, {}, "rootless"),
    ("podman-docker", {"docker --version": (0, "podman version 5.4.2"), **STOPPED}, {}, "stand-in"),
    ("podman-docker", {"docker --version": (125, "Error: cannot re-exec"), **STOPPED}, SHIM, "stand-in"),
    ("podman", {"podman": (0, "")}, {}, "/usr/bin/podman"),
    ("daemon-only", {"dockerd": (0, ""), **STOPPED}, {}, "without the docker command"),
    ("client-only", {**CLIENT, **STOPPED}, {}, "without a dockerd"),
    # A system's own engine is the one, whatever stands beside it.
    ("engine", {**PACKAGED, **RUNS, **says()}, {**ROOTLESS, **DESKTOP_DIR}, "/usr/bin/dockerd"),
    ("engine", {**PACKAGED, **STOPPED, "podman": (0, "")}, DESKTOP_DIR, "/usr/bin/dockerd"),
]


@pytest.mark.parametrize(("kind", "commands", "files", "because"), KINDS)
def test_a6_each_kind_is_recognised(
    tmp_path: Path, kind: str, commands: Commands, files: dict[str, str], because: str
) -> None:
    found = look(tmp_path, commands, files)
    assert (found["kind"], because in found["because"]) == (kind, True), found["because"]


@pytest.mark.parametrize("kind", STRANGERS)
def test_a6_each_stranger_has_its_own_sentence(kind: str) -> None:
    said = stranger({"kind": kind, "because": "seen so"}) or ""
    assert "seen so" in said
    assert "Needed is" in said
    assert len(set(STRANGERS.values())) == len(STRANGERS)


def test_a6_the_file_that_this_daemon_reads(tmp_path: Path) -> None:
    unit = "[Service]\nExecStart=/usr/bin/dockerd --config-file /srv/docker.json -H fd://\n"
    found = look(tmp_path, {**PACKAGED, **STOPPED, "systemctl cat docker.service": (0, unit)})
    assert found["config_file"] == "/srv/docker.json"
    assert [flag[2] for flag in found["flags"]] == ["--config-file /srv/docker.json", "-H fd://"]


def test_a6_commands_that_talk_to_another_daemon(tmp_path: Path) -> None:
    files = {
        "/root/.docker/config.json": '{"auths": {}, "currentContext": "default"}',
        "/home/a/.docker/config.json": '{"currentContext": "desktop-linux"}',
        "/home/b/.docker/config.json": "[]",
        "/home/c/.docker/config.json": "{",
        "/etc/environment": 'PATH="/usr/bin"\nDOCKER_HOST=tcp://10.0.0.5:2375\n',
    }
    assert look(tmp_path, PACKAGED, files)["elsewhere"] == [
        "a uses the context desktop-linux",
        "/etc/environment sets DOCKER_HOST to tcp://10.0.0.5:2375",
    ]


def test_g7_running_containers_and_those_with_a_card(tmp_path: Path) -> None:
    rows = (
        '"/web"\t"runc" null []',
        '"/train"\t"runc" [{"Driver":"","Count":-1,"Capabilities":[["gpu"]]}] []',
        '"/cdi"\t"runc" [{"Driver":"cdi","DeviceIDs":["nvidia.com/gpu=all"]}] []',
        '"/old"\t"nvidia" null []',
        '"/by-hand"\t"runc" null [{"PathOnHost":"/dev/nvidia0"}]',
    )
    commands = {
        **PACKAGED, **RUNS, **says(ContainersRunning=5, LiveRestoreEnabled=True),
        "docker -H unix:///var/run/docker.sock ps": (0, "1\n2\n3\n4\n5"),
        "docker -H unix:///var/run/docker.sock inspect": (0, "\n".join(rows)),
    }  # fmt: skip
    found = look(tmp_path, commands)
    assert found["containers"] == ["by-hand", "cdi", "old", "train", "web"]
    assert found["gpu_containers"] == ["by-hand", "cdi", "old", "train"]
    assert found["live_restore"] is True


@pytest.mark.parametrize(
    "answer", ["", "Cannot connect to the Docker daemon", "[]", '{"ServerErrors": ["x"]}']
)
def test_a_daemon_that_answers_nothing_useful(tmp_path: Path, answer: str) -> None:
    found = look(tmp_path, {**PACKAGED, **RUNS, ASK: (1, answer)})
    assert (found["kind"], found["containers_running"], found["containers"]) == ("engine", None, [])


def test_a8_the_switch_and_the_engines_are_seen_together(tmp_path: Path) -> None:
    files = {
        "/etc/nvidia-container-runtime/config.toml": "[nvidia-container-cli]\nno-cgroups = true\n",
        **ROOTLESS,
    }
    found = look(tmp_path, {**PACKAGED, **RUNS, **says()}, files)
    assert (found["no_cgroups"], found["rootless"]) == (True, ["/run/user/1000/docker.sock"])


def test_a_kubelet_that_runs_is_seen(tmp_path: Path) -> None:
    assert look(tmp_path, {"systemctl is-active": (0, "inactive\ninactive\nactive")})["kubelet"] is True


def test_long_lists_are_cut() -> None:
    assert named(["a", "b"]) == "a, b"
    assert named([str(number) for number in range(15)]).endswith("11 and 3 more")
