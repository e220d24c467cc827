from __future__ import annotations

from typing import Any

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.apt_history import HISTORY, driver_upgrade
from verify.facts.build import BuildFacts, build_facts, kernel_order
from verify.facts.origin import DGX, UNINSTALLER, driver_origin, driver_packages
from verify.facts.signing import EFI, LOCKDOWN, signing_facts

KERNEL = "6.8.0-90-generic"
LOG = "/var/lib/dkms/nvidia/580.119.02/build/make.log"
VARIABLE = f"{EFI}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


def build(text: str = "", **sections: Any) -> BuildFacts:
    files = {"/proc/sys/kernel/osrelease": {"text": KERNEL + "\n"}, **sections.pop("files", {})}
    commands = {"dkms-status": said(text), **sections.pop("commands", {})}
    return build_facts(recording(files=files, commands=commands, **sections))


@pytest.mark.parametrize(
    ("line", "version", "kernel", "state", "differs"),
    [
        (f"nvidia/580.1, {KERNEL}, x86_64: installed", "580.1", KERNEL, "installed", False),
        ("nvidia, 470.1, 5.4.0, x86_64: built", "470.1", "5.4.0", "built", False),
        ("nvidia-current/550.163.01: added", "550.163.01", None, "added", False),
        (
            "nvidia/580.1, 6.8.0-1, x86_64: installed (WARNING! Diff between built and installed module!)",
            "580.1",
            "6.8.0-1",
            "installed",
            True,
        ),
    ],
)
def test_c4_dkms_in_both_styles(
    line: str, version: str, kernel: str | None, state: str, *, differs: bool
) -> None:
    (row,) = build(f"zfs/2.2.2, {KERNEL}, x86_64: installed\n{line}\n").rows or ()
    assert (row.version, row.kernel, row.state, row.differs) == (version, kernel, state, differs)


@pytest.mark.parametrize(
    "path",
    [
        f"/lib/modules/{KERNEL}/updates/dkms/nvidia.ko.zst",
        f"/lib/modules/{KERNEL}/kernel/nvidia-580-open/nvidia.ko",
        f"/lib/modules/{KERNEL}/extra/nvidia.ko.xz",
        f"/lib/modules/{KERNEL}/updates/dkms/nvidia-current.ko",
    ],
)
def test_c4_a_modules_file_is_a_module(path: str) -> None:
    assert build(
        globs={"/lib/modules/*/x": [path, path.replace("nvidia.ko", "nvidia-uvm.ko")]}
    ).built_for == (KERNEL,)


def test_c4_the_compilers_last_error_comes_before_makes() -> None:
    text = "  CC a.o\na.c:1:2: error: first\nb.c:3:4: error: last\nmake[3]: *** [b.o] Error 1\n"
    found = build(files={LOG: {"text": text}})
    assert (found.error, found.error_path) == ("b.c:3:4: error: last", LOG)
    assert (
        build(files={LOG: {"text": "make: *** [modules] Error 2\n"}}).error == "make: *** [modules] Error 2"
    )
    assert build(files={LOG: {"text": "  CC a.o\n  LD a.ko\n"}}).error is None


@pytest.mark.parametrize(("licence", "is_open"), [("Dual MIT/GPL", True), ("NVIDIA", False)])
def test_the_licence_tells_the_flavour(licence: str, *, is_open: bool) -> None:
    modinfo = said(f"filename: /x/nvidia.ko\nversion: 580.1\nlicense:        {licence}\nsigner:  lab key\n")
    found = build(commands={"modinfo-nvidia": modinfo})
    assert (found.open, found.signer, found.on_disk) == (is_open, "lab key", True)


@pytest.mark.parametrize(
    "commands",
    [
        {},
        {"dkms-status": {"argv": ["dkms"], "missing": True}, "modinfo-nvidia": {"argv": [], "missing": True}},
    ],
)
def test_nobody_looked_at_the_build(commands: dict[str, object]) -> None:
    assert build_facts(recording(commands=commands)).recorded is False


def test_kernels_are_ordered_by_their_numbers() -> None:
    assert kernel_order("6.10.0-1") > kernel_order("6.8.0-90-generic")


