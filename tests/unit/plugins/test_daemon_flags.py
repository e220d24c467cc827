"""The command line in the unit, and what of it the file may not say again (field case A5)."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.module_utils.gpu_host_daemon_flags import (
    cdi_by_flag,
    clashes,
    command_line,
    flags,
    runtime_by_flag,
    values,
)

# As the package docker-ce has it.
PLAIN = """# /usr/lib/systemd/system/docker.service
[Unit]
Description=Docker Application Container Engine
ExecStart=/not/this

[Service]
Type=notify
ExecStart=/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock
ExecReload=/bin/kill -s HUP $MAINPID

[Install]
WantedBy=multi-user.target
"""
# As DGX OS adds it.
SHM = """
# /etc/systemd/system/docker.service.d/docker-override.conf
[Service]
ExecStart=
ExecStart=/usr/bin/dockerd -H fd:// -s overlay2 --default-shm-size=1G
"""
CONTINUED = """
[Service]
ExecStart=
# a remark
ExecStart=-/usr/bin/dockerd \\
  # a remark in between
  --host fd:// \\
  ; another
  --add-runtime "nvidia=/opt/nvidia runtime" \\
  --debug
"""
DEBIAN = """
[Service]
EnvironmentFile=-/etc/default/docker
ExecStart=/usr/sbin/dockerd -H fd:// $DOCKER_OPTS ${ONE} --label=$WHO --label=a$$b
Environment="ONE=--mtu=1400" WHO=lab
"""
FILES = {
    "/etc/default/docker": "# remark\n"
    "DOCKER_OPTS=\"--insecure-registry=10.0.0.0/8 --dns 1.1.1.1\"\nWHO='x y'\n"
}


def argv(*parts: str) -> list[str]:
    words: list[str] = command_line("".join(parts), FILES.get)
    return words


def parsed(line: str) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = flags(["dockerd", *line.split()])
    return found


@pytest.mark.parametrize(("unit", "wanted"), [
    (PLAIN, ["/usr/bin/dockerd", "-H", "fd://", "--containerd=/run/containerd/containerd.sock"]),
    (PLAIN + SHM, ["/usr/bin/dockerd", "-H", "fd://", "-s", "overlay2", "--default-shm-size=1G"]),
    (PLAIN + SHM + CONTINUED,
     ["/usr/bin/dockerd", "--host", "fd://", "--add-runtime", "nvidia=/opt/nvidia runtime", "--debug"]),
    (DEBIAN, ["/usr/sbin/dockerd", "-H", "fd://", "--insecure-registry=10.0.0.0/8", "--dns", "1.1.1.1",
              "--mtu=1400", "--label=x y", "--label=a$b"]),
    (PLAIN + "\n[Service]\nExecStart=\n", []),
    ("", []),
    ('[Service]\nExecStart=/usr/bin/dockerd --label "never closed\n',
     ["/usr/bin/dockerd", "--label", '"never', "closed"]),
])  # fmt: skip
def test_a5_the_command_line_is_what_systemd_makes_of_unit_and_drop_ins(unit: str, wanted: list[str]) -> None:
    assert argv(unit) == wanted


@pytest.mark.parametrize("reset", ["EnvironmentFile=\n", ""])
def test_a5_an_emptied_environment_file_gives_no_flags(reset: str) -> None:
    found = argv(DEBIAN, f"\n[Service]\n{reset}")
    assert ("--insecure-registry=10.0.0.0/8" in found) is (reset == "")


@pytest.mark.parametrize(("line", "wanted"), [
    ("--debug", [("debug", "", "--debug")]),
    ("-D -H fd://", [("debug", "", "-D"), ("host", "fd://", "-H fd://")]),
    ("-Hfd:// -l=warn", [("host", "fd://", "-Hfd://"), ("log-level", "warn", "-l=warn")]),
    ("-DHunix:///x", [("debug", "", "-D"), ("host", "unix:///x", "-Hunix:///x")]),
    ("--default-runtime nvidia --mtu=9000",
     [("default-runtime", "nvidia", "--default-runtime nvidia"), ("mtu", "9000", "--mtu=9000")]),
    ("--live-restore --storage-driver overlay2",
     [("live-restore", "", "--live-restore"), ("storage-driver", "overlay2", "--storage-driver overlay2")]),
])  # fmt: skip
def test_a5_flags_in_every_spelling(line: str, wanted: list[tuple[str, str, str]]) -> None:
    assert parsed(line) == wanted


HOSTS = {"hosts": ["tcp://0.0.0.0:2375", "unix:///var/run/docker.sock"]}


@pytest.mark.parametrize(("line", "document", "wanted"), [
    ("-H fd://", HOSTS, {"hosts": ["-H fd://"]}),
    ("--host=fd:// --host tcp://x", HOSTS, {"hosts": ["--host=fd://", "--host tcp://x"]}),
    ("--containerd=/run/x", HOSTS, {}),
    ("--default-shm-size=1G", {"default-shm-size": "2G"}, {"default-shm-size": ["--default-shm-size=1G"]}),
    ("-s overlay2", {"storage-driver": "overlay2"}, {"storage-driver": ["-s overlay2"]}),
    ("--insecure-registry=a", {"insecure-registries": []},
     {"insecure-registries": ["--insecure-registry=a"]}),
    ("-D", {"debug": False}, {"debug": ["-D"]}),
    # dockerd adds runtimes up, and refuses everything else that is in both.
    ("--add-runtime nvidia=/x", {"runtimes": {"nvidia": {"path": "/y"}}}, {}),
    ("--default-runtime=nvidia", {"default-runtime": "nvidia"},
     {"default-runtime": ["--default-runtime=nvidia"]}),
    ("--feature cdi=true", {"features": {"buildkit": True}}, {"features": ["--feature cdi=true"]}),
    ("--log-opt max-size=1m", {"log-opts": {"max-file": "3"}}, {"log-opts": ["--log-opt max-size=1m"]}),
    # Of other objects each key counts by itself.
    ("--http-proxy=http://p", {"proxies": {"http-proxy": "http://q"}},
     {"http-proxy": ["--http-proxy=http://p"]}),
    ("--no-proxy=x", {"proxies": {"http-proxy": "http://q"}}, {}),
    ("--host-gateway-ip=10.0.0.1", {"host-gateway-ip": "1.1.1.1"},
     {"host-gateway-ips": ["--host-gateway-ip=10.0.0.1"]}),
    ("--exec-opt native.cgroupdriver=systemd", {"exec-opts": []},
     {"exec-opts": ["--exec-opt native.cgroupdriver=systemd"]}),
])  # fmt: skip
def test_a5_what_is_a_flag_and_in_the_file(
    line: str, document: dict[str, Any], wanted: dict[str, list[str]]
) -> None:
    assert clashes(parsed(line), document) == wanted


def test_a5_what_of_ours_is_a_flag_already() -> None:
    found = parsed(
        "--add-runtime=kata=/k --add-runtime nvidia=/usr/bin/n --feature cdi --config-file=/srv/d.json"
    )
    assert runtime_by_flag(found, "nvidia") == "/usr/bin/n"
    assert runtime_by_flag(found, "runsc") is None
    assert cdi_by_flag(found) is True
    assert values(found, "config-file") == ["/srv/d.json"]


@pytest.mark.parametrize(("line", "on"), [
    ("", None), ("--feature buildkit", None), ("--feature cdi=false", False), ("--feature=cdi=true", True),
])  # fmt: skip
def test_a5_cdi_as_a_flag(line: str, on: bool | None) -> None:  # noqa: FBT001  # a test's parameter
    assert cdi_by_flag(parsed(line)) is on
