"""Engine, toolkit and runtime on the healthy lab host, changed by hand: who is blamed, and who is not."""

from __future__ import annotations

import json

import pytest

from tests.unit.checks.cases import Machine
from verify.findings import Finding, Status

DAEMON_JSON = "/etc/docker/daemon.json"
CONFIG = "/etc/nvidia-container-runtime/config.toml"
HOOK = "/usr/bin/nvidia-container-runtime-hook"
SPEC = "/var/run/cdi/nvidia.yaml"
NO_DRIVER = (
    'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
)


def failing(machine: Machine) -> set[str]:
    return {f.id for f in machine.judge().values() if f.status is Status.FAIL}


def refuse(machine: Machine, name: str, text: str) -> None:
    machine.commands[name].update(rc=125, stdout="", stderr=text)


def lab() -> Machine:
    machine = Machine("lab")
    machine.race = None
    return machine


def test_a2_a_daemon_that_still_runs_spoils_nothing() -> None:
    machine = lab()
    machine.files[DAEMON_JSON]["text"] = '{"debug": true,}'
    found = machine.judge()
    assert "will not start again" in found["engine.config"].summary
    assert failing(machine) == {"engine.config"}
    assert found["container.run-gpus-all"].status is Status.PASS
    assert found["runtime.in-file"].status is Status.SKIP


def test_a2_a_daemon_that_is_down_because_of_it_is_not_blamed() -> None:
    machine = lab()
    machine.container = None
    machine.files[DAEMON_JSON]["text"] = '{"debug": true,}'
    for name in ("docker-info", "docker-version"):
        machine.commands[name].update(rc=1, stdout="", stderr="Cannot connect to the Docker daemon\n")
    assert failing(machine) == {"engine.config"}
    assert machine.judge()["engine.answers"].culprit == "engine.config"


def test_a6_a_stranger_that_knows_the_cards_is_no_fault() -> None:
    machine = lab()
    machine.info(SecurityOptions=["name=rootless"])
    machine.files[CONFIG]["text"] = "[nvidia-container-cli]\nno-cgroups = true\n"
    found = machine.judge()
    assert found["engine.kind"].status is Status.PASS
    assert found["engine.config"].status is Status.SKIP


def test_b3_what_apt_cannot_read_is_why_nothing_is_installed() -> None:
    machine = lab()
    machine.files["/etc/apt/sources.list.d/nvidia-docker.list"] = {"text": "<html>404</html>\n"}
    machine.commands["toolkit-packages"]["stdout"] = ""
    assert failing(machine) == {"host.package-sources"}
    assert machine.judge()["toolkit.installed"].culprit == "host.package-sources"


def test_b1_on_a_system_without_apt_it_does_not_apply() -> None:
    machine = lab()
    del machine.files["/etc/apt/sources.list.d/nvidia-container-toolkit.list"]
    machine.files["/etc/os-release"] = {"text": "ID=rocky\nID_LIKE='rhel fedora'\n"}
    finding = machine.judge()["host.package-sources"]
    assert (finding.status, "not applicable" in finding.summary) == (Status.SKIP, True)


def test_b7_all_four_held_is_as_good_as_none() -> None:
    machine = lab()
    names = [line.split()[0] for line in machine.commands["toolkit-packages"]["stdout"].splitlines()]
    machine.commands["held-packages"]["stdout"] = "\n".join(names)
    assert machine.judge()["toolkit.held"].status is Status.PASS


@pytest.mark.parametrize(
    ("hook", "daemon", "words"),
    [
        (None, None, "as it seems"),
        ("2026-11-30T09:00:00Z", "2026-11-20T07:00:00Z", "the daemon started at 2026-11-20T07:00:00Z"),
        ("2026-11-10T09:00:00Z", "2026-11-20T07:00:00Z", "found no CDI device"),
    ],
)
def test_d1_the_first_reason_that_applies(hook: str | None, daemon: str | None, words: str) -> None:
    machine = lab()
    if hook:
        machine.files[HOOK] = {"mtime": hook}
        machine.files["/var/run/docker.pid"] = {"mtime": daemon}
        machine.info(DiscoveredDevices=None)
    else:
        machine.info(ServerVersion="28.5.1")
    refuse(machine, "run-gpus-all", NO_DRIVER)
    machine.container = None
    assert words in machine.judge()["container.run-gpus-all"].summary
    assert failing(machine) == {"container.run-gpus-all"}


def test_d1_a_hook_that_is_gone_comes_before_its_age() -> None:
    machine = lab()
    assert machine.host
    machine.host["paths"][HOOK] = False
    machine.files[HOOK] = {"mtime": "2026-11-30T09:00:00Z"}
    machine.files["/var/run/docker.pid"] = {"mtime": "2026-11-20T07:00:00Z"}
    refuse(machine, "run-gpus-all", NO_DRIVER)
    finding = machine.judge()["container.run-gpus-all"]
    assert "is not there" in finding.summary
    assert "--reinstall nvidia-container-toolkit" in (finding.remedy or "")


