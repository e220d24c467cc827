"""The engine behind daemon.json: its socket is not woken, answers have time limits, its words are found."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from plugins.module_utils import gpu_host_dockerd
from plugins.module_utils.gpu_host_dockerd import Dockerd, gpus_way, lacks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INFO = {"ServerVersion": "26.1.5", "Runtimes": {"runc": {}, "nvidia": {}}, "DefaultRuntime": "runc"}
REGISTERED = {"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Dockerd]:
    """Return a maker of engines whose programs are small scripts; calls go to the file `asked`."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    monkeypatch.setattr(gpu_host_dockerd, "PATH", f"{bin_dir}:/usr/bin:/bin")

    def make(**programs: str) -> Dockerd:
        for name, body in programs.items():
            path = bin_dir / name
            path.write_text(f'#!/bin/sh\necho "{name} $*" >> {tmp_path}/asked\n{body}\n', encoding="utf-8")
            path.chmod(0o755)
        engine = Dockerd()
        engine.program = str(bin_dir / "dockerd") if "dockerd" in programs else None
        engine.client = str(bin_dir / "docker") if "docker" in programs else None
        return engine

    return make


def asked(tmp_path: Path) -> list[str]:
    return (tmp_path / "asked").read_text(encoding="utf-8").splitlines()


def test_without_docker_there_is_nothing_to_ask(docker: Any) -> None:
    engine = docker(systemctl="exit 3")
    assert engine.version() == ""
    assert engine.info() is None
    assert not engine.older_than("/nonexistent")


def test_a_stopped_daemon_is_not_asked(docker: Any, tmp_path: Path) -> None:
    assert docker(systemctl="exit 3", docker="exit 0").info() is None
    assert [line.split()[0] for line in asked(tmp_path)] == ["systemctl"]


@pytest.mark.parametrize("answer", ["", "not JSON", "[]", '{"ServerErrors": ["no"]}'])
def test_an_answer_that_is_none_is_no_information(docker: Any, answer: str) -> None:
    assert docker(systemctl="exit 0", docker=f"echo '{answer}'").info() is None


