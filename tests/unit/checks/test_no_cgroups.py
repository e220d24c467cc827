"""The switch no-cgroups against the engine's kind, on the healthy lab host (field cases A8, C10, D1)."""

from __future__ import annotations

import json

import pytest

from tests.unit.checks.cases import Machine
from verify.checks.causes import cause
from verify.facts.runtime import TOOLKIT_CONFIG
from verify.findings import Status

SECTION = "[nvidia-container-cli]\n"
ROOTLESS = ["name=seccomp,profile=builtin", "name=rootless"]


def lab(switch: str, *, version: str = "28.5.1", rootless: bool = False, beside: bool = False) -> Machine:
    machine = Machine("lab")
    assert machine.host
    machine.files[TOOLKIT_CONFIG] = {"text": SECTION + switch}
    machine.info(ServerVersion=version, SecurityOptions=ROOTLESS if rootless else [])
    if beside:
        machine.host["globs"]["/run/user/*/docker.sock"] = ["/run/user/1000/docker.sock"]
    return machine


@pytest.mark.parametrize(
    "switch", ["", "#no-cgroups = true\n", "no-cgroups = false\n", "no-cgroups = true\n"]
)
@pytest.mark.parametrize("rootless", [True, False])
def test_a8_each_engine_needs_the_opposite(switch: str, rootless: bool) -> None:  # noqa: FBT001
    finding = lab(switch, rootless=rootless).judge()["runtime.no-cgroups"]
    on = switch == "no-cgroups = true\n"
    assert finding.status is (Status.PASS if on is rootless else Status.FAIL), finding.summary
    if on is not rootless:
        assert f"no-cgroups={str(rootless).lower()}" in (finding.remedy or "")


@pytest.mark.parametrize(("switch", "status"), [("", Status.WARN), ("no-cgroups = true\n", Status.FAIL)])
def test_a8_one_file_cannot_serve_two_engines(switch: str, status: Status) -> None:
    finding = lab(switch, beside=True).judge()["runtime.no-cgroups"]
    assert finding.status is status
    assert "--device nvidia.com/gpu=all" in finding.summary
    assert any("/run/user/1000/docker.sock" in line for line in finding.evidence)


def test_a8_where_cards_come_by_cdi_the_switch_is_a_warning() -> None:
    machine = lab("no-cgroups = true\n", version="29.4.3")
    assert machine.judge()["runtime.no-cgroups"].status is Status.WARN
    machine.info(DiscoveredDevices=None)
    assert machine.judge()["runtime.no-cgroups"].status is Status.FAIL


def test_a8_no_file_is_the_default_and_an_unread_one_is_not_judged() -> None:
    machine = lab("")
    machine.files[TOOLKIT_CONFIG] = {"missing": True}
    assert machine.judge()["runtime.no-cgroups"].status is Status.PASS
    for entry in ({"error": "EACCES"}, None):
        if entry:
            machine.files[TOOLKIT_CONFIG] = dict(entry)
        else:
            machine.files.pop(TOOLKIT_CONFIG)
        assert machine.judge()["runtime.no-cgroups"].status is Status.SKIP


def test_a6_a_file_named_by_the_unit_is_not_judged_by_another() -> None:
    machine = Machine("lab")
    machine.commands["docker-unit"]["stdout"] = (
        "[Service]\nExecStart=/usr/bin/dockerd --config-file /srv/d.json\n"
    )
    machine.files["/etc/docker/daemon.json"]["text"] = "{}"
    finding = machine.judge()["runtime.in-file"]
    assert finding.status is Status.SKIP
    assert "/srv/d.json" in finding.summary


def test_c10_unknown_error_inside_alone_is_not_the_host_s() -> None:
    machine = Machine("lab")
    for name in ("nvidia-smi", "nvidia-smi-list", "nvidia-smi-query", "nvidia-smi-xml"):
        machine.inside[name].update(rc=255, stdout="Failed to initialize NVML: Unknown Error\n", stderr="")
    found = machine.judge()
    assert found["driver.answers"].status is Status.PASS
    assert found["runtime.no-cgroups"].status is Status.PASS
    finding = found["container.answers"]
    assert finding.status is Status.FAIL
    assert "systemctl daemon-reload takes the card from running ones" in (finding.remedy or "")


@pytest.mark.parametrize("text", [
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
    "docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found",
])  # fmt: skip
def test_d1_both_texts_are_one_cause(text: str) -> None:
    known = cause(text)
    assert known
    assert known.id == "no-device-driver"


def test_d1_d6_a_daemon_that_gives_the_card_by_cdi_alone_is_healthy() -> None:
    machine = Machine("lab")
    info = json.loads(machine.commands["docker-info"]["stdout"])
    machine.info(Runtimes={"runc": info["Runtimes"]["runc"]})
    machine.files["/etc/docker/daemon.json"]["text"] = "{}"
    for name in ("run-runtime", "run-runtime-first"):
        machine.commands[name].update(
            rc=125,
            stdout="",
            stderr="docker: Error response from daemon: unknown or invalid runtime name: nvidia.",
        )
    found = machine.judge()
    assert found["runtime.in-daemon"].status is Status.PASS
    assert {finding.status for finding in found.values()} == {Status.PASS, Status.SKIP}


ASKED = [{"Driver": "", "Count": -1, "Capabilities": [["gpu"]]}]
RUNNING = (
    {"name": "/train", "device_requests": ASKED},
    {"name": "/by-cdi", "device_requests": [{"Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=all"]}]},
    {"name": "/web", "device_requests": None},
)


@pytest.mark.parametrize(
    ("info", "status"),
    [
        ({"ServerVersion": "26.1.5", "CgroupDriver": "systemd"}, Status.WARN),
        ({"ServerVersion": "26.1.5", "CgroupDriver": "cgroupfs"}, Status.PASS),
        ({"ServerVersion": "29.4.3", "CgroupDriver": "systemd"}, Status.PASS),
        ({"ServerVersion": "29.4.3", "CgroupDriver": "systemd", "DiscoveredDevices": None}, Status.WARN),
        ({"ServerVersion": "29.4.3", "CgroupDriver": None}, Status.SKIP),
    ],
)
def test_c10_who_loses_the_card_at_a_daemon_reload(info: dict[str, object], status: Status) -> None:
    machine = Machine("lab")
    machine.commands["docker-ps"] = {
        "argv": ["sh"], "rc": 0, "stdout": "".join(json.dumps(row) + "\n" for row in RUNNING), "stderr": "",
    }  # fmt: skip
    machine.info(**info)
    finding = machine.judge()["runtime.daemon-reload"]
    assert finding.status is status, finding.summary
    if status is Status.WARN:
        assert "running so: train" in finding.summary
        assert "--device nvidia.com/gpu=all" in (finding.remedy or "")
        assert finding.evidence[1:] == ("docker-ps: train",)