def demanding(text: str, **changes: object) -> Machine:
    machine = lab()
    inspect = machine.commands["image-inspect"]
    (image,) = json.loads(inspect["stdout"])
    image["Config"]["Env"] = [f"NVIDIA_REQUIRE_CUDA={text}", *(f"{k}={v}" for k, v in changes.items())]
    inspect["stdout"] = json.dumps([image])
    return machine


@pytest.mark.parametrize(
    ("text", "env", "status", "words"),
    [
        ("cuda>=13.0", {}, Status.PASS, "meets the image's demand"),
        ("cuda>=13.1", {}, Status.WARN, "starts by minor-version compatibility"),
        ("cuda>=14.0", {}, Status.FAIL, "needs CUDA 14.0"),
        ("cuda>=14.0", {"NVIDIA_DISABLE_REQUIRE": "1"}, Status.SKIP, "demands nothing"),
        ("color=red", {}, Status.SKIP, "not recorded"),
        ("", {}, Status.SKIP, "demands nothing"),
    ],
)
def test_d2_by_cdi_nothing_refuses_so_our_own_check_must(
    text: str, env: dict[str, object], status: Status, words: str
) -> None:
    finding = demanding(text, **env).judge()["image.requirement"]
    assert (finding.status, words in finding.summary) == (status, True), finding.summary


def test_d2_the_demand_is_the_culprit_not_the_run() -> None:
    machine = demanding("cuda>=13.1")
    machine.container = None
    refuse(
        machine,
        "run-gpus-all",
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=13.1\n",
    )
    found = machine.judge()
    assert failing(machine) == {"image.requirement"}
    assert found["container.run-gpus-all"].culprit == "image.requirement"


def test_d2_a_refusal_that_we_cannot_explain_is_still_the_demands() -> None:
    machine = demanding("color=red")
    machine.container = None
    refuse(machine, "run-gpus-all", "unsatisfied condition: color=red\n")
    assert failing(machine) == {"image.requirement"}


@pytest.mark.parametrize("mode", ["auto", "cdi", "legacy", "jit-cdi", "csv"])
def test_d8_every_mode_that_gives_cards_both_ways_is_fine(mode: str) -> None:
    machine = lab()
    machine.files[CONFIG]["text"] = f'[nvidia-container-runtime]\nmode = "{mode}"\n'
    finding = machine.judge()["runtime.mode"]
    assert (finding.status, f"mode {mode}: both forms" in finding.summary) == (Status.PASS, True)


def outcomes(gpus: bool | None, runtime: bool | None) -> Finding:  # noqa: FBT001
    machine = lab()
    for name, works in (("run-gpus-all", gpus), ("run-runtime", runtime)):
        if works is None:
            del machine.commands[name]
        elif not works:
            refuse(machine, name, "docker: Error response from daemon: refused for a test.\n")
    return machine.judge()["runtime.mode"]


@pytest.mark.parametrize(
    ("gpus", "runtime", "status", "words"),
    [
        (True, True, Status.PASS, "both forms give cards"),
        (True, False, Status.WARN, "only `--gpus` gives cards"),
        (False, True, Status.WARN, "only `--runtime=nvidia` gives cards"),
        (False, False, Status.SKIP, "neither gives a card"),
        (None, None, Status.PASS, "were not tried"),
        (True, None, Status.PASS, "in compose `deploy"),
        (None, True, Status.PASS, "in compose `runtime: nvidia`"),
    ],
)
def test_d8_two_forms_two_results(
    *, gpus: bool | None, runtime: bool | None, status: Status, words: str
) -> None:
    finding = outcomes(gpus, runtime)
    assert (finding.status, words in finding.summary) == (status, True), finding.summary


def test_d6_files_of_the_specification_that_exist_are_no_fault() -> None:
    machine = lab()
    assert machine.host
    machine.host["paths"]["/dev/nvidia0"] = True
    assert machine.judge()["toolkit.cdi-spec"].status is Status.PASS
    machine.host["paths"]["/dev/nvidia0"] = False
    finding = machine.judge()["toolkit.cdi-spec"]
    assert (finding.status, "/dev/nvidia0" in finding.summary) == (Status.FAIL, True)


def test_d6_a_stale_specification_is_blamed_for_the_run_that_it_broke() -> None:
    machine = lab()
    text = machine.files[SPEC]["text"]
    machine.files[SPEC]["text"] = text.replace("580.159.03", "550.144.03")
    refuse(
        machine,
        "run-gpus-all",
        'error mounting "/usr/lib/libcuda.so.550.144.03": no such file or directory\n',
    )
    machine.container = None
    found = machine.judge()
    assert "was made for driver 550.144.03, the driver is 580.159.03" in found["toolkit.cdi-spec"].summary
    assert failing(machine) == {"toolkit.cdi-spec"}


def test_i3_a_full_disk_is_why_a_container_did_not_start() -> None:
    machine = lab()
    assert machine.host
    machine.container = None
    machine.host["disks"]["/var/lib/docker"].update(free=0)
    refuse(machine, "run-gpus-all", "docker: Error response from daemon: mkdir: no space left on device\n")
    assert failing(machine) == {"engine.disk"}


def test_i3_a_disk_that_nobody_looked_at_is_not_full() -> None:
    machine = lab()
    assert machine.host
    machine.host["disks"] = {}
    assert machine.judge()["engine.disk"].status is Status.SKIP