@pytest.mark.parametrize(
    ("text", "rc", "on"),
    [
        ("SecureBoot enabled\n", 0, True),
        ("SecureBoot disabled\n", 0, False),
        ("SecureBoot enabled\nSecureBoot validation is disabled in shim\n", 0, False),
        ("This system doesn't support Secure Boot\n", 1, False),
        ("EFI variables are not supported on this system\n", 1, False),
        ("Failed to read SecureBoot\n", 1, None),
    ],
)
def test_c3_mokutils_texts(text: str, rc: int, on: bool | None) -> None:  # noqa: FBT001
    assert signing_facts(recording(commands={"mokutil-sb": said(text, rc)})).secure_boot is on


@pytest.mark.parametrize(("value", "on"), [("\x06\x00\x00\x00\x01", True), ("\x06\x00\x00\x00\x00", False)])
def test_c3_the_variable_answers_where_mokutil_is_missing(value: str, *, on: bool) -> None:
    commands = {"mokutil-sb": {"argv": ["mokutil"], "missing": True}}
    found = signing_facts(recording(commands=commands, files={VARIABLE: {"text": value}}))
    assert found.secure_boot is on


def test_c3_a_bios_has_no_secure_boot_and_no_record_is_no_answer() -> None:
    assert signing_facts(recording(paths={EFI: False})).secure_boot is False
    assert signing_facts(recording(paths={EFI: True})).secure_boot is None
    assert signing_facts(recording()).demanded is None


@pytest.mark.parametrize(
    ("mode", "demanded"), [("integrity", True), ("confidentiality", True), ("none", False)]
)
def test_c3_lockdown_without_mokutil(mode: str, *, demanded: bool) -> None:
    text = "none integrity confidentiality\n".replace(mode, f"[{mode}]")
    found = signing_facts(recording(files={LOCKDOWN: {"text": text}}))
    assert (found.lockdown, found.demanded) == (mode, demanded)


def _history(command: str) -> str:
    return (
        f"\nStart-Date: 2026-11-27  06:00:00\nCommandline: {command}\n"
        "Upgrade: libnvidia-compute-535:amd64 (535.1-0ubuntu1, 535.2-0ubuntu1), vim:amd64 (1, 2)\n"
        "End-Date: 2026-11-27  06:01:00\n\nStart-Date: 2026-11-28  06:00:00\nCommandline: apt install vim\n"
        "Upgrade: nvidia-container-toolkit:amd64 (1.20.1-1, 1.20.2-1)\n"
        "Install: libnvidia-ml1:amd64 (550.1-1)\n"
    )


@pytest.mark.parametrize(
    ("command", "unattended"), [("/usr/bin/unattended-upgrade", True), ("apt upgrade", False)]
)
def test_c1_what_apt_did_to_the_driver(command: str, *, unattended: bool) -> None:
    found = driver_upgrade(recording(files={HISTORY: {"text": _history(command)}}))
    assert found
    assert (found.package, found.before, found.after, found.unattended, found.date) == (
        "libnvidia-compute-535",
        "535.1-0ubuntu1",
        "535.2-0ubuntu1",
        unattended,
        "2026-11-27 06:00:00",
    )


@pytest.mark.parametrize("files", [{}, {HISTORY: {"missing": True}}, {HISTORY: {"text": ""}}])
def test_c1_without_a_history_nothing_is_said(files: dict[str, object]) -> None:
    assert driver_upgrade(recording(files=files)) is None


@pytest.mark.parametrize(
    ("packages", "sections", "origin"),
    [
        ("libnvidia-compute-510 510.60.02-0lambda0~20.04.1 installed\n", {}, "Lambda"),
        ("libnvidia-compute-580 580.1-1pop0~24.04~abc installed\n", {}, "System76"),
        ("", {"paths": {UNINSTALLER: True}}, ".run"),
        ("libnvidia-ml1 550.1-1 installed\n", {"files": {DGX: {"text": "DGX_NAME=x\n"}}}, "DGX"),
        ("libnvidia-ml1 550.163.01-2 installed\n", {"paths": {UNINSTALLER: False}}, None),
        ("linux-image-6.8.0-1020-nvidia 6.8 installed\n", {}, None),
    ],
)
def test_i2_whose_driver_it_is(packages: str, sections: dict[str, Any], origin: str | None) -> None:
    one = recording(commands={"driver-packages": said(packages)}, **sections)
    found = driver_origin(one, driver_packages(one))
    assert found is None if origin is None else origin in (found or "")
