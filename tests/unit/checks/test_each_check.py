"""Every check can fail, and none passes where what it looks at is not there."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.unit.checks.cases import Machine, race
from verify.checks import CHECK_IDS, EXPECTED_MISSING, NO_RECORDING
from verify.checks.stack import STACK
from verify.findings import Status

Change = Callable[[Machine], object]
SMI = ("nvidia-smi", "nvidia-smi-list", "nvidia-smi-query", "nvidia-smi-xml")
REFUSED = {"rc": 125, "stdout": "", "stderr": "docker: Error response from daemon: refused for a test.\n"}
MODULE = ("/proc/driver/nvidia/version", "/sys/module/nvidia/version", "/proc/modules")


def _refuse(name: str) -> Change:
    return lambda m: m.commands[name].update(REFUSED)


def _late(m: Machine) -> None:
    m.commands["uname"] = {"argv": ["uname"], "timed_out": True, "seconds": 10}


def _smi_fails(m: Machine) -> None:
    for name in SMI:
        m.commands[name].update(rc=255, stdout="", stderr="Failed to initialize NVML: Unknown Error\n")


def _lost_inside(m: Machine) -> None:
    for name in SMI:
        m.inside[name].update(rc=15, stdout="GPU is lost\n")


def _no_card(m: Machine) -> None:
    assert m.host
    m.host["globs"]["/dev/nvidia*"] = []
    m.files["/sys/bus/pci/devices/0000:01:00.0/vendor"]["text"] = "0x1002\n"


def _no_module(m: Machine) -> None:
    for path in MODULE:
        m.files[path] = {"missing": True}


MARK, BOOT_ID = "/var/lib/gpu-host/reboot-needed.json", "/proc/sys/kernel/random/boot_id"


def _reboot_due(m: Machine) -> None:
    boot_id = m.files[BOOT_ID]["text"].strip()
    m.files[MARK] = {"text": json.dumps({"boot_id": boot_id, "because": "loaded 1, on disk 2"})}


def _log(line: str) -> Change:
    return lambda m: m.commands["dmesg-nvidia"].update(stdout=f"[   99.123456] {line}\n")


def _half_configured(m: Machine) -> None:
    heading = "The following packages are only half configured, probably due to problems\n"
    m.commands["dpkg-audit"]["stdout"] = f"{heading} nvidia-driver-580 NVIDIA driver metapackage\n"


def _card_gone(m: Machine) -> None:
    m.files["/sys/bus/pci/devices/0000:01:00.0/revision"] = {"text": "0xff\n"}


def _nouveau(m: Machine) -> None:
    assert m.host
    m.host["links"]["/sys/bus/pci/devices/0000:01:00.0/driver"] = "../../../bus/pci/drivers/nouveau"


def _not_built(m: Machine) -> None:
    assert m.host
    _no_module(m)
    m.host["paths"]["/lib/modules/6.8.0-90-generic/build"] = False
    m.commands["dkms-status"]["stdout"] = "nvidia/580.159.03: added\n"
    m.commands["modinfo-nvidia"].update(rc=1, stdout="", stderr="modinfo: ERROR: Module nvidia not found.\n")


def _refused(m: Machine) -> None:
    _no_module(m)
    _log("Loading of module with unavailable key is rejected")(m)


def _fabric_stopped(m: Machine) -> None:
    for name, text in (("vendor", "0x10de"), ("class", "0x068000"), ("device", "0x22a3")):
        m.files[f"/sys/bus/pci/devices/0000:07:00.0/{name}"] = {"text": text + "\n"}


def _second_on_the_bus(m: Machine) -> None:
    for name, text in (("vendor", "0x10de"), ("class", "0x030000"), ("device", "0x2684")):
        m.files[f"/sys/bus/pci/devices/0000:02:00.0/{name}"] = {"text": text + "\n"}


def _driver(version: str) -> Change:
    def change(m: Machine) -> None:
        for name in SMI:
            m.commands[name]["stdout"] = m.commands[name]["stdout"].replace("580.159.03", version)

    return change


def _packages(text: str) -> Change:
    return lambda m: m.commands["toolkit-packages"].update(stdout=text)


def _all_of(version: str) -> str:
    names = ("libnvidia-container-tools", "libnvidia-container1", "nvidia-container-toolkit")
    return "".join(f"{name} {version} installed\n" for name in (*names, "nvidia-container-toolkit-base"))


def _only_runc(m: Machine) -> None:
    m.info(Runtimes={"runc": {"path": "runc"}}, DiscoveredDevices=None)


def _no_runtime_in_file(m: Machine) -> None:
    m.files["/etc/docker/daemon.json"]["text"] = "{}"


def _no_cgroups(m: Machine) -> None:
    m.files["/etc/nvidia-container-runtime/config.toml"]["text"] = (
        "[nvidia-container-cli]\nno-cgroups = true\n"
    )
    m.info(ServerVersion="28.5.1")


def _no_specs(m: Machine) -> None:
    assert m.host
    m.host["globs"]["/var/run/cdi/*"] = []
    del m.files["/var/run/cdi/nvidia.yaml"]


def _older_module(m: Machine) -> None:
    for path, text in zip(MODULE, ("", "570.1.2\n", ""), strict=True):
        m.files[path]["text"] = text


def _one_held(m: Machine) -> None:
    m.commands["held-packages"]["stdout"] = "libnvidia-container1\n"


def _two_keys(m: Machine) -> None:
    text = "deb https://nvidia.github.io/libnvidia-container/stable/deb/amd64/ /\n"
    m.files["/etc/apt/sources.list.d/nvidia-docker.list"] = {"text": text}


def _damaged_file(m: Machine) -> None:
    m.files["/etc/docker/daemon.json"]["text"] = '{"log-driver": "journald",}\n'
    for name in ("docker-info", "docker-version"):
        m.commands[name].update(REFUSED)


def _full_disk(m: Machine) -> None:
    assert m.host
    m.host["disks"]["/var/lib/docker"]["free"] = 4096


def _snap(m: Machine) -> None:
    _only_runc(m)
    m.info(DockerRootDir="/var/snap/docker/common/var-lib-docker")


def _no_such_mode(m: Machine) -> None:
    m.files["/etc/nvidia-container-runtime/config.toml"]["text"] = (
        '[nvidia-container-runtime]\nmode = "bogus"\n'
    )


def _newer_cuda_than_the_driver(m: Machine) -> None:
    inspect = m.commands["image-inspect"]
    inspect["stdout"] = inspect["stdout"].replace("cuda>=13.0", "cuda>=14.0")


def _no_docker(m: Machine) -> None:
    for name in ("docker-info", "docker-version"):
        m.commands[name]["missing"] = True


def _older_driver_inside(m: Machine) -> None:
    for name in SMI:
        m.inside[name]["stdout"] = m.inside[name]["stdout"].replace("580.159.03", "575.57.08")
    _inside("cuda", cuda=12090)(m)


def _killed_on_cpu(m: Machine) -> None:
    m.race = race("ran")
    m.race["contestants"][0]["lanes"][0].update(
        status="failed", reason={"id": "failed", "error": "killed"}, median=None
    )


def _inside(name: str, **changes: object) -> Change:
    def change(m: Machine) -> None:
        answer = json.loads(m.inside[name]["stdout"])
        m.inside[name]["stdout"] = json.dumps(answer | changes) + "\n"

    return change


def _env(m: Machine, **variables: str) -> None:
    assert m.container
    m.container["env"].update(variables)


def _little_shm(m: Machine) -> None:
    assert m.container
    m.container["disks"]["/dev/shm"]["total"] = 64 << 20  # noqa: S108


def _second_card_broken(m: Machine) -> None:
    device = json.loads(m.inside["torch"]["stdout"])["devices"][0]
    kernel = {"ok": False, "error": "AcceleratorError: CUDA error: uncorrectable ECC error encountered"}
    m.torch(devices=[device, {**device, "uuid": "0", "kernel": kernel}])
    _copies(right=True)(m)


def _copies(*, right: bool) -> Change:
    pairs = [{"from": 0, "to": 1, "access": True, "right": right, "error": None}]
    return _inside("torch-peers", count=2, pairs=pairs, all_reduce={"ok": True, "cards": 2, "error": None})


# The lab's container has one card: what is done to the machine before the check passes there.
PREPARED: dict[str, Change] = {"framework.peer-to-peer": _copies(right=True)}

# The status that the change must give.
COMPLAINS: dict[str, tuple[Status, Change]] = {
    "host.recorded": (Status.WARN, _late),
    "host.package-sources": (Status.FAIL, _two_keys),
    "host.system": (Status.WARN, lambda m: m.files.update({"/etc/os-release": {"text": "ID=nixos\n"}})),
    "host.package-manager": (Status.FAIL, _half_configured),
    "card.present": (Status.FAIL, _no_card),
    "card.lost": (Status.FAIL, _card_gone),
    "card.xid": (Status.FAIL, _log("NVRM: Xid (PCI:0000:01:00): 119, Timeout waiting for RPC from GSP!")),
    "module.reboot-needed": (Status.FAIL, _reboot_due),
    "module.owner": (Status.FAIL, _nouveau),
    "module.built": (Status.FAIL, _not_built),
    "module.signed": (Status.FAIL, _refused),
    "module.supports-card": (
        Status.FAIL,
        _log(
            "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:2684) NVRM: installed in this system is not "
            "supported by open NVRM: nvidia.ko because it does not include the required GPU"
        ),
    ),
    "module.loaded": (Status.FAIL, _no_module),
    "driver.version-mismatch": (
        Status.FAIL,
        _older_module,
    ),
    "driver.answers": (Status.FAIL, _smi_fails),
    "driver.every-card": (Status.FAIL, _second_on_the_bus),
    "driver.fabric-manager": (Status.FAIL, _fabric_stopped),
    "driver.security-floor": (Status.WARN, _driver("580.65.06")),
    "driver.branch": (Status.WARN, _driver("535.309.01")),
    "engine.installed": (Status.FAIL, _no_docker),
    "engine.config": (Status.FAIL, _damaged_file),
    "engine.disk": (Status.FAIL, _full_disk),
    "engine.answers": (Status.FAIL, _refuse("docker-info")),
    "engine.kind": (Status.FAIL, _snap),
    "toolkit.installed": (Status.FAIL, _packages("nvidia-container-toolkit 1.20.2-1 installed\n")),
    "toolkit.one-version": (Status.FAIL, _packages(_all_of("1.20.2-1").replace("1.20.2", "1.20.1", 1))),
    "toolkit.safe-version": (Status.FAIL, _packages(_all_of("1.19.0-1"))),
    "toolkit.known-fault": (Status.WARN, _packages(_all_of("1.19.1-1"))),
    "toolkit.held": (Status.WARN, _one_held),
    "toolkit.origin": (Status.WARN, _packages(_all_of("1.20.2-1") + "nvidia-docker2 2.13.0-1 installed\n")),
    "toolkit.cdi-spec": (Status.FAIL, _no_specs),
    "runtime.in-file": (Status.FAIL, _no_runtime_in_file),
    "runtime.in-daemon": (Status.FAIL, _only_runc),
    "runtime.no-cgroups": (Status.FAIL, _no_cgroups),
    "runtime.daemon-reload": (Status.WARN, lambda m: m.info(ServerVersion="28.5.1")),
    "runtime.mode": (Status.FAIL, _no_such_mode),
    "runtime.cdi-enabled": (Status.FAIL, lambda m: m.info(CDISpecDirs=[])),
    **{f"container.{name}": (Status.FAIL, _refuse(name)) for name in (
        "run-gpus-all", "run-gpus-first", "run-runtime", "run-runtime-first",
        "run-cdi", "run-cdi-first", "run-none",
    )},
    "container.recorded": (Status.FAIL, lambda m: setattr(m, "container", None)),
    "container.answers": (Status.FAIL, _lost_inside),
    "container.visible-devices": (Status.FAIL, lambda m: _env(m, CUDA_VISIBLE_DEVICES="")),
    "container.compat": (Status.FAIL, _inside("cuda", init=804)),
    "container.capabilities": (Status.FAIL, _inside("cuda", library=None, real=None, error="no file")),
    "container.cuda": (Status.FAIL, _inside("cuda", init=999)),
    "container.shm": (Status.WARN, _little_shm),
    "image.requirement": (Status.FAIL, _newer_cuda_than_the_driver),
    "image.present": (Status.FAIL, lambda m: m.commands["image-inspect"].update(rc=1, stdout="[]\n")),
    "framework.torch": (Status.FAIL, lambda m: m.torch(torch=None, error="ImportError: libcudart.so.13")),
    "framework.cpu-build": (Status.FAIL, lambda m: m.torch(torch="2.13.0+cpu", cuda=None)),
    "framework.cuda-driver": (Status.FAIL, _older_driver_inside),
    "framework.cudnn": (Status.FAIL, lambda m: m.torch(cudnn=None)),
    "framework.is-available": (Status.FAIL, lambda m: m.torch(available=False)),
    "framework.kernel": (Status.FAIL, lambda m: m.torch(kernel={"ok": False})),
    "framework.arch-list": (Status.FAIL, lambda m: m.torch(arch_list=["sm_50", "sm_60"])),
    "framework.every-card": (Status.FAIL, _second_card_broken),
    "framework.extensions": (Status.FAIL, _inside("python-packages", imports={"triton": {"ok": False}})),
    "framework.pynvml": (
        Status.WARN,
        _inside("python-packages", installed={n: {"version": "11.5"} for n in ("pynvml", "nvidia-ml-py")}),
    ),
    "framework.peer-to-peer": (Status.FAIL, _copies(right=False)),
    "race.cpu-lane": (Status.FAIL, _killed_on_cpu),
    "race.cuda-lane": (Status.FAIL, lambda m: setattr(m, "race", race("failed"))),
}  # fmt: skip

_ABSENT_FILES: dict[str, tuple[str, ...]] = {
    "host.system": ("/etc/os-release",),
    "module.loaded": MODULE,
    "driver.version-mismatch": MODULE,
    "runtime.in-file": ("/etc/docker/daemon.json",),
    "host.package-sources": ("/etc/apt/sources.list.d/nvidia-container-toolkit.list",),
}
_ABSENT_COMMANDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("card.lost", "card.xid"), ("dmesg-nvidia",)),
    "host.package-manager": ("dpkg-audit", "package-locks", "cloud-init-status"),
    **dict.fromkeys(("driver.answers", "driver.every-card", "driver.security-floor", "driver.branch"), SMI),
    "engine.answers": ("docker-info", "docker-version"),
    **dict.fromkeys(
        ("runtime.in-daemon", "runtime.no-cgroups", "runtime.daemon-reload", "runtime.cdi-enabled"),
        ("docker-info", "docker-version"),
    ),
    **dict.fromkeys(
        ("toolkit.installed", "toolkit.one-version", "toolkit.safe-version", "toolkit.known-fault"),
        ("toolkit-packages",),
    ),
    **{name: (name.removeprefix("container."),) for name in CHECK_IDS if name.startswith("container.run-")},
    "toolkit.held": ("held-packages",),
    "toolkit.origin": ("toolkit-packages",),
    "engine.kind": ("docker-info",),
    "image.requirement": ("image-inspect",),
    "image.present": ("image-inspect",),
}
IDS = [name for name in CHECK_IDS if name not in (NO_RECORDING, EXPECTED_MISSING)]


def test_no_check_is_forgotten() -> None:
    assert set(COMPLAINS) == set(IDS)


@pytest.mark.parametrize("name", IDS)
def test_it_can_complain(name: str) -> None:
    status, change = COMPLAINS[name]
    machine = Machine("lab")
    if name in PREPARED:
        PREPARED[name](machine)
    assert machine.judge()[name].status is Status.PASS
    change(machine)
    finding = machine.judge()[name]
    assert finding.status is status, finding.summary
    assert finding.remedy


@pytest.mark.parametrize("name", [name for name in IDS if COMPLAINS[name][0] is Status.FAIL])
def test_what_rests_on_it_is_blocked_by_it(name: str) -> None:
    machine = Machine("lab")
    COMPLAINS[name][1](machine)
    found = machine.judge()
    resting = [check.id for check in STACK if name in check.needs]
    assert [above for above in resting if found[above].status is not Status.BLOCKED] == []
    for finding in found.values():
        if finding.status is Status.BLOCKED:
            assert finding.culprit
            assert found[finding.culprit].status is Status.FAIL
            assert finding.remedy is None


@pytest.mark.parametrize("absence", ["not recorded", "missing", "timed out", "error"])
@pytest.mark.parametrize("name", [*_ABSENT_FILES, *_ABSENT_COMMANDS])
def test_it_does_not_pass_where_the_tool_is_absent(name: str, absence: str) -> None:
    machine = Machine("lab")
    entries: dict[str, dict[str, object]] = {
        "missing": {"argv": ["tool"], "missing": True},
        "timed out": {"argv": ["tool"], "timed_out": True, "seconds": 10.0, "error": "timed out"},
        "error": {"argv": ["tool"], "error": "EACCES"},
    }
    wanted = _ABSENT_FILES.get(name) or _ABSENT_COMMANDS[name]
    section = machine.files if name in _ABSENT_FILES else machine.commands
    for key in wanted:
        section.pop(key)
        if absence in entries:
            section[key] = dict(entries[absence])
    finding = machine.judge()[name]
    assert finding.status not in (Status.PASS, Status.WARN), finding.summary


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        (None, Status.SKIP),
        ({"argv": ["docker"], "missing": True}, Status.FAIL),
        # It hangs: it is there. Whether there is a daemon, the unit tells.
        ({"argv": ["docker"], "timed_out": True}, Status.PASS),
    ],
)
def test_an_engine_is_installed_or_not_whether_it_answers_or_not(
    entry: dict[str, object] | None, status: Status
) -> None:
    machine = Machine("lab")
    for name in ("docker-info", "docker-version"):
        machine.commands.pop(name)
        if entry:
            machine.commands[name] = dict(entry)
    assert machine.judge()["engine.installed"].status is status


def test_a_docker_command_alone_is_not_an_engine() -> None:
    machine = Machine("lab")
    machine.commands["docker-info"] = {"argv": ["docker"], "timed_out": True}
    for name in ("docker-show", "docker-version"):
        machine.commands.pop(name)
    assert machine.host
    machine.host["paths"] = {}
    assert machine.judge()["engine.installed"].status is Status.SKIP


@pytest.mark.parametrize(
    "name", [name for name in IDS if name.startswith(("framework.", "container.answers"))]
)
def test_nothing_inside_passes_without_the_container(name: str) -> None:
    machine = Machine("lab")
    machine.container = None
    finding = machine.judge()[name]
    assert (finding.status, finding.culprit) == (Status.BLOCKED, "container.recorded")


@pytest.mark.parametrize(
    "entry", [None, {"argv": ["python3"], "missing": True}, {"argv": ["python3"], "timed_out": True}]
)
def test_nothing_of_torch_passes_without_the_probe(entry: dict[str, object] | None) -> None:
    machine = Machine("lab")
    machine.inside.pop("torch")
    if entry:
        machine.inside["torch"] = entry
    found = machine.judge()
    of_torch = [name for name in IDS if name.startswith("framework.") and name != "framework.pynvml"]
    assert {found[name].status for name in of_torch} <= {
        Status.FAIL,
        Status.BLOCKED,
        Status.SKIP,
    }


def test_a_race_that_was_not_run_is_skipped() -> None:
    machine = Machine("lab")
    machine.race = None
    found = machine.judge()
    assert {found[name].status for name in ("race.cpu-lane", "race.cuda-lane")} == {Status.SKIP}


def test_a_lane_for_which_no_time_was_left_is_a_warning_beside_one_that_ran() -> None:
    machine = Machine("lab")
    machine.race = race("ran")
    late = {"status": "absent", "reason": {"id": "no-budget", "budget_s": 60.0}, "median": None}
    machine.race["contestants"][1]["lanes"][2].update(late)
    found = machine.judge()["race.cuda-lane"]
    assert found.status is Status.WARN
    assert "budget of 60 s" in found.summary
    machine.race["contestants"][0]["lanes"][1].update(late)
    assert machine.judge()["race.cuda-lane"].status is Status.FAIL


def test_an_impossible_figure_is_a_failure_in_words() -> None:
    machine = Machine("lab")
    machine.race = race("ran")
    reason = {"id": "over-peak", "tflops": 900.0, "peak_tflops": 82.6, "precision": "float32"}
    machine.race["contestants"][0]["lanes"][1].update(status="invalid", reason=reason)
    found = machine.judge()["race.cuda-lane"]
    assert found.status is Status.FAIL
    assert "900 TFLOPS is more than the card can do in float32" in found.summary


def test_a_runtime_that_the_file_lost_is_a_failure_while_the_daemon_still_has_it() -> None:
    machine = Machine("lab")
    _no_runtime_in_file(machine)
    found = machine.judge()
    assert found["runtime.in-file"].status is Status.FAIL
    assert "the next restart loses it" in found["runtime.in-file"].summary
    assert found["container.run-runtime"].status is Status.PASS


def test_a_runtime_that_is_registered_by_a_flag_needs_no_file() -> None:
    machine = Machine("lab")
    _no_runtime_in_file(machine)
    machine.commands["docker-unit"]["stdout"] = (
        "ExecStart=/usr/bin/dockerd --add-runtime nvidia=/usr/bin/nvidia-container-runtime\n"
    )
    assert machine.judge()["runtime.in-file"].status is Status.PASS


def test_a_recording_that_is_not_roots_is_a_warning() -> None:
    machine = Machine("lab")
    assert machine.host
    machine.host["uid"] = 1000
    assert machine.judge()["host.recorded"].status is Status.WARN
