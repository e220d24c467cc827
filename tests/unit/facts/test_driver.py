from __future__ import annotations

from typing import Any

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.card import QUERY_FIELDS
from verify.facts.driver import driver_facts
from verify.facts.trouble import Trouble

LIST = "GPU 0: NVIDIA A10 (UUID: GPU-0)\nGPU 1: NVIDIA A10 (UUID: GPU-1)\n"
HEADER = "| NVIDIA-SMI 550.163.01             Driver Version: 550.163.01     CUDA Version: 12.4     |\n"


def row(index: int, uuid: str, memory: str = "23028") -> str:
    values = {"index": str(index), "uuid": uuid, "memory.total": memory, "driver_version": "550.163.01"}
    return ", ".join(values.get(field, "[N/A]") for field in QUERY_FIELDS) + "\n"


@pytest.mark.parametrize(
    ("rc", "text", "trouble"),
    [
        (4, "Failed to initialize NVML: Insufficient Permissions", Trouble.NO_PERMISSION),
        (
            9,
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
            Trouble.NO_MODULE,
        ),
        (12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", Trouble.NO_LIBRARY),
        (15, "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.", Trouble.LOST),
        (255, "Unable to determine the device handle for GPU0000:02:00.0: Unknown Error", Trouble.LOST),
        (17, "Failed to initialize NVML: GPU access blocked by the operating system", Trouble.BLOCKED_BY_OS),
        (
            18,
            "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.163",
            Trouble.MISMATCH,
        ),
        (255, "Failed to initialize NVML: Unknown Error", Trouble.UNKNOWN),
        (6, "No devices were found", Trouble.NO_CARD),
        (0, "", Trouble.NO_CARD),
        (9, "", Trouble.NO_MODULE),
        (3, "something new", Trouble.UNKNOWN),
    ],
)
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_reason_of_a_failure(rc: int, text: str, trouble: Trouble, stream: str) -> None:
    found = driver_facts(recording(commands={"nvidia-smi-list": said(rc=rc, **{stream: text + "\n"})}))
    assert (found.answers, found.trouble) == (False, trouble)
    assert found.said == text.partition("\n")[0]


def test_missing_and_late_are_their_own_reasons() -> None:
    missing = driver_facts(recording(commands={"nvidia-smi-list": {"argv": ["nvidia-smi"], "missing": True}}))
    late = driver_facts(recording(commands={"nvidia-smi-list": {"argv": ["nvidia-smi"], "timed_out": True}}))
    assert (missing.trouble, late.trouble) == (Trouble.NOT_INSTALLED, Trouble.TIMED_OUT)


def test_nobody_asked() -> None:
    found = driver_facts(recording())
    assert (found.recorded, found.answers, found.trouble, found.cards) == (False, False, None, ())


def test_facts_are_put_together_field_by_field() -> None:
    xml = (
        "<driver_version>550.163.01</driver_version>"
        "<gpu id='x'><uuid>GPU-1</uuid><temperature><gpu_temp>33 C</gpu_temp></temperature></gpu>"
    )
    commands = {
        "nvidia-smi-list": said(LIST),
        "nvidia-smi-query": said(row(0, "GPU-0") + row(1, "GPU-1", "[N/A]")),
        "nvidia-smi-xml": said(xml),
        "nvidia-smi": said(HEADER),
    }
    found = driver_facts(recording(commands=commands))
    assert [(card.memory_total_mib, card.temperature_c) for card in found.cards] == [
        (23028, None),
        (None, 33.0),
    ]
    assert (str(found.version), str(found.cuda)) == ("550.163.01", "12.4")


def test_one_broken_card_does_not_hide_the_other() -> None:
    broken = "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost\n"
    commands = {
        "nvidia-smi-query": said(broken, rc=15),
        "nvidia-smi-gpu-0": said(row(0, "GPU-0")),
        "nvidia-smi-gpu-1": said(broken, rc=15),
    }
    found = driver_facts(recording(commands=commands))
    assert [card.uuid for card in found.cards] == ["GPU-0"]
    assert (found.answers, found.trouble) == (False, Trouble.LOST)


def test_a_failed_table_beside_a_good_list_is_said() -> None:
    commands = {"nvidia-smi-list": said(LIST), "nvidia-smi": said("Internal NVML error\n", rc=255)}
    found = driver_facts(recording(commands=commands))
    assert (found.answers, found.partial) == (True, ("nvidia-smi exit status 255",))


def test_a_corrupt_inforom_is_a_warning() -> None:
    found = driver_facts(recording(commands={"nvidia-smi-list": said(LIST, rc=14)}))
    assert (found.answers, found.inforom) == (True, True)


@pytest.mark.parametrize(
    ("sections", "versions"),
    [
        (
            {
                "globs": {
                    "/usr/lib64/libnvidia-ml.so*": [
                        "/usr/lib64/libnvidia-ml.so.1",
                        "/usr/lib64/libnvidia-ml.so.580.65.06",
                    ]
                }
            },
            ["580.65.06"],
        ),
        ({"links": {"/usr/lib/libnvidia-ml.so.1": "libnvidia-ml.so.535.54.03"}}, ["535.54.03"]),
        (
            {"paths": {"/a/libnvidia-ml.so.550.163.01": True, "/a/libnvidia-ml.so.550.163.02": False}},
            ["550.163.01"],
        ),
        ({"paths": {"/usr/lib/gpu-host-simulated/diverted/libnvidia-ml.so.550.163.01": True}}, []),
        ({"commands": {"driver-packages": said("libnvidia-ml1 550.163.01-2 installed\n")}}, ["550.163.01"]),
        (
            {"commands": {"driver-packages": said("nvidia-driver-cuda-libs 3:580.65.06-1.el10 installed\n")}},
            ["580.65.06"],
        ),
        ({"commands": {"driver-packages": said("libnvidia-ml1 550.163.01-2 config-files\n")}}, []),
        ({"commands": {"nvidia-smi-list": said("NVML library version: 580.178\n", rc=18)}}, ["580.178"]),
        (
            {"globs": {"x": ["/a/libnvidia-ml.so.535.1.1"], "y": ["/b/libnvidia-ml.so.550.1.1"]}},
            ["535.1.1", "550.1.1"],
        ),
    ],
)
def test_the_versions_of_the_library(sections: dict[str, Any], versions: list[str]) -> None:
    found = driver_facts(recording(**sections))
    assert [str(version) for version in found.libraries] == versions
    assert len(found.library_evidence) == len(versions)