def test_info_is_that_of_systemds_daemon_whatever_the_environment(
    docker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://elsewhere:2375")
    said = f"""[ -z "$DOCKER_HOST" ] && echo '{json.dumps(INFO)}'"""
    assert docker(systemctl="exit 0", docker=said).info() == INFO
    assert "--context default info" in asked(tmp_path)[-1]


def test_a_daemon_that_hangs_is_given_up(docker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, run = docker(systemctl="exit 0", docker="exec sleep 30"), gpu_host_dockerd.run
    monkeypatch.setattr(gpu_host_dockerd, "run", lambda argv, seconds: run(argv, min(seconds, 0.2)))
    assert engine.info() is None


def test_restart_gets_over_the_start_limit_first(docker: Any, tmp_path: Path) -> None:
    assert docker(systemctl="exit 0").restart() is None
    assert asked(tmp_path) == [
        "systemctl reset-failed docker.service docker.socket",
        "systemctl restart docker.service",
    ]


@pytest.mark.parametrize(
    ("journal", "reason"),
    [
        (
            "level=error msg=older\nfailed to start daemon: specified default runtime 'x' does not exist",
            "failed to start daemon: specified default runtime 'x' does not exist",
        ),
        ('time="1" level=fatal msg="no such driver"\nlevel=info msg=bye', "no such driver"),
        ("level=info msg=bye", "Job for docker.service failed"),
        ("", "Job for docker.service failed"),
    ],
)
def test_a_failed_start_has_docker_s_own_words(docker: Any, journal: str, reason: str) -> None:
    systemctl = 'if [ "$1" = restart ]; then echo "Job for docker.service failed" >&2; exit 1; fi'
    engine = docker(systemctl=systemctl, journalctl=f"cat <<'EOF'\n{journal}\nEOF")
    assert engine.restart() == reason


@pytest.mark.parametrize(("offset", "older"), [(-0.001, True), (0.001, False), (-5, True), (5, False)])
def test_a_file_and_a_start_within_one_second_are_told_apart(
    docker: Any,
    tmp_path: Path,
    offset: float,
    older: bool,  # noqa: FBT001  # a test's parameter
) -> None:
    file = tmp_path / "hook"
    file.touch()
    started = file.stat().st_ctime + offset
    said = f'case "$*" in *ExecMainStartTimestamp*) date -u -d @{started:.6f} "+%a %F %T.%6N UTC" ;; esac'
    assert docker(systemctl=said).older_than(str(file)) is older


def test_a_systemd_that_does_not_say_when_is_no_reason_to_restart(docker: Any, tmp_path: Path) -> None:
    (tmp_path / "hook").touch()
    assert not docker(systemctl="exit 0").older_than(str(tmp_path / "hook"))
    assert not docker(systemctl="exit 0").older_than(str(tmp_path / "none"))


def test_objection_is_what_dockerd_says(docker: Any) -> None:
    assert docker(dockerd="exit 0").objection("/x") is None
    assert docker(dockerd="echo 'unable to configure' >&2; exit 1").objection("/x") == "unable to configure"
    assert docker(dockerd="exit 7").objection("/x") == "exit status 7"


def test_a_program_that_is_not_there_is_no_traceback(docker: Any) -> None:
    engine = docker()
    engine.program = os.devnull
    assert engine.version() == ""


def device(name: str) -> dict[str, str]:
    return {"Source": "cdi", "ID": name}


@pytest.mark.parametrize(
    ("info", "document", "missing"),
    [
        (None, {}, ["the daemon does not answer"]),
        (INFO, REGISTERED, []),
        ({**INFO, "Runtimes": {"runc": {}}}, REGISTERED, ["no runtime nvidia (it has: runc)"]),
        ({**INFO, "Runtimes": None}, REGISTERED, ["no runtime nvidia (it has: none)"]),
        ({**INFO, "Runtimes": {}}, {}, []),
        (
            {
                **INFO,
                "ServerVersion": "29.2.0",
                "Runtimes": {},
                "DiscoveredDevices": [device("nvidia.com/gpu=0")],
            },
            REGISTERED,
            [],
        ),
        (
            {
                **INFO,
                "ServerVersion": "29.2.0",
                "Runtimes": {},
                "DiscoveredDevices": [device("other.com/x=0")],
            },
            REGISTERED,
            ["no runtime nvidia"],
        ),
        (
            {**INFO, "Runtimes": {}, "DiscoveredDevices": [device("nvidia.com/gpu=0")]},
            REGISTERED,
            ["no runtime"],
        ),
        (INFO, {**REGISTERED, "default-runtime": "nvidia"}, ["default runtime is runc"]),
        ({**INFO, "DefaultRuntime": "nvidia"}, {**REGISTERED, "default-runtime": "nvidia"}, []),
        ({**INFO, "CDISpecDirs": None}, {**REGISTERED, "features": {"cdi": True}}, ["does not read CDI"]),
        ({**INFO, "CDISpecDirs": ["/etc/cdi"]}, {**REGISTERED, "features": {"cdi": True}}, []),
        ({**INFO, "CDISpecDirs": None}, {**REGISTERED, "features": {"cdi": False}}, []),
    ],
)
def test_what_the_running_daemon_lacks(
    info: dict[str, Any] | None, document: dict[str, Any], missing: list[str]
) -> None:
    found = lacks(info, document)
    assert len(found) == len(missing)
    assert all(words in sentence for words, sentence in zip(missing, found, strict=True))


CARD = {"DiscoveredDevices": [device("nvidia.com/gpu=0")], "CDISpecDirs": ["/etc/cdi"]}


@pytest.mark.parametrize(
    ("info", "said"),
    [
        (None, ""),
        ({"ServerVersion": "20.10.24"}, "through the toolkit's hook (Docker 20.10.24)"),
        ({"ServerVersion": "28.5.1", **CARD}, "through the toolkit's hook (Docker 28.5.1)"),
        ({"ServerVersion": "29.2.0", **CARD}, "through CDI (Docker 29.2.0 tries it first)"),
        ({"ServerVersion": "29.4.3"}, "tries CDI first and found no card there"),
        ({"ServerVersion": "30.0", **CARD}, "through CDI"),
    ],
)
def test_d1_d6_which_way_gpus_takes(info: dict[str, Any] | None, said: str) -> None:
    assert said in gpus_way(info)


def test_d1_a_daemon_that_gives_the_card_by_cdi_alone_lacks_nothing() -> None:
    info = {"ServerVersion": "29.4.3", "Runtimes": {"runc": {}}, **CARD}
    assert lacks(info, REGISTERED) == []


@pytest.mark.parametrize(
    ("info", "loses"),
    [
        ({"ServerVersion": "26.1.5", "CgroupDriver": "systemd"}, True),
        ({"ServerVersion": "26.1.5", "CgroupDriver": "cgroupfs"}, False),
        ({"ServerVersion": "29.4.3", "CgroupDriver": "systemd"}, True),
        ({"ServerVersion": "29.4.3", "CgroupDriver": "systemd", **CARD}, False),
    ],
)
def test_c10_containers_that_a_daemon_reload_takes_the_card_from(info: dict[str, Any], loses: bool) -> None:  # noqa: FBT001
    assert ("daemon-reload` takes the card away" in gpus_way(info)) is loses
