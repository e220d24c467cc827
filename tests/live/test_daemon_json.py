"""Field cases A1 to A8 and G7 on a host with a real Docker: the role as a user runs it, and what is left.

Needs a simulated host (tests/live/lab.py): its Docker is restarted several times.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from plugins.module_utils.gpu_host_daemon_flags import clashes, flags
from tests.live.lab import BARE, FILE, IMAGE, RESTART, Host, reach

if TYPE_CHECKING:
    from collections.abc import Iterator

THEIRS: dict[str, Any] = {
    "log-driver": "json-file",
    "log-opts": {"max-size": "10m", "max-file": "3"},
    "exec-opts": ["native.cgroupdriver=systemd"],
    "max-concurrent-downloads": 3,
    "runtimes": {"third": {"path": "/usr/bin/runc", "runtimeArgs": []}},
    "default-runtime": "third",
    "features": {"buildkit": True},
}


@pytest.fixture(scope="module")
def reached() -> Iterator[Host]:
    with reach() as host:
        yield host


@pytest.fixture
def host(reached: Host) -> Host:
    reached.sh(BARE)
    return reached


def test_a1_everything_else_is_kept_and_a_second_run_changes_nothing(host: Host) -> None:
    host.has(json.dumps(THEIRS))
    before = host.bytes()
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert ran.result["changed"]
    after = json.loads(host.bytes())
    assert after["runtimes"].pop("nvidia") == {"path": "nvidia-container-runtime", "args": []}
    assert after["features"].pop("cdi") is True
    assert after == THEIRS
    assert base64.b64decode(host.sh(f"base64 {ran.result['backup']!r}")).decode() == before
    info = host.info()
    assert {"nvidia", "third"} <= set(info["Runtimes"])
    assert info["DefaultRuntime"] == "third"
    assert info["CDISpecDirs"]

    started, kept = host.started(), host.bytes()
    again = host.role()
    assert again.status == 0, again.printed
    assert not again.result["changed"]
    assert (host.started(), host.bytes()) == (started, kept)

    # Written and never loaded: a file alone is no proof.
    host.sh(f"mv {FILE} /root/aside; {RESTART}; mv /root/aside {FILE}")
    drifted = host.role()
    assert drifted.status == 0, drifted.printed
    assert drifted.result["restarted"]
    assert host.bytes() == kept
    assert "nvidia" in host.info()["Runtimes"]

    gone = host.role(docker_nvidia_runtime_state="absent")
    assert gone.status == 0, gone.printed
    assert json.loads(host.bytes()) == THEIRS
    assert "nvidia" not in host.info()["Runtimes"]


def test_the_host_is_drained_before_docker_restarts_and_not_where_it_does_not(host: Host) -> None:
    host.has(json.dumps(THEIRS))
    host.sh(f"{RESTART}; rm -f /root/drained")
    started, before = host.started(), host.bytes()
    # A drain that fails: nothing is changed, and Docker runs on.
    refused = host.role(docker_nvidia_runtime_drain_command="echo busy >&2; exit 3")
    assert refused.status != 0
    assert "busy" in refused.printed
    assert (host.started(), host.bytes()) == (started, before)

    hooks = {
        # The process of the daemon that was there before, and of the one after.
        "gpu_host_drain_command": "systemctl show -P MainPID docker > /root/drained",
        "gpu_host_resume_command": "systemctl show -P MainPID docker >> /root/drained",
    }
    done = host.role(**hooks)
    assert done.status == 0, done.printed
    first, second = host.sh("cat /root/drained; rm /root/drained").split()
    assert first != second
    assert host.role(**hooks).status == 0
    assert host.sh("ls /root/drained 2> /dev/null || true") == ""
    # As the next test wants it: a daemon that knows no runtime of NVIDIA's.
    assert host.role(docker_nvidia_runtime_state="absent").status == 0


def test_a1_an_entry_of_the_users_is_reported_and_not_flattened(host: Host) -> None:
    entry = {"path": "/usr/local/bin/nvidia-container-runtime", "runtimeArgs": ["--debug"]}
    host.has(json.dumps({"runtimes": {"nvidia": entry}, "features": {"cdi": True}}))
    before = host.bytes()
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "kept as it is" in ran.printed
    assert host.bytes() == before
    assert host.info()["Runtimes"]["nvidia"]["path"] == entry["path"]


DAMAGED = {
    "comma-before-the-brace": ('{\n  "debug": true,\n}\n', "line 2, column 16"),
    "comma-missing": ('{\n  "debug": true\n  "runtimes": {}\n}\n', "line 3, column 3"),
    "stray-brace": ('{\n  "exec-opts": ["a=b"]\n},\n  "runtimes": {}\n}\n', "line 3, column 2"),
    "web-page": ("<!DOCTYPE html>\n<html></html>\n", "line 1, column 1"),
    "comment": ('{\n  // less\n  "debug": true\n}\n', "line 2, column 3"),
    "single-quotes": ("{'debug': true}\n", "line 1, column 2"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a2_damage_is_refused_and_stays(host: Host, case: str) -> None:
    text, where = DAMAGED[case]
    host.has(text)
    started = host.started()
    ran = host.role()
    assert ran.status != 0
    assert f"{FILE}, {where}: " in ran.result["msg"]
    assert text.split("\n")[int(where.split()[1].rstrip(",")) - 1].strip() in ran.result["msg"]
    assert host.bytes() == text
    assert host.files() == ["daemon.json"]
    assert host.started() == started


def test_a3_an_empty_file_is_said_and_kept_beside(host: Host) -> None:
    host.has("")
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "was empty; treated as {}" in ran.printed
    assert json.loads(host.bytes())["runtimes"].keys() == {"nvidia"}
    assert host.sh(f"cat {ran.result['backup']!r}") == ""


def test_a3_no_file_and_no_folder_are_normal(host: Host) -> None:
    host.sh("rm -rf /etc/docker")
    ran = host.role("--check")
    assert ran.status == 0, ran.printed
    assert ran.result["changed"]
    host.sh("! [ -e /etc/docker ]")
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "nvidia" in host.info()["Runtimes"]


@pytest.mark.parametrize(("made", "said"), [
    (f"mkdir -p {FILE}", "is a directory"),
    (f"mkdir -p /etc/docker; ln -s /nowhere {FILE}", "which does not exist"),
])  # fmt: skip
def test_a3_a_directory_and_a_dangling_link_are_refused(host: Host, made: str, said: str) -> None:
    host.sh(made)
    started = host.started()
    ran = host.role()
    assert ran.status != 0
    assert said in ran.result["msg"]
    assert host.started() == started
    assert host.sh(f"stat -c %F {FILE}").strip() in {"directory", "symbolic link"}


def test_what_docker_does_not_start_with_goes_back_byte_for_byte(host: Host) -> None:
    text = '{"debug":false,   "log-driver":"json-file"}'
    host.has(text)
    # dockerd --validate lets an undefined default runtime pass; only the start refuses it.
    ran = host.role(docker_nvidia_runtime_default="nosuch")
    assert ran.status != 0
    assert "specified default runtime 'nosuch' does not exist" in ran.result["msg"]
    assert "back byte for byte, and Docker runs again" in ran.result["msg"]
    assert host.bytes() == text
    assert host.files() == ["daemon.json"]
    assert "nvidia" not in host.info()["Runtimes"]


DROP_IN = "/etc/systemd/system/docker.service.d/try.conf"


def test_a5_a_clash_with_the_unit_is_named_while_docker_is_down(host: Host) -> None:
    text = '{"hosts": ["unix:///var/run/docker.sock"]}'
    host.has(text)
    # Docker says it itself, and that is what a user sees: a start that fails.
    host.sh("systemctl reset-failed docker docker.socket; if systemctl restart docker; then exit 1; fi")
    said = host.sh("journalctl -u docker -n 30 -o cat --no-pager")
    assert "specified both as a flag and in the configuration file: hosts" in said
    ran = host.role()
    assert ran.status != 0
    assert "both set hosts (flag: -H fd://)" in ran.result["msg"]
    assert "that is why Docker is down, and not this role's doing" in ran.result["msg"]
    assert host.bytes() == text
    assert host.files() == ["daemon.json"]


BOTH: list[tuple[str, dict[str, Any]]] = [
    ("-H fd://", {"hosts": ["unix:///x"]}),
    ("-D", {"debug": False}),
    ("-s overlay2", {"storage-driver": "overlay2"}),
    ("--default-shm-size=1G", {"default-shm-size": "2G"}),
    ("--insecure-registry=a.example", {"insecure-registries": ["b.example"]}),
    ("--label a=b", {"labels": ["c=d"]}),
    ("--log-opt max-size=1m", {"log-opts": {"max-file": "3"}}),
    ("--exec-opt native.cgroupdriver=cgroupfs", {"exec-opts": ["native.cgroupdriver=cgroupfs"]}),
    ("--default-runtime=runc", {"default-runtime": "runc"}),
    ("--default-address-pool base=10.9.0.0/16,size=24", {"default-address-pools": []}),
    ("--http-proxy=http://p.example", {"proxies": {"http-proxy": "http://q.example"}}),
    ("--host-gateway-ip=10.0.0.1", {"host-gateway-ip": "10.0.0.2"}),
    ("--cdi-spec-dir=/a", {"cdi-spec-dirs": ["/b"]}),
    # These go together.
    ("-H fd://", {"debug": True}),
    ("--add-runtime x=/usr/bin/runc", {"runtimes": {"y": {"path": "/usr/bin/runc"}}}),
    ("--no-proxy=a.example", {"proxies": {"http-proxy": "http://q.example"}}),
    ("--default-shm-size=1G", {"features": {"cdi": True}}),
]


def test_a5_dockerd_refuses_what_the_role_calls_a_clash_and_nothing_else(host: Host) -> None:
    tries = "".join(
        f"""printf '%s' '{json.dumps(document)}' > /root/try.json
