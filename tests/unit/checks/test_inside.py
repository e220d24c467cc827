"""What nvidia-smi alone cannot show: CUDA in the container, and torch on each card."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.checks.cases import Machine
from verify.compat.arch import Code, runs
from verify.compat.cuda_errors import number_in
from verify.compat.forward import forward_compatible
from verify.compat.torch import builds_for
from verify.facts.version import Version
from verify.findings import Finding, Status

ABSENT: dict[str, dict[str, object] | None] = {
    "not recorded": None,
    "missing": {"argv": ["tool"], "missing": True},
    "timed out": {"argv": ["tool"], "timed_out": True, "seconds": 10.0},
    "error": {"argv": ["tool"], "error": "EACCES"},
}
RESTS_ON = {
    "cuda": ("container.capabilities", "container.cuda"),
    "torch": ("framework.arch-list", "framework.every-card", "framework.extensions"),
    "python-packages": ("framework.extensions", "framework.pynvml"),
    "torch-peers": ("framework.peer-to-peer",),
}


def _answer(machine: Machine, name: str, **changes: Any) -> None:
    answer = json.loads(machine.inside[name]["stdout"])
    machine.inside[name]["stdout"] = json.dumps(answer | changes) + "\n"


@pytest.mark.parametrize("absence", ABSENT)
@pytest.mark.parametrize(("tool", "check"), [(tool, one) for tool, ids in RESTS_ON.items() for one in ids])
def test_it_does_not_pass_where_the_probe_is_absent(tool: str, check: str, absence: str) -> None:
    machine = Machine("lab")
    machine.inside.pop(tool)
    entry = ABSENT[absence]
    if entry:
        machine.inside[tool] = dict(entry)
    assert machine.judge()[check].status not in (Status.PASS, Status.WARN)


@pytest.mark.parametrize("section", ["env", "disks"])
def test_what_is_not_recorded_is_not_passed(section: str) -> None:
    machine = Machine("lab")
    assert machine.container
    del machine.container[section]
    check = {"env": "container.visible-devices", "disks": "container.shm"}[section]
    assert machine.judge()[check].status is Status.SKIP


def _failing(machine: Machine) -> dict[str, Finding]:
    return {name: one for name, one in machine.judge().items() if one.status is Status.FAIL}


def test_d11_nvidia_smi_and_cuda_are_two_lines() -> None:
    machine = Machine("lab")
    _answer(machine, "cuda", init=999, count=None, devices=None)
    found = machine.judge()
    assert found["container.answers"].status is Status.PASS
    assert found["container.cuda"].status is Status.FAIL
    assert found["framework.is-available"].culprit == "container.cuda"


def test_c8_error_802_is_laid_on_fabric_manager_where_that_fails() -> None:
    machine = Machine("lab")
    _answer(machine, "cuda", init=802, count=None, devices=None)
    assert set(_failing(machine)) == {"container.cuda"}
    assert "Fabric Manager" in machine.judge()["container.cuda"].summary


def test_d11_a_number_that_no_table_has_is_a_failure_all_the_same() -> None:
    machine = Machine("lab")
    _answer(machine, "cuda", init=777, word="CUDA_ERROR_NEW")
    finding = machine.judge()["container.cuda"]
    assert finding.status is Status.FAIL
    assert "error 777, CUDA_ERROR_NEW" in finding.summary


@pytest.mark.parametrize("host_has_it", [True, False])
def test_a_stand_in_has_no_cuda_and_that_is_no_failure(*, host_has_it: bool) -> None:
    machine = Machine("lab")
    assert machine.host
    assert machine.container
    machine.host["simulated"] = machine.container["simulated"] = True
    machine.host["globs"]["/usr/lib/x86_64-linux-gnu/libcuda.so*"] = (
        ["/l/libcuda.so.1"] if host_has_it else []
    )
    _answer(machine, "cuda", init=999)
    if not host_has_it:
        _answer(machine, "cuda", library=None, real=None, error="no such file", init=None)
    found = machine.judge()
    assert found["container.cuda"].status is Status.SKIP
    assert found["container.capabilities"].status is (Status.PASS if host_has_it else Status.SKIP)


def test_d11_a_stand_in_whose_libcuda_was_not_asked_for_is_a_failure() -> None:
    machine = Machine("lab")
    assert machine.host
    assert machine.container
    machine.host["simulated"] = machine.container["simulated"] = True
    machine.host["globs"]["/usr/lib/x86_64-linux-gnu/libcuda.so*"] = ["/l/libcuda.so.1"]
    machine.container["env"]["NVIDIA_DRIVER_CAPABILITIES"] = "utility"
    _answer(machine, "cuda", library=None, real=None, error="no such file", init=None)
    assert set(_failing(machine)) == {"container.capabilities"}


def test_an_image_without_python_is_a_warning_and_says_what_was_asked() -> None:
    machine = Machine("lab")
    machine.container = None
    for program in ("python3", "python"):
        machine.commands[f"image-{program}"] = {
            "argv": ["docker", "run"],
            "rc": 127,
            "stdout": "",
            "stderr": f'docker: … exec: "{program}": executable file not found in $PATH: unknown.',
        }
    found = machine.judge()
    recorded = found["container.recorded"]
    assert recorded.status is Status.WARN
    assert "only nvidia-smi was asked; there nvidia-smi lists 1 card" in recorded.summary
    assert not [one for one in found.values() if one.status is Status.FAIL]
    assert {found[n].status for n in found if n.startswith("framework.")} == {Status.SKIP}


def test_e6_cards_in_another_order_are_joined_by_uuid() -> None:
    machine = Machine("lab")
    devices = json.loads(machine.inside["torch"]["stdout"])["devices"]
    ours, other = devices[0], {**devices[0], "uuid": "ffff"}
    machine.torch(devices=[other, ours], device_count=2)
    assert "torch's 1 is nvidia-smi's 0" in machine.judge()["framework.every-card"].summary


def test_cudnn_of_two_folders_is_a_warning() -> None:
    machine = Machine("lab")
    files = ["/usr/lib/libcudnn.so.9", "/opt/venv/nvidia/cudnn/lib/libcudnn_ops.so.9"]
    machine.torch(libraries={"libcudnn": files})
    finding = machine.judge()["framework.cudnn"]
    assert finding.status is Status.WARN
    assert "2 folders: /opt/venv/nvidia/cudnn/lib, /usr/lib" in finding.summary


def test_cudnn_that_torch_refuses_is_a_failure_with_its_words() -> None:
    machine = Machine("lab")
    said = "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0)"
    machine.torch(cudnn=None, errors={"cudnn": said})
    finding = machine.judge()["framework.cudnn"]
    assert (finding.status, said in finding.summary) == (Status.FAIL, True)


@pytest.mark.parametrize(
    ("extension", "status"),
    [
        ({"version": "0.28.0+cu130"}, Status.PASS),
        ({"version": "0.28.0+cu126"}, Status.WARN),
        ({"version": "0.28.0", "requires": ["torch==2.12.0"]}, Status.WARN),
        ({"version": "0.28.0", "requires": ["torch==2.13.0"]}, Status.PASS),
        ({"version": "0.28.0", "requires": ["torch>=2.0"]}, Status.PASS),
    ],
)
def test_an_extension_against_the_build_of_torch(extension: dict[str, object], status: Status) -> None:
    machine = Machine("lab")
    installed = {"torch": {"version": "2.13.0+cu130"}, "torchvision": extension}
    _answer(machine, "python-packages", installed=installed, imports={"torchvision": {"ok": True}})
    assert machine.judge()["framework.extensions"].status is status


def test_e2_ptx_that_may_not_be_compiled_is_a_failure() -> None:
    machine = Machine("lab")
    assert machine.container
    machine.container["env"]["CUDA_DISABLE_PTX_JIT"] = "1"
    machine.torch(arch_list=["sm_75", "compute_75"])
    assert machine.judge()["framework.arch-list"].status is Status.FAIL


@pytest.mark.parametrize(
    ("arch_list", "capability", "how"),
    [
        ("sm_80 sm_86 sm_90", (8, 9), Code.MACHINE_CODE),
        ("sm_80 sm_86 sm_90", (12, 0), None),
        ("sm_80 compute_90", (12, 0), Code.PTX),
        ("sm_90+PTX", (12, 0), Code.PTX),
        ("sm_60", (6, 1), Code.MACHINE_CODE),
        ("sm_75 sm_80 sm_86 sm_90 sm_100 sm_120 compute_120", (7, 0), None),
        ("sm_90a", (9, 0), Code.MACHINE_CODE),
        ("compute_90a", (10, 0), None),
        ("sm_100a", (10, 3), None),
        ("sm_100f", (10, 3), Code.MACHINE_CODE),
        ("sm_100f", (12, 0), None),
        ("sm_86", (8, 0), None),
        ("gfx90a nonsense", (9, 0), None),
    ],
)
def test_e2_arch_lists_against_cards(arch_list: str, capability: tuple[int, int], how: Code | None) -> None:
    assert runs(arch_list.split(), capability) == how


@pytest.mark.parametrize(
    ("driver", "cards", "index"),
    [
        ("580.65.06", [(8, 9)], "cu130"),
        ("580.65.06", [(6, 1)], "cu126"),
        ("580.65.06", [(6, 1), (8, 9)], "cu126"),
        ("570.26", [(12, 0)], "cu128"),
        ("550.54.14", [(8, 9)], "cu126"),
        ("470.86", [(8, 6)], "cu118"),
    ],
)
def test_e1_the_index_for_driver_and_card(driver: str, cards: list[tuple[int, int]], index: str) -> None:
    assert builds_for(Version.of(driver), cards)[0].index == index


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized", 802),
        ("Error 804: forward compatibility was attempted on non supported HW", 804),
        ("cuda runtime error (35) : CUDA driver version is insufficient", 35),
        ("cuInit(0) failed -> CUDA_ERROR_UNKNOWN: unknown error", 999),
        ("CUDA error: no kernel image is available for execution on the device", None),
        (None, None),
    ],
)
def test_e5_error_numbers_are_told_apart(text: str | None, number: int | None) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("NVIDIA GeForce RTX 3090", False), ("NVIDIA GeForce GTX 1650", False), ("NVIDIA TITAN V", False),
        ("Tesla T4", True), ("NVIDIA A100-SXM4-80GB", True), ("NVIDIA H100 80GB HBM3", True),
        ("NVIDIA L4", True), ("NVIDIA A10", True), ("NVIDIA B200", True),
        ("NVIDIA RTX A6000", None), ("Quadro P4000", None), (None, None), ("Unheard of", None),
    ],
)  # fmt: skip
def test_e5_which_cards_may_use_compatibility_libraries(name: str | None, *, allowed: bool | None) -> None:
    assert forward_compatible(name) is allowed
