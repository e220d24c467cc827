"""The driver as the probe sees it: loaded, on the disk, built, held; nouveau, Secure Boot, origin."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from plugins.module_utils.gpu_host_cards import bridges, cards
from plugins.module_utils.gpu_host_driver import driver
from plugins.module_utils.gpu_host_driver_module import build_log, dkms_rows, loaded, secure_boot
from plugins.module_utils.gpu_host_driver_origin import maker_of, origin
from plugins.module_utils.gpu_host_installed import packages
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

SMI = "nvidia-smi --query-gpu=driver_version"
PROPRIETARY = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  520.56.06  Thu Oct  6\nGCC version:  gcc 12\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  515.57  Release Build  (root@x)  Wed\n"
ARM = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build\n"
DPKG = (
    "nvidia-utils-580\tii \t580.95.05-1\n"
    "libnvidia-compute-580\thi \t580.95.05-1\n"
    "nvidia-dkms-580-open\tiF \t580.95.05-1\n"
)


@pytest.mark.parametrize(
    ("text", "sys", "found"),
    [
        (PROPRIETARY, "", {"version": "520.56.06", "flavour": "proprietary"}),
        (OPEN, "", {"version": "515.57", "flavour": "open"}),
        (ARM, "", {"version": "580.95.05", "flavour": "open"}),
        ("GCC version:  gcc 12\n", "580.95.05\n", {"version": "580.95.05", "flavour": None}),
        ("", "", None),
    ],
)
def test_c1_the_loaded_module(tmp_path: Path, text: str, sys: str, found: dict[str, Any] | None) -> None:
    files = {"/proc/driver/nvidia/version": text} | ({"/sys/module/nvidia/version": sys} if sys else {})
    assert loaded(Machine(tmp_path, files, {})) == found


def test_c1_four_numbers_that_tell_library_from_module(tmp_path: Path) -> None:
    files = {
        "/proc/driver/nvidia/version": PROPRIETARY,
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.535.54.03": "",
        "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1": "",
        "/lib/modules/6.1.0-28-amd64/updates/dkms/nvidia-current.ko.xz": "",
    }
    says = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.54"
    commands = {SMI: (18, says), "modinfo -F version": (0, "535.54.03\n"), "dpkg-query": (1, "")}
    found = driver(Machine(tmp_path, files, commands))
    assert (found["works"], found["version"], found["says"]) == (False, None, says.splitlines()[0])
    assert found["loaded"]["version"] == "520.56.06"
    assert found["libraries"] == ["535.54.03"]
    assert found["on_disk"] == {"6.1.0-28-amd64": "535.54.03"}


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("nvidia/580.1, 6.8.0-1, x86_64: installed", ("nvidia", "580.1", "6.8.0-1", "installed", False)),
        ("nvidia, 470.1, 5.4.0, x86_64: built", ("nvidia", "470.1", "5.4.0", "built", False)),
        ("nvidia-current/550.163.01: added", ("nvidia-current", "550.163.01", None, "added", False)),
        (
            "nvidia/580.1, 6.8.0-1, x86_64: installed (WARNING! Diff between built and installed module!)",
            ("nvidia", "580.1", "6.8.0-1", "installed", True),
        ),
        (
            "nvidia-current-open/550.163.01, 6.12.48+deb13-amd64, x86_64: installed",
            ("nvidia-current-open", "550.163.01", "6.12.48+deb13-amd64", "installed", False),
        ),
        ("zfs/2.1, 6.8.0-1, x86_64: installed", None),
        ("Error! There are no modules", None),
    ],
)
def test_c4_dkms_status_in_both_styles(line: str, row: tuple[Any, ...] | None) -> None:
    found = [tuple(each.values()) for each in dkms_rows(line)]
    assert found == ([row] if row else [])


@pytest.mark.parametrize(
    ("said", "is_on"),
    [
        ("SecureBoot enabled", True),
        ("SecureBoot disabled\nPlatform is in Setup Mode", False),
        ("This system doesn't support Secure Boot", False),
        ("EFI variables are not supported on this system", False),
        ("SecureBoot enabled\nSecureBoot validation is disabled in shim", True),
    ],
)
def test_c3_secure_boot_as_mokutil_says_it(tmp_path: Path, said: str, *, is_on: bool) -> None:
    files = {"/sys/firmware/efi/fw_platform_size": "64"}
    assert secure_boot(Machine(tmp_path, files, {"mokutil --sb-state": (0, said)})) is is_on


@pytest.mark.parametrize(("value", "is_on"), [("\x01", True), ("\x00", False)])
@pytest.mark.parametrize("commands", [{}, {"mokutil --sb-state": (255, "Failed to read SecureBoot")}])
def test_c3_without_mokutil_the_variable_itself_tells(
    tmp_path: Path, value: str, commands: dict[str, tuple[int, str]], *, is_on: bool
) -> None:
    name = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    assert secure_boot(Machine(tmp_path, {name: f"\x06\x00\x00\x00{value}"}, commands)) is is_on


def test_c3_a_machine_started_by_a_bios_has_none(tmp_path: Path) -> None:
    assert secure_boot(Machine(tmp_path / "bios", {"/sys/x": ""}, {})) is False
    assert secure_boot(Machine(tmp_path / "efi", {"/sys/firmware/efi/fw_platform_size": "64"}, {})) is None


def pci(
    tmp_path: Path, device: str, kind: str, holder: str | None = None, at: str = "0000:3b:00.0"
) -> Machine:
    files = {
        f"/sys/bus/pci/devices/{at}/{n}": t
        for n, t in (("vendor", "0x10de"), ("device", device), ("class", kind))
    }
    machine = Machine(tmp_path, files, {})
    if holder:
        machine.at(f"/sys/bus/pci/drivers/{holder}").mkdir(parents=True)
        machine.at(f"/sys/bus/pci/devices/{at}/driver").symlink_to(f"../../drivers/{holder}")
    return machine


@pytest.mark.parametrize("holder", ["nouveau", "vfio-pci", "nvidia", None])
def test_c2_who_holds_the_card(tmp_path: Path, holder: str | None) -> None:
    machine = pci(tmp_path, "0x1db5", "0x030200", holder)
    assert cards(machine) == [
        {"address": "0000:3b:00.0", "id": "10de:1db5", "class": "030200", "driver": holder}
    ]


def test_c6_an_audio_function_is_no_card_and_an_nvswitch_is_no_card(tmp_path: Path) -> None:
    assert cards(pci(tmp_path / "a", "0x10f0", "0x040300")) == []
    switch = pci(tmp_path / "b", "0x22a3", "0x068000")
    assert (cards(switch), [each["id"] for each in bridges(switch)]) == ([], ["10de:22a3"])


@pytest.mark.parametrize(
    ("modules", "there"), [("nouveau 1 0 - Live\n", True), ("nvidia 1 0 - Live\n", False)]
)
def test_c2_nouveau_is_loaded(tmp_path: Path, modules: str, *, there: bool) -> None:
    assert driver(Machine(tmp_path, {"/proc/modules": modules}, {}))["nouveau"] is there


def test_c4_the_first_error_and_the_last_lines_of_the_newest_log(tmp_path: Path) -> None:
    log = "\n".join(
        [
            "DKMS make.log",
            "  CC [M] nv.o",
            "nv.c:12:3: error: too few arguments to function",
            *(f"line {n}" for n in range(9)),
            "",
            "# exit code: 2",
            "# elapsed time: 00:02:52",
            "----------------------------------------------------------------",
        ]
    )
    files = {
        "/var/lib/dkms/nvidia/470.1/build/make.log": "old: error: x",
        "/var/lib/dkms/nvidia/580.1/build/make.log": log,
    }
    machine = Machine(tmp_path, files, {})
    os.utime(machine.at("/var/lib/dkms/nvidia/470.1/build/make.log"), (1, 1))
    found = build_log(machine)
    assert found
    assert found["path"].endswith("580.1/build/make.log")
    assert found["error"] == "nv.c:12:3: error: too few arguments to function"
    assert found["last"][-1] == "line 8"
    assert build_log(Machine(tmp_path / "none", {}, {})) is None


def test_c4_headers_are_a_folder_that_is_there(tmp_path: Path) -> None:
    machine = Machine(
        tmp_path, {"/lib/modules/6.1/build/Makefile": "", "/lib/modules/6.2/modules.dep": ""}, {}
    )
    machine.at("/lib/modules/6.2/build").symlink_to("/nowhere/at/all")
    assert driver(machine)["headers"] == ["6.1"]


def test_b7_packages_of_the_driver_and_who_is_held(tmp_path: Path) -> None:
    rows = DPKG + "nvidia-container-toolkit\tii \t1.20.2-1\nnvidia-utils-570\trc \t570.1\nlibcuda1\tun \t\n"
    found = driver(Machine(tmp_path, {}, {"dpkg-query -W": (1, rows)}))
    whole = ("nvidia-utils-580", "libnvidia-compute-580", "nvidia-dkms-580-open")
    assert found["packages"] == dict.fromkeys(whole, "580.95.05-1")
    assert (found["held"], found["half"]) == (["libnvidia-compute-580"], ["nvidia-dkms-580-open"])


def test_b7_the_same_with_rpm(tmp_path: Path) -> None:
    rows = "nvidia-driver-cuda\t3:580.95.05-1.el9\nnvidia-container-toolkit\t0:1.20.2-1"
    files = {"/etc/dnf/plugins/versionlock.list": "nvidia-driver-cuda-3:580.95.05-1.el9.*\n"}
    found = driver(Machine(tmp_path, files, {"rpm -qa": (0, rows), "rpm -q": (1, "")}))
    assert (found["packages"], found["held"]) == (
        {"nvidia-driver-cuda": "3:580.95.05-1.el9"},
        ["nvidia-driver-cuda"],
    )


@pytest.mark.parametrize(
    ("version", "maker", "kind"),
    [
        ("550.163.01-2", "Debian NVIDIA Maintainers <x@example.org>", "distribution"),
        ("580.95.05-0ubuntu0.24.04.2", "Ubuntu Core Developers <x@lists.ubuntu.com>", "distribution"),
        ("595.58.03-1ubuntu1", "NVIDIA CORPORATION <cudatools@nvidia.com>", "nvidia"),
        ("570.148.08-0lambda0.22.04.1", "Lambda <x@lambda.ai>", "vendor"),
        ("510.60.02-0lambda0~20.04.1", "Ubuntu Core Developers <x@lists.ubuntu.com>", "vendor"),
        ("580.95.05-1pop0~x", "System76 <dev@system76.com>", "vendor"),
        ("580.95.05-1.el9", "NVIDIA Corporation", "nvidia"),
        ("580.95.05-1", "", "package"),
    ],
)
def test_i2_whose_build_a_package_is(version: str, maker: str, kind: str) -> None:
    assert maker_of(version, maker)[0] == kind


@pytest.mark.parametrize(
    ("files", "kind", "words"),
    [
        ({"/usr/bin/nvidia-uninstall": ""}, "runfile", ".run installer"),
        ({"/usr/bin/nvidia-uninstall": "", "/opt/azurehpc/x": ""}, "vendor", "Azure"),
        ({}, "unknown", "no package"),
    ],
)
def test_i2_no_package_owns_it(tmp_path: Path, files: dict[str, str], kind: str, words: str) -> None:
    found = origin(Machine(tmp_path, files, {}), "/usr/bin/nvidia-smi")
    assert found["origin_kind"] == kind
    assert words in found["origin"]


def test_i2_a_dgx_is_its_maker_s(tmp_path: Path) -> None:
    commands = {
        "dpkg-query -S": (0, "nvidia-utils-580: /usr/bin/nvidia-smi"),
        "dpkg-query -W": (0, "580.95.05-0ubuntu0.24.04.2\tUbuntu Core Developers"),
    }
    found = origin(Machine(tmp_path, {"/etc/dgx-release": "DGX_NAME=x"}, commands), "/usr/bin/nvidia-smi")
    assert found == {
        "origin_kind": "vendor",
        "origin": "package nvidia-utils-580 580.95.05-0ubuntu0.24.04.2 (DGX OS)",
    }


@pytest.mark.parametrize(
    ("rc", "out", "works", "version", "serves"),
    [
        (0, "580.95.05\n580.95.05", True, "580.95.05", 2),
        (14, "580.95.05\nWARNING: infoROM is corrupted at gpu 0000:B3:00.0", True, "580.95.05", 1),
        (0, "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n580.95.05", True, "580.95.05", 1),
        (9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", False, None, 0),
        (6, "No devices were found", False, None, 0),
    ],
)
def test_c9_how_many_cards_are_served(
    tmp_path: Path, rc: int, out: str, version: str | None, serves: int, *, works: bool
) -> None:
    found = driver(Machine(tmp_path, {}, {SMI: (rc, out), "dpkg-query": (1, "")}))
    assert (found["works"], found["version"], found["serves"]) == (works, version, serves)


@pytest.mark.parametrize(("boot", "due"), [("aaaa", True), ("bbbb", False)])
def test_g1_a_reboot_that_is_due_until_the_next_boot(tmp_path: Path, boot: str, *, due: bool) -> None:
    files = {
        "/var/lib/gpu-host/reboot-needed.json": json.dumps(
            {"boot_id": "aaaa", "because": "loaded 1, on disk 2"}
        ),
        "/proc/sys/kernel/random/boot_id": f"{boot}\n",
    }
    assert driver(Machine(tmp_path, files, {}))["reboot"] == {"because": "loaded 1, on disk 2", "due": due}


def test_what_is_ours_by_the_ownership_file(tmp_path: Path) -> None:
    document = {"schema": 1, "roles": {"nvidia_driver": {"packages": ["a"], "holds": ["a"]}}}
    found = driver(Machine(tmp_path, {"/var/lib/gpu-host/owned.json": json.dumps(document)}, {}))
    assert found["ours"] == {"packages": ["a"], "files": [], "holds": ["a"]}
    broken = driver(Machine(tmp_path / "b", {"/var/lib/gpu-host/owned.json": "{"}, {}))
    assert broken["ours"] == {"packages": [], "files": [], "holds": []}


def test_c8_the_services_that_are_there(tmp_path: Path) -> None:
    said = (
        "Id=nvidia-persistenced.service\nLoadState=loaded\nActiveState=active\n\n"
        "Id=nvidia-fabricmanager.service\nLoadState=not-found\nActiveState=inactive"
    )
    assert driver(Machine(tmp_path, {}, {"systemctl show": (0, said)}))["units"] == {
        "nvidia-persistenced": "active"
    }


def test_mig_modes_as_they_are_reported(tmp_path: Path) -> None:
    commands = {
        SMI: (0, "580.95.05"),
        "nvidia-smi --query-gpu=mig": (0, "Enabled\n[N/A]"),
        "dpkg-query": (1, ""),
    }
    assert driver(Machine(tmp_path, {}, commands))["mig"] == ["Enabled", "[N/A]"]


def test_a_driver_that_works(tmp_path: Path) -> None:
    commands = {
        SMI: (0, "550.163.01\n550.163.01"),
        "dpkg-query -S /usr/bin/nvidia-smi": (0, "nvidia-smi: /usr/bin/nvidia-smi"),
        "dpkg-query -W -f ${Version}": (0, "550.163.01-2\tDebian NVIDIA Maintainers <x@example.org>\n"),
    }
    found = driver(Machine(tmp_path, {}, commands))
    assert (found["works"], found["version"]) == (True, "550.163.01")
    assert found["origin"] == "package nvidia-smi 550.163.01-2 (the distribution)"


def test_a_driver_that_fails_keeps_its_words(tmp_path: Path) -> None:
    says = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    found = driver(
        Machine(
            tmp_path, {"/usr/bin/nvidia-uninstall": ""}, {SMI: (9, says), "dpkg-query": (1, "no path found")}
        )
    )
    assert (found["works"], found["version"], found["says"]) == (False, None, says)
    assert found["origin"] == "NVIDIA's .run installer"


def test_a_driver_that_hangs(tmp_path: Path) -> None:
    found = driver(Machine(tmp_path, {}, {"nvidia-smi never": (0, "")}))
    assert (found["works"], found["says"]) == (False, "/usr/bin/nvidia-smi: no answer within 20 s")


def test_no_driver(tmp_path: Path) -> None:
    found = driver(Machine(tmp_path, {}, {}))
    assert (found["tool"], found["works"], found["origin"], found["dkms"]) == (None, False, None, [])
    assert found["says"] == "nvidia-smi is not installed"


def test_an_origin_behind_a_diversion_and_on_wsl(tmp_path: Path) -> None:
    diverted = "diversion by glx-diversions from: /usr/bin/nvidia-smi\nnvidia-smi: /usr/bin/nvidia-smi"
    commands = {SMI: (0, "1.2"), "dpkg-query -S": (0, diverted), "dpkg-query -W": (0, "")}
    assert driver(Machine(tmp_path, {}, commands))["origin"] == "package nvidia-smi (packages)"
    wsl = driver(Machine(tmp_path, {}, {"/usr/lib/wsl/lib/nvidia-smi": (0, "1.2")}))
    assert "Windows" in wsl["origin"]


def test_dkms_is_read_because_apt_does_not_tell(tmp_path: Path) -> None:
    status = "nvidia-current/550.163.01: added\nother/1.0: installed"
    assert driver(Machine(tmp_path, {}, {"dkms status": (0, status)}))["dkms"] == [
        "nvidia-current/550.163.01: added"
    ]


def test_only_whole_packages_count(tmp_path: Path) -> None:
    rows = "a\tii \t1.0-1\nheld\thi \t2.0-1\ngone\trc \t3.0\nhalf\tiF \t4.0\ndpkg-query: nothing matches b"
    machine = Machine(tmp_path, {}, {"dpkg-query -W": (1, rows)})
    assert packages(machine, ["a", "held", "gone", "half", "b"]) == {"a": "1.0-1", "held": "2.0-1"}
    assert packages(Machine(tmp_path, {}, {}), ["a"]) == {}
