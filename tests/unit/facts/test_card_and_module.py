from __future__ import annotations

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.card import PciCard, card_facts
from verify.facts.host import host_facts
from verify.facts.module import PROC_MODULES, PROC_VERSION, SYS_VERSION, module_facts

GCC = "GCC version:  gcc version 12.2.0\n"
PROPRIETARY = (
    f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  520.56.06  Thu Oct  6 21:38:55 UTC 2022\n{GCC}"
)
OPEN = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  515.57  Release Build  (dvs@builder)\n{GCC}"
AARCH64 = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.124.06  Release Build\n"


def pci(
    address: str, vendor: str, kind: str, driver: str | None = None
) -> tuple[dict[str, object], dict[str, str]]:
    folder = f"/sys/bus/pci/devices/{address}"
    files: dict[str, object] = {
        f"{folder}/vendor": {"text": vendor + "\n"},
        f"{folder}/class": {"text": kind + "\n"},
        f"{folder}/device": {"text": "0x2236\n"},
    }
    return files, {f"{folder}/driver": f"../../../bus/pci/drivers/{driver}"} if driver else {}


@pytest.mark.parametrize(
    ("kind", "is_card"),
    [
        ("0x030000", True),
        ("0x030200", True),
        ("0x040300", False),
        ("0x068000", False),
    ],  # audio function, NVSwitch
)
def test_a_card_is_nvidias_display_controller(kind: str, *, is_card: bool) -> None:
    files, links = pci("0000:3b:00.0", "0x10DE", kind, "nvidia")
    expected = (PciCard("0000:3b:00.0", "0x2236", "nvidia"),) if is_card else ()
    assert card_facts(recording(files=files, links=links)).pci == expected


def test_another_vendors_card_is_none_of_ours() -> None:
    assert card_facts(recording(files=pci("0000:00:02.0", "0x8086", "0x030000")[0])).pci == ()


def test_no_bus_and_no_nodes_is_not_zero_cards() -> None:
    found = card_facts(recording())
    assert (found.pci, found.nodes) == (None, None)


def test_nodes_are_the_numbered_ones() -> None:
    names = ["/dev/nvidia-caps", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia12", "/dev/nvidiactl"]
    assert card_facts(recording(globs={"/dev/nvidia*": names})).nodes == ("/dev/nvidia0", "/dev/nvidia12")


@pytest.mark.parametrize(
    ("text", "version", "is_open"),
    [(PROPRIETARY, "520.56.06", False), (OPEN, "515.57", True), (AARCH64, "570.124.06", True)],
)
def test_both_shapes_of_the_modules_version(text: str, version: str, *, is_open: bool) -> None:
    found = module_facts(recording(files={PROC_VERSION: {"text": text}}))
    assert (str(found.version), found.open, found.loaded) == (version, is_open, True)


def test_a_file_without_the_nvrm_line_is_no_module() -> None:
    found = module_facts(recording(files={PROC_VERSION: {"text": GCC}}))
    assert (found.loaded, found.version) == (False, None)


def test_sys_module_answers_where_proc_does_not() -> None:
    files = {
        PROC_VERSION: {"missing": True},
        SYS_VERSION: {"text": "550.163.01\n"},
        PROC_MODULES: {"missing": True},
    }
    found = module_facts(recording(files=files))
    assert (found.loaded, str(found.version), found.open) == (True, "550.163.01", None)


def test_loaded_without_a_version_is_loaded() -> None:
    found = module_facts(
        recording(files={PROC_MODULES: {"text": "nvidia 14381056 2 nvidia_uvm, Live 0x0 (OE)\n"}})
    )
    assert (found.loaded, found.version) == (True, None)


def test_nvidia_uvm_alone_is_not_nvidia() -> None:
    found = module_facts(
        recording(files={PROC_MODULES: {"text": "nvidia_uvm 1 0 - Live 0x0\nnouveau 1 1 - Live 0x0\n"}})
    )
    assert (found.loaded, found.nouveau) == (False, True)


@pytest.mark.parametrize("files", [{}, {PROC_VERSION: {"error": "EACCES"}}])
def test_nobody_could_look(files: dict[str, object]) -> None:
    assert module_facts(recording(files=files)).loaded is None


def test_the_version_on_the_disk() -> None:
    modinfo = said(
        "filename:       /lib/modules/x/nvidia.ko\nversion:        535.54.03\nsrcversion:     AAA\n"
    )
    assert str(module_facts(recording(commands={"modinfo-nvidia": modinfo})).on_disk) == "535.54.03"


@pytest.mark.parametrize(
    ("kernel", "wsl"),
    [("6.12.0-amd64", False), ("5.15.153.1-microsoft-standard-WSL2", True), ("4.4.0-19041-Microsoft", True)],
)
def test_wsl(kernel: str, *, wsl: bool) -> None:
    assert host_facts(recording(files={"/proc/sys/kernel/osrelease": {"text": kernel + "\n"}})).wsl is wsl


@pytest.mark.parametrize(
    ("text", "os_id", "family"),
    [
        (
            'PRETTY_NAME="Linux Mint 22"\nID=linuxmint\nID_LIKE="ubuntu debian"\n',
            "linuxmint",
            ("linuxmint", "ubuntu", "debian"),
        ),
        ("ID='rocky'\nVERSION_ID='9.4'\n", "rocky", ("rocky",)),
        ("# nothing\n", None, ()),
    ],
)
def test_os_release(text: str, os_id: str | None, family: tuple[str, ...]) -> None:
    found = host_facts(recording(files={"/etc/os-release": {"text": text}}))
    assert (found.os_id, found.os_family) == (os_id, family)
