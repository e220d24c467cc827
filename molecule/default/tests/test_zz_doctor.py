"""Field cases that can be made by hand on the host: the doctor says live what it says of their recordings.

Named to run late: these tests change the host, and put back what they broke.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import lab
import pytest
import yaml

Host = Any
DAEMON, CONFIG = "/etc/docker/daemon.json", "/etc/nvidia-container-runtime/config.toml"
CARDS, SPEC = "/etc/gpu-host/simulated", "/var/run/cdi/nvidia.yaml"
HOOK = "/usr/bin/nvidia-container-runtime-hook"
RESTART = "systemctl reset-failed docker docker.socket; systemctl restart docker"
# A change of the cards sets it off too, perhaps while their nodes come and go.
REFRESH = "systemctl reset-failed nvidia-cdi-refresh && systemctl restart nvidia-cdi-refresh"
DROP_IN = "/etc/systemd/system/docker.service.d/zz-try.conf"
LISTS = "/etc/apt/sources.list.d"
HALF = r"""
mkdir -p /root/half/DEBIAN
printf 'Package: users-broken\nVersion: 1\nArchitecture: all\nMaintainer: u\nDescription: x\n' \
  > /root/half/DEBIAN/control
printf '#!/bin/sh\nexit 10\n' > /root/half/DEBIAN/postinst
chmod 755 /root/half/DEBIAN/postinst
dpkg-deb --build /root/half /root/half.deb && ! dpkg --install /root/half.deb"""
DEBUG_TWICE = rf"""mkdir -p {DROP_IN.rpartition("/")[0]}
printf '[Service]\nExecStart=\nExecStart=/usr/sbin/dockerd -H fd:// --debug\n' > {DROP_IN}
sed -i '0,/{{/s//{{"debug": true,/' {DAEMON}
systemctl daemon-reload; systemctl restart docker || true"""


def changed(path: str, how: str, then: str = "true") -> tuple[str, str]:
    """Return how a file is changed, and how it comes back as it was."""
    return f"cp -p {path} /root/kept && {how} && {then}", f"cp -p /root/kept {path} && {then}"


# How each is made, and how it is taken back.
CASES = {
    "A2": changed(DAEMON, f"printf '{{\"debug\": false,}}' > {DAEMON}"),
    "A3": changed(DAEMON, f": > {DAEMON}"),
    "A5": (
        f"cp -p {DAEMON} /root/kept\n{DEBUG_TWICE}",
        f"rm {DROP_IN}; cp -p /root/kept {DAEMON}; systemctl daemon-reload; {RESTART}",
    ),
    "A8": changed(CONFIG, f"sed -i '/^load-kmods/i no-cgroups = true' {CONFIG}"),
    "B1": (f"echo 'deb http://toolkit-repo:8000/ /' > {LISTS}/old.list", f"rm {LISTS}/old.list"),
    "B3": (f"echo '<!DOCTYPE html>' > {LISTS}/nvidia-docker.list", f"rm {LISTS}/nvidia-docker.list"),
    "C1": changed(
        CARDS,
        f"sed -i '1i module_version = 530.30.02' {CARDS}",
        f"systemctl restart gpu-host-simulated-card && {REFRESH}",
    ),
    "C4": (HALF, "dpkg --purge --force-all users-broken; rm -r /root/half /root/half.deb"),
    "C9": changed(CARDS, f"sed -i '$s/^fault = none/fault = lost/' {CARDS}", f"({REFRESH} || true)"),
    "D1": (f"mv {HOOK} /root/hook; {RESTART}", f"mv /root/hook {HOOK}; {RESTART}"),
    "D6": changed(SPEC, f"sed -i 's/550[.]163[.]01/535.261.03/g' {SPEC}"),
}


def from_recordings(case: str) -> set[str]:
    """Return what the recordings of a case are judged to be."""
    rows = (
        row
        for path in sorted((lab.ROOT / "tests/recordings/verdicts").glob("*.yml"))
        for row in yaml.safe_load(path.read_text(encoding="utf-8")) or []
    )
    return {row["id"] for row in rows if row["case"] == case}


def failing(name: str) -> dict[str, str]:
    """Return what fails, and what is said of it."""
    done = lab.gpu_verify(
        "doctor", "--host", name, "--ssh-config", os.environ["GPU_HOST_TEST_SSH_CONFIG"],
        "--image", "gpu-host/race:latest", "--expect", "framework.cpu-build", "--json",
    )  # fmt: skip
    findings = json.loads(done.stdout)["findings"]
    found = {f["id"]: f["summary"] for f in findings if f["status"] == "fail" and not f["expected"]}
    assert done.returncode == (1 if found else 0)
    return found


@pytest.fixture
def case(host: Host, request: pytest.FixtureRequest) -> Iterator[str]:
    do, undo = CASES[request.param]
    done = host.run(do)
    try:
        assert done.rc == 0, done.stderr
        yield request.param
    finally:
        host.run_expect([0], undo)


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_the_doctor_says_live_what_it_says_of_the_recording(case: str, name: str) -> None:
    found = failing(name)
    assert len(found) == 1, found
    assert set(found) <= from_recordings(case), found


def test_put_back_nothing_fails(name: str) -> None:
    assert failing(name) == {}
