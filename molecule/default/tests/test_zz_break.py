"""One thing broken by hand: the layer is named, what depends on it is blocked, and nothing else complains.

Named to run last: these tests change the host, and put back what they broke.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lab
import pytest

Host = Any
NVML = "$(readlink -f /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1)"
RESTART = "systemctl reset-failed docker docker.socket; systemctl restart docker"


@dataclass(frozen=True)
class Break:
    """How to break a layer and put it back, which findings fail, and which of the others may be blocked."""

    do: str
    undo: str
    layer: str
    may_be_blocked: Callable[[str], bool]


BREAKS = {
    "engine-stopped": Break(
        "systemctl stop docker.socket docker.service",
        "systemctl start docker.socket docker.service",
        "engine",
        lambda id_: id_.split(".")[0] in {"engine", "runtime", "container", "image", "framework", "race"},
    ),
    "runtime-unregistered": Break(
        "cp /etc/docker/daemon.json /root/daemon.json; "
        """python3 -c 'import json; p = "/etc/docker/daemon.json"; d = json.load(open(p)); """
        f"""d.pop("runtimes"); json.dump(d, open(p, "w"))'; {RESTART}""",
        f"cp /root/daemon.json /etc/docker/daemon.json; {RESTART}",
        "runtime",
        lambda id_: id_.startswith("container.run-runtime"),
    ),
    "library-emptied": Break(
        f"cp -a {NVML} /root/nvml; truncate -s 0 {NVML}",
        f"cat /root/nvml > {NVML}",
        "driver",
        lambda id_: id_.split(".")[0] in {"driver", "toolkit", "container", "image", "framework", "race"},
    ),
    "package-skew": Break(
        "apt-get update -qq && apt-get install -y -qq --allow-downgrades nvidia-container-toolkit=1.20.1-1",
        "apt-get install -y -qq nvidia-container-toolkit=1.20.2-1",
        "toolkit",
        lambda id_: id_.split(".")[0] in {"container", "framework", "race"},
    ),
}


@pytest.fixture
def broken(host: Host, request: pytest.FixtureRequest) -> Iterator[Break]:
    case: Break = BREAKS[request.param]
    done = host.run(case.do)
    assert done.rc == 0, done.stderr
    yield case
    done = host.run(case.undo)
    assert done.rc == 0, done.stderr


@pytest.mark.parametrize("broken", BREAKS, indirect=True)
def test_the_broken_layer_is_named(broken: Break, name: str, tmp_path: Path) -> None:
    done = lab.verify(tmp_path)
    assert done.returncode != 0
    found = lab.findings(tmp_path / name)
    failed = [f for f in found if f["status"] == "fail" and not f["expected"]]
    assert {f["layer"] for f in failed} == {broken.layer}, failed
    assert all(f["remedy"] for f in failed)
    culprits = {f["id"] for f in failed} | {"framework.cpu-build"}
    blocked = [f for f in found if f["status"] == "blocked"]
    assert blocked
    assert {f["culprit"] for f in blocked} <= culprits
    wrongly = [
        f["id"]
        for f in blocked
        if f["culprit"] != "framework.cpu-build" and not broken.may_be_blocked(f["id"])
    ]
    assert not wrongly

    recordings = sorted((tmp_path / name).glob("recording-*.json"))
    doctor = lab.gpu_verify("doctor", "--recording", *recordings)
    assert doctor.returncode == 1, doctor.stderr
    assert failed[0]["id"] in doctor.stdout


def test_a_stopped_engine_is_not_woken(host: Host, name: str, tmp_path: Path) -> None:
    host.run_expect([0], "systemctl stop docker.socket docker.service && systemctl start docker.socket")
    try:
        lab.verify(tmp_path)
        assert "engine.answers" in {f["id"] for f in lab.findings(tmp_path / name) if f["status"] == "fail"}
        assert host.run("systemctl is-active docker.service").stdout.strip() == "inactive"
    finally:
        host.run_expect([0], f"{RESTART}")


def test_put_back_it_passes(name: str, tmp_path: Path) -> None:
    done = lab.verify(tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    failed = [f["id"] for f in lab.findings(tmp_path / name) if f["status"] == "fail"]
    assert failed == ["framework.cpu-build"]


def test_a_host_that_cannot_be_reached_has_a_row_that_says_so(name: str, tmp_path: Path) -> None:
    done = lab.verify(tmp_path, "-e", "ansible_host=sim-not-there")
    assert done.returncode != 0
    assert "unreachable" in (tmp_path / "README.md").read_text()
    assert (tmp_path / "failed.hosts").read_text().split() == [name]


def test_a_host_that_takes_too_long_has_a_row_that_says_so(name: str, tmp_path: Path) -> None:
    done = lab.verify(tmp_path, "-e", "gpu_verify_deadline=1")
    assert done.returncode != 0
    assert json.loads((tmp_path / name / "run.json").read_text())["collection"]["outcome"] == "timed-out"
    assert (tmp_path / "failed.hosts").read_text().split() == [name]


def test_nothing_to_do_needs_no_network_and_changes_nothing(host: Host, name: str) -> None:
    unreachable = "/etc/apt/apt.conf.d/99-unreachable"
    host.run_expect([0], f"""echo 'Acquire::http::Proxy "http://127.0.0.1:9";' > {unreachable}""")
    try:
        done = lab.play("provision")
    finally:
        host.run_expect([0], f"rm {unreachable}")
    assert done.returncode == 0, done.stdout[-3000:]
    recap = next(line for line in done.stdout.splitlines() if line.startswith(name) and "changed=" in line)
    assert "changed=0" in recap
