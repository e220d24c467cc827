"""A driver that is there: kept, changed on request only, never by a pattern; Secure Boot, holds, NVSwitch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.plugins.drivers import host, plan, working

BRANCH_580 = {
    "libnvidia-compute-580": "580.95.05-0ubuntu1", "libnvidia-cfg1-580": "580.95.05-0ubuntu1",
    "nvidia-utils-580": "580.95.05-0ubuntu1", "nvidia-dkms-580-open": "580.95.05-0ubuntu1",
    "nvidia-kernel-source-580-open": "580.95.05-0ubuntu1", "nvidia-kernel-common-580": "580.95.05-0ubuntu1",
    "nvidia-firmware-580-580.95.05": "580.95.05-0ubuntu1", "nvidia-compute-utils-580": "580.95.05-0ubuntu1",
    "nvidia-driver-pinning-580": "580-1", "nvidia-persistenced": "580.95.05-0ubuntu1",
}  # fmt: skip
# Names that a pattern would catch: kernels, their modules and tools, the toolkit, what CUDA brings.
NEVER = {
    "linux-image-6.8.0-1042-nvidia": "6.8.0-1042.45", "linux-modules-6.8.0-1042-nvidia": "6.8.0-1042.45",
    "linux-headers-6.8.0-1042-nvidia": "6.8.0-1042.45", "linux-tools-6.8.0-1042-nvidia": "6.8.0-1042.45",
    "nvidia-container-toolkit": "1.20.2-1", "libnvidia-container1": "1.20.2-1",
    "nvidia-settings": "580.95.05", "nvidia-cuda-toolkit": "12.4", "nvidia-system-core": "24.10",
    "nvidia-prime": "0.8", "libnvidia-nscq-580": "580.95.05-1", "mlnx-nvme-dkms": "1",
    "nvidia-modprobe": "580.95.05-0ubuntu1",
}  # fmt: skip
OURS = {"packages": list(BRANCH_580), "files": [], "holds": list(BRANCH_580)}
VENDORS = [
    ("vendor", "package nvidia-utils-570-server 570.148.08-0lambda0.22.04.1 (Lambda's stack)"),
    ("vendor", "package nvidia-utils-580 580.95.05-0ubuntu0.24.04.2 (DGX OS)"),
    ("vendor", "NVIDIA's .run installer, on Azure's HPC image"),
    ("runfile", "NVIDIA's .run installer"),
    ("wsl", "the Windows host's driver (WSL)"),
    ("unknown", "no package of this system"),
]
PACKAGES = ["distribution", "nvidia", "package"]


@pytest.mark.parametrize("source", ["auto", "distro", "nvidia", "preinstalled"])
@pytest.mark.parametrize(("kind", "origin"), [*VENDORS, ("nvidia", "package x 1 (NVIDIA's repository)")])
def test_i2_a_driver_that_works_is_kept_and_its_origin_said(kind: str, origin: str, source: str) -> None:
    found = host("ubuntu 24.04", **working("570.148.08", kind, origin=origin))
    done = plan(found, source=source)
    assert (done["action"], done["refusal"], done["packages"]) == ("keep", "", [])
    assert origin in done["because"]


@pytest.mark.parametrize("asked", [{"version": "580"}, {"version": "580.159.03"}, {"flavour": "proprietary"}])
@pytest.mark.parametrize("kind", PACKAGES)
def test_i2_another_one_that_is_asked_for_comes_only_with_leave(kind: str, asked: dict[str, str]) -> None:
    found = host("ubuntu 24.04", **working("570.148.08", kind))
    done = plan(found, **asked)
    assert (done["action"], done["packages"]) == ("keep", [])
    assert any("nvidia_driver_replace: true would change it" in note for note in done["notes"])
    done = plan(found, replace=True, **asked)
    assert (done["action"], done["refusal"]) == ("change", "")


@pytest.mark.parametrize(("kind", "origin"), VENDORS)
def test_i2_what_did_not_come_as_packages_is_not_replaced(kind: str, origin: str) -> None:
    found = host("ubuntu 24.04", **working("570.148.08", kind, origin=origin, packages={}))
    done = plan(found, version="580", replace=True)
    assert origin in done["refusal"]
    assert "nvidia-uninstall" in done["refusal"]
    assert done["packages"] == []


def test_g7_what_was_asked_for_and_is_there_stays() -> None:
    for version in ("auto", "580", "580.95.05"):
        found = host("ubuntu 24.04", **working("580.95.05", packages=BRANCH_580, ours=OURS))
        assert plan(found, version=version)["action"] == "keep"


def test_an_upgrade_of_our_own_from_one_branch_to_another() -> None:
    there = working("580.95.05", packages=BRANCH_580 | NEVER, ours=OURS, held=list(BRANCH_580))
    found = host("ubuntu 24.04", **there)
    done = plan(found, version="595")
    assert (done["action"], done["refusal"]) == ("change", "")
    assert (done["pinning"], done["unpins"]) == (["nvidia-driver-pinning-595"], ["nvidia-driver-pinning-580"])
    assert done["packages"][:2] == ["libnvidia-compute=595.*", "nvidia-dkms-open=595.*"]
    assert set(done["replaces"]) == set(BRANCH_580) - {"nvidia-driver-pinning-580", "nvidia-persistenced"}
    assert not done["downgrade"]


@pytest.mark.parametrize("version", ["595", "595.71.05", "580.159.03", "570"])
@pytest.mark.parametrize("flavour", ["auto", "proprietary"])
def test_i2_nothing_that_only_looks_like_a_driver_is_ever_taken_away(version: str, flavour: str) -> None:
    there = NEVER | BRANCH_580
    found = host("ubuntu 24.04", **working("580.95.05", packages=there))
    done = plan(found, version=version, flavour=flavour, replace=True)
    assert done["refusal"] == ""
    assert set(done["replaces"]) & set(NEVER) == set()
    assert not any("*" in name or "^" in name for name in done["replaces"] + done["unpins"])


def test_a_downgrade_is_allowed_where_an_older_version_was_asked_for_by_name() -> None:
    there = {"libnvidia-compute-580": "580.159.03-1"}
    found = host("ubuntu 24.04", **working("580.159.03", packages=there, ours=OURS))
    assert plan(found, version="580.95.05")["downgrade"]
    assert plan(found, version="570")["downgrade"]
    assert not plan(found, version="595")["downgrade"]
    assert not plan(found, version="580.178.04")["downgrade"]


@pytest.mark.parametrize("system", ["debian 13", "ubuntu 24.04", "rhel 9"])
def test_the_other_flavour_takes_the_place_of_the_module_alone(system: str) -> None:
    modules = {
        "debian 13": "nvidia-kernel-open-dkms",
        "ubuntu 24.04": "nvidia-dkms-580-open",
        "rhel 9": "kmod-nvidia-open-dkms",
    }
    there = {modules[system]: "580.95.05-1", "libcuda1": "580.95.05-1", "nvidia-modprobe": "580.95.05-1"}
    found = host(system, **working("580.95.05", packages=there, ours=OURS | {"packages": list(there)}))
    done = plan(found, flavour="proprietary")
    assert (done["action"], done["replaces"]) == ("change", [modules[system]])


@pytest.mark.parametrize("name", ["nvidia-utils-580", "libnvidia-compute-580"])
def test_i2_somebody_else_s_hold_is_not_released(name: str) -> None:
    found = host("ubuntu 24.04", **working("580.95.05", packages=BRANCH_580, held=[name]))
    done = plan(found, version="595", replace=True)
    assert f"apt-mark unhold {name}" in done["refusal"]
    ours = host("ubuntu 24.04", **working("580.95.05", packages=BRANCH_580, held=[name], ours=OURS))
    assert plan(ours, version="595")["refusal"] == ""


@pytest.mark.parametrize("kind", ["runfile", "unknown", "vendor"])
def test_i2_a_broken_driver_from_elsewhere_is_not_installed_over(kind: str) -> None:
    found = host("debian 13", tool="/usr/bin/nvidia-smi", says="no", origin="somewhere", origin_kind=kind)
    done = plan(found)
    assert "came from somewhere" in done["refusal"]
    assert done["packages"] == []


def test_preinstalled_and_not_there() -> None:
    assert "nvidia_driver_source is preinstalled" in plan(host(), source="preinstalled")["refusal"]


def test_i1_wsl_is_windows() -> None:
    assert "belongs to Windows" in plan(host("ubuntu 24.04", kind="wsl"))["refusal"]


@pytest.mark.parametrize("source", ["auto", "preinstalled", "distro"])
def test_c1_library_and_module_of_two_versions_want_a_reboot_and_no_installation(source: str) -> None:
    found = host(
        "ubuntu 24.04", tool="/usr/bin/nvidia-smi", says="Failed to initialize NVML: Driver/library "
        "version mismatch",
        origin="package nvidia-utils-535 535.54.03-1", origin_kind="distribution", libraries=["535.54.03"],
        packages={"nvidia-utils-535": "535.54.03-1"}, loaded={"version": "530.30.02", "flavour": "open"},
    )  # fmt: skip
    done = plan(found, source=source)
    assert (done["action"], done["refusal"], done["packages"]) == ("keep", "", [])
    assert done["reboot"] == "loaded 530.30.02, on disk 535.54.03: reboot needed"


def test_half_of_the_distribution_s_driver_is_completed_from_there() -> None:
    found = host(
        "debian 13", **working("550.163.01", "distribution", packages={"nvidia-smi": "550.163.01-2"})
    )
    done = plan(found)
    assert (done["action"], done["source"]) == ("install", "distro")
    assert "libcuda1" in done["packages"]
    assert "nvidia-smi" not in done["packages"]


def test_c6_the_wrong_flavour_under_an_old_card() -> None:
    there: dict[str, Any] = {
        "tool": "/usr/bin/nvidia-smi", "says": "No devices were found",
        "origin": "package nvidia-utils-580 580.95.05-1", "origin_kind": "nvidia", "packages": BRANCH_580,
        "loaded": {"version": "580.95.05", "flavour": "open"},
        "libraries": ["580.95.05"],
    }  # fmt: skip
    done = plan(host("ubuntu 24.04", "pascal", **there))
    assert "the open kernel module" in done["refusal"]
    assert "nvidia_driver_replace: true" in done["refusal"]
    done = plan(host("ubuntu 24.04", "pascal", **there, ours=OURS))
    assert (done["action"], done["refusal"], done["flavour"]) == ("change", "", "proprietary")
    assert done["replaces"] == ["nvidia-dkms-580-open"]


def test_c9_a_card_that_the_driver_does_not_serve_is_said() -> None:
    found = host("ubuntu 24.04", "ampere", "ampere", **working("580.95.05"))
    assert any("serves 1 of 2 cards" in note for note in plan(found)["notes"])


def test_mig_is_reported_and_left_alone() -> None:
    found = host("ubuntu 24.04", **working("580.95.05", mig=["Enabled"]))
    assert any("MIG is on" in note for note in plan(found)["notes"])


SWITCH = [{"address": "0000:c0:00.0", "id": "10de:22a3", "class": "068000", "driver": None}]


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("570", "nvidia-fabricmanager-570=570.*"),
        ("580", "nvidia-fabricmanager=580.*"),
        ("580.159.03", "nvidia-fabricmanager=580.159.03-*"),
    ],
)
def test_c8_the_fabric_manager_comes_in_the_driver_s_version(version: str, name: str) -> None:
    assert name in plan(host("ubuntu 24.04", "hopper", bridges=SWITCH), version=version)["packages"]
    assert name not in plan(host("ubuntu 24.04", "hopper"), version=version)["packages"]
    off = plan(host("ubuntu 24.04", "hopper", bridges=SWITCH), version=version, fabric_manager=False)
    assert name not in off["packages"]
    on = plan(host("ubuntu 24.04", "hopper"), version=version, fabric_manager=True)
    assert name in on["packages"]


def test_c8_rhel_has_another_name_before_580() -> None:
    done = plan(host("rhel 9", "hopper", bridges=SWITCH), version="570")
    assert "nvidia-fabric-manager" in done["packages"]
    assert "nvidia-fabricmanager" in plan(host("rhel 9", "hopper", bridges=SWITCH))["packages"]


def test_c8_an_archive_without_one_is_refused() -> None:
    done = plan(host("ubuntu 24.04", "hopper", bridges=SWITCH), source="distro")
    assert "NVSwitch (0000:c0:00.0)" in done["refusal"]


@pytest.mark.parametrize("there", [{}, {"nvidia-fabricmanager": "580.95.05-0ubuntu1"}])
def test_c8_a_driver_that_works_gets_the_fabric_manager_that_is_missing_or_of_another_version(
    there: dict[str, str],
) -> None:
    packages = {"libnvidia-compute-580": "580.159.03-0ubuntu1", **there}
    found = host("ubuntu 24.04", "hopper", **working("580.159.03", packages=packages, bridges=SWITCH))
    done = plan(found)
    assert (done["action"], done["packages"]) == ("install", ["nvidia-fabricmanager=580.159.03-0ubuntu1"])
    whole = packages | {"nvidia-fabricmanager": "580.159.03-0ubuntu1"}
    found = host("ubuntu 24.04", "hopper", **working("580.159.03", packages=whole, bridges=SWITCH))
    assert plan(found)["action"] == "keep"


@pytest.mark.parametrize("system", ["debian 13", "debian 12", "rhel 9"])
def test_c3_secure_boot_is_refused_before_anything_is_installed_with_three_choices(system: str) -> None:
    done = plan(host(system, secure_boot=True))
    for words in ("Secure Boot is on", "(1)", "(2) enrol", "mokutil --import", "Enroll MOK", "(3) switch"):
        assert words in done["refusal"]
    assert plan(host(system, secure_boot=True), secure_boot="enrolled")["refusal"] == ""
    assert plan(host(system, secure_boot=True), kernel_module=False, source="nvidia")["refusal"] == ""
    for off in (False, None):
        assert plan(host(system, secure_boot=off))["refusal"] == ""


@pytest.mark.parametrize(("card", "flavour"), [("ampere", "server-open"), ("volta", "server")])
def test_c3_ubuntu_s_signed_modules_are_taken(card: str, flavour: str) -> None:
    done = plan(host("ubuntu 24.04", card, secure_boot=True))
    assert (done["refusal"], done["source"], done["headers"]) == ("", "distro", [])
    assert f"linux-modules-nvidia-580-{flavour}-6.8.0-87-generic" in done["packages"]
    assert f"nvidia-headless-no-dkms-580-{flavour}" in done["packages"]
    asked = plan(host("ubuntu 24.04", card), secure_boot="signed", source="distro")
    assert f"linux-modules-nvidia-580-{flavour}-6.8.0-87-generic" in asked["packages"]


def test_c3_nvidia_s_repository_with_secure_boot_needs_a_word() -> None:
    done = plan(host("ubuntu 24.04", secure_boot=True), source="nvidia")
    assert "(1) Ubuntu's own signed modules" in done["refusal"]
    assert (
        plan(host("ubuntu 24.04", secure_boot=True), source="nvidia", secure_boot="enrolled")["refusal"] == ""
    )


def test_g7_a_run_that_was_cut_off_is_ended_by_the_next_one() -> None:
    there = {
        "nvidia-driver-cuda": "580.1-1",
        "nvidia-kernel-open-dkms": "580.1-1",
        "nvidia-persistenced": "580.1-1",
    }
    ours = {"packages": list(there), "files": [], "holds": []}
    half = host("debian 13", packages=there, half=["nvidia-kernel-open-dkms"], ours=ours)
    assert plan(half)["action"] == "install"
    # Cut off before it could hold; what somebody released since then stays released.
    assert plan(host("debian 13", **working("580.1", packages=there, ours=ours)))["unheld"]
    held = ours | {"holds": list(there)}
    assert not plan(host("debian 13", **working("580.1", packages=there, ours=held)))["unheld"]
    cut_off = {**held, "holding": True}
    assert plan(host("debian 13", **working("580.1", packages=there, ours=cut_off)))["unheld"]
    assert not plan(host("debian 13", **working("580.1", packages=there)))["unheld"]
    assert not plan(host("debian 13", **working("580.1", packages=there, ours=ours)), hold=False)["unheld"]