if dockerd --validate --config-file /root/try.json {line} 2>&1 | grep -q 'both as a flag'; then echo clash
else echo fits; fi
"""
        for line, document in BOTH
    )
    said = host.sh(tries + "rm /root/try.json").split()
    ours = [
        "clash" if clashes(flags(["dockerd", *line.split()]), document) else "fits" for line, document in BOTH
    ]
    assert said == ours


def test_a5_what_of_ours_is_a_flag_is_not_written_again(host: Host) -> None:
    flags = (
        "-H fd:// --containerd=/run/containerd/containerd.sock --default-shm-size=1G "
        "--add-runtime nvidia=/usr/bin/nvidia-container-runtime --default-runtime=runc"
    )
    host.sh(f"""mkdir -p {DROP_IN.rsplit("/", 1)[0]}
printf '[Service]\\nExecStart=\\nExecStart=/usr/sbin/dockerd \\\\\\n  {flags}\\n' > {DROP_IN}
systemctl daemon-reload; {RESTART}""")
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "registers the runtime nvidia already" in ran.printed
    assert json.loads(host.bytes()) == {"features": {"cdi": True}}
    assert "nvidia" in host.info()["Runtimes"]
    again = host.role()
    assert (again.status, again.result["changed"]) == (0, False), again.printed
    ran = host.role(docker_nvidia_runtime_default="nvidia")
    assert ran.status != 0
    assert "says --default-runtime=runc, and nvidia is asked for" in ran.result["msg"]


def test_a6_a_file_that_the_unit_names_is_the_one(host: Host) -> None:
    other = "/etc/docker/other.json"
    host.has("{}")
    host.sh(f"""echo '{{"debug": true}}' > {other}
echo 'DOCKER_OPTS="--config-file={other}"' > /etc/default/docker; {RESTART}""")
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert f"--config-file {other}: that file is the one" in ran.printed
    assert host.bytes() == "{}"
    assert "nvidia" in json.loads(host.sh(f"cat {other}"))["runtimes"]
    assert "nvidia" in host.info()["Runtimes"]
    gone = host.role(docker_nvidia_runtime_state="absent")
    assert gone.status == 0, gone.printed
    assert json.loads(host.sh(f"cat {other}")) == {"debug": True}


def test_a8_the_switch_the_wrong_way_round_is_said(host: Host) -> None:
    config = "/etc/nvidia-container-runtime/config.toml"
    host.sh(f"""mkdir -p {config.rsplit("/", 1)[0]}; ! [ -e {config} ] || cp {config} {config}.aside
printf '[nvidia-container-cli]\\nno-cgroups = true\\n' > {config}""")
    try:
        ran = host.role("--check")
    finally:
        host.sh(f"rm {config}; ! [ -e {config}.aside ] || mv {config}.aside {config}")
    assert ran.status == 0, ran.printed
    assert "no-cgroups = true, which is for rootless Docker only" in ran.printed


def test_g7_never_restarts_nothing_and_says_what_is_pending(host: Host) -> None:
    host.sh(RESTART)
    started = host.started()
    ran = host.role(docker_nvidia_runtime_restart="never")
    assert (ran.status, ran.result["changed"]) == (0, True), ran.printed
    assert ran.result["pending"] == ["daemon.json changed"]
    assert "Docker was not restarted (daemon.json changed)" in ran.printed
    assert host.started() == started
    assert "nvidia" not in host.info()["Runtimes"]
    again = host.role(docker_nvidia_runtime_restart="never")
    assert (again.status, again.result["changed"]) == (0, False), again.printed
    assert "no runtime nvidia" in again.printed
    assert host.started() == started


def test_g7_containers_are_named_before_the_restart_and_live_restore_keeps_them(host: Host) -> None:
    host.sh(IMAGE + "docker run -d --name try-web gpu-host-test-live sleep 600")
    try:
        ran = host.role("--check")
        assert "will stop the containers that were running: 1 (try-web)" in ran.printed
        host.sh("docker start try-web; docker rm -f try-web")
        host.has('{"live-restore": true}')
        host.sh(f"{RESTART}; docker run -d --name try-web gpu-host-test-live sleep 600")
        ran = host.role()
        assert ran.status == 0, ran.printed
        assert ran.result["restarted"]
        assert "stay up over Docker's restart: 1 (try-web)" in ran.printed
        assert host.sh("docker ps --format '{{.Names}}'").split() == ["try-web"]
    finally:
        host.sh("docker rm -f try-web; docker image rm gpu-host-test-live")
