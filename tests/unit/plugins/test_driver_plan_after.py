"""How a driver stands once all is done: it works, a reboot is due, what is wrong; after a failed build."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.filter.gpu_host_driver_after import REJECTED, driver_after, driver_failed
from tests.unit.plugins.drivers import host, plan, working

KERNEL = "6.12.48+deb13-amd64"
FAILED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
THERE: dict[str, Any] = {"tool": "/usr/bin/nvidia-smi", "says": FAILED, "origin": "package nvidia-smi 1"}
BUILT: dict[str, Any] = {
    "dkms_rows": [{"module": "nvidia", "version": "580.1", "kernel": KERNEL, "state": "installed"}]
}
LOG = {
    "path": "/var/lib/dkms/nvidia/580.1/build/make.log",
    "error": "nv.c:12:3: error: too few arguments",
    "last": ["make[1]: *** nv.o", "make: *** modules", "Error 2"],
}
SWITCH = [{"address": "0000:c0:00.0", "id": "10de:22a3", "class": "068000", "driver": None}]


def after(
    modprobe: str = "", asked: dict[str, Any] | None = None, holder: str | None = None, **seen: Any
) -> dict[str, Any]:
    found = host("debian 13", **seen)
    found["cards"][0]["driver"] = holder
    done: dict[str, Any] = driver_after(found, plan(host("debian 13"), **(asked or {})), modprobe)
    return done


def test_a_driver_that_works() -> None:
    done = after(**working("580.95.05"))
    assert (done["works"], done["reboot"], done["problem"]) == (True, "", "")


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"module": "nvidia", "version": "580.1", "kernel": None, "state": "added"}],
        [{"module": "nvidia", "version": "580.1", "kernel": KERNEL, "state": "built"}],
        [{"module": "nvidia", "version": "580.1", "kernel": "6.1.0-28-amd64", "state": "installed"}],
    ],
)
def test_c4_apt_s_success_is_no_module(rows: list[dict[str, Any]]) -> None:
    done = after(**THERE, dkms_rows=rows, dkms=["nvidia/580.1: added"] if rows else [])
    assert f"no built NVIDIA module for the kernel {KERNEL}" in done["problem"]
    assert "dkms autoinstall" in done["problem"]
    assert not done["built"]


def test_c4_a_failed_build_shows_its_first_error_and_its_last_lines() -> None:
    said = after(**THERE, build_log=LOG)["problem"]
    assert "nv.c:12:3: error: too few arguments" in said
    assert "make[1]: *** nv.o | make: *** modules | Error 2" in said
    assert LOG["path"] in said


def test_c4_a_module_on_the_disk_is_one_though_dkms_knows_nothing_of_it() -> None:
    assert after(**THERE, on_disk={KERNEL: "580.1"})["built"]


def test_c1_loaded_and_on_the_disk_of_two_versions() -> None:
    loaded = {"version": "530.30.02", "flavour": "open"}
    seens: list[dict[str, Any]] = [{"libraries": ["535.54.03"]}, {"on_disk": {KERNEL: "535.54.03"}}]
    for seen in seens:
        done = after(**THERE, **BUILT, loaded=loaded, **seen)
        assert done["reboot"] == "loaded 530.30.02, on disk 535.54.03: reboot needed"
        assert done["problem"] == ""


@pytest.mark.parametrize(("nouveau", "holder"), [(True, None), (False, "nouveau"), (True, "nouveau")])
def test_c2_nouveau_holds_the_card_until_the_next_boot(nouveau: bool, holder: str | None) -> None:  # noqa: FBT001
    done = after(**THERE, **BUILT, nouveau=nouveau, holder=holder)
    assert "nouveau holds the card" in done["reboot"]
    assert done["problem"] == ""


def test_g1_a_module_for_another_kernel_wants_a_boot_into_it() -> None:
    rows = [{"module": "nvidia", "version": "580.1", "kernel": "6.12.50+deb13-amd64", "state": "installed"}]
    done = after(asked={"kernel": "6.12.50+deb13-amd64"}, **THERE, dkms_rows=rows)
    assert (
        done["reboot"] == f"the module is built for the kernel 6.12.50+deb13-amd64, and {KERNEL} is running"
    )


@pytest.mark.parametrize(
    "line",
    [
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        "modprobe: ERROR: could not insert 'nvidia': Required key not available",
        "Loading of module with unavailable key is rejected",
    ],
)
def test_c3_a_module_that_the_kernel_rejects(line: str) -> None:
    said = after(f"{line}\n", **THERE, **BUILT)["problem"]
    assert line in said
    assert "Secure Boot is on" in said
    assert any(words in line for words in REJECTED)


@pytest.mark.parametrize("text", ["No devices were found", "No devices found"])
def test_c6_an_open_module_that_finds_no_card(text: str) -> None:
    loaded = {"version": "580.1", "flavour": "open"}
    said = after(**(THERE | {"says": text}), **BUILT, loaded=loaded, libraries=["580.1"])["problem"]
    assert "finds no card" in said
    assert "the open module" in said
    assert "nvidia_driver_flavour: auto" in said


def test_what_nothing_explains_is_told_with_the_words_of_both() -> None:
    said = after("modprobe: FATAL: Module nvidia not found", **THERE, **BUILT)["problem"]
    assert FAILED in said
    assert "Module nvidia not found" in said


@pytest.mark.parametrize(
    ("packages", "units", "said"),
    [
        (
            {"nvidia-fabricmanager": "530.30.02-1"},
            {"nvidia-fabricmanager": "active"},
            "nvidia-fabricmanager 530.30.02",
        ),
        ({"nvidia-fabricmanager": "530.41.03-1"}, {"nvidia-fabricmanager": "failed"}, "is failed"),
        ({}, {}, "is not installed"),
        ({"nvidia-fabricmanager": "530.41.03-1"}, {"nvidia-fabricmanager": "active"}, ""),
    ],
)
def test_c8_the_fabric_manager_runs_in_the_driver_s_version(
    packages: dict[str, str], units: dict[str, str], said: str
) -> None:
    found = host(
        "debian 13", "hopper", **working("530.41.03", packages=packages, units=units, bridges=SWITCH)
    )
    problem = driver_after(found, plan(found, source="preinstalled"))["problem"]
    assert said in problem
    assert bool(problem) is bool(said)
    assert "802" in problem or not said


def test_b7_every_package_of_the_driver_s_version_is_held() -> None:
    there = {
        "nvidia-driver-cuda": "580.95.05-1",
        "libcuda1": "580.95.05-1",
        "nvidia-kernel-open-dkms": "580.95.05-1",
        "nvidia-driver-pinning-580": "580-1",
        "libnvidia-egl-wayland1": "1.1.20-1",
        "nvidia-modprobe": "580.95.05-1",
    }
    done = after(**working("580.95.05", packages=there))
    assert done["hold"] == ["libcuda1", "nvidia-driver-cuda", "nvidia-kernel-open-dkms", "nvidia-modprobe"]


INSTALL: dict[str, Any] = {
    "reason": "install",
    "msg": "apt did not install x: dpkg returned an error.",
    "half_configured": ["nvidia-kernel-open-dkms"],
}


def test_c4_packages_of_a_failed_module_are_taken_away_again() -> None:
    before = host("debian 13", packages={"libcuda1": "550.163.01-2"})
    now = {"libcuda1": "580.1-1", "nvidia-driver-cuda": "580.1-1", "nvidia-kernel-open-dkms": "580.1-1"}
    found = host("debian 13", **THERE, packages=now, build_log=LOG)
    done = driver_failed(found, before, plan(host("debian 13")), INSTALL)
    assert done["purge"] == ["nvidia-driver-cuda", "nvidia-kernel-open-dkms"]
    assert "too few arguments" in done["said"]
    assert done["back"] == []


def test_c4_what_somebody_else_holds_is_not_taken_away() -> None:
    now = {"nvidia-driver-cuda": "580.1-1", "nvidia-kernel-open-dkms": "580.1-1"}
    found = host("debian 13", **THERE, packages=now, build_log=LOG, held=["nvidia-driver-cuda"])
    done = driver_failed(found, host("debian 13"), plan(host("debian 13")), INSTALL)
    assert done["purge"] == ["nvidia-kernel-open-dkms"]


def test_c4_the_older_driver_is_brought_back_after_a_change() -> None:
    was = {
        "libnvidia-compute-580": "580.95.05-1",
        "nvidia-dkms-580-open": "580.95.05-1",
        "nvidia-driver-pinning-580": "580-1",
    }
    before = host(
        "ubuntu 24.04",
        **working("580.95.05", packages=was, ours={"packages": list(was), "files": [], "holds": []}),
    )
    asked = plan(before, version="595")
    now = {
        "libnvidia-compute": "595.1-1",
        "nvidia-dkms-open": "595.1-1",
        "nvidia-driver-pinning-595": "595-1",
    }
    result = INSTALL | {"half_configured": ["nvidia-dkms-open"]}
    done = driver_failed(host("ubuntu 24.04", **THERE, packages=now, build_log=LOG), before, asked, result)
    assert done["purge"] == ["libnvidia-compute", "nvidia-dkms-open"]
    assert done["back"] == ["libnvidia-compute-580=580.95.05-1", "nvidia-dkms-580-open=580.95.05-1"]
    assert done["older"] == "580.95.05"


def test_c4_what_a_run_that_was_cut_off_left_half_configured_goes_if_it_is_ours() -> None:
    there = {"nvidia-kernel-dkms": "550.1-1", "nvidia-smi": "550.1-1"}
    result = {"reason": "half-configured", "msg": "dpkg …", "half_configured": ["nvidia-kernel-dkms"]}
    ours: dict[str, Any] = {"packages": ["nvidia-kernel-dkms"], "files": [], "holds": []}
    for owned, gone in ((ours, ["nvidia-kernel-dkms"]), ({**ours, "packages": []}, [])):
        before = host("debian 13", packages=there, half=["nvidia-kernel-dkms"], ours=owned)
        assert driver_failed(before, before, plan(before, source="distro"), result)["purge"] == gone


@pytest.mark.parametrize(
    "reason", ["lock", "held", "repository", "disk", "removal", "half-configured", "unavailable"]
)
def test_c4_where_nothing_was_installed_nothing_is_taken_away(reason: str) -> None:
    found = host("debian 13")
    done = driver_failed(found, found, plan(found), {"reason": reason, "msg": "a sentence"})
    assert (done["purge"], done["back"], done["said"]) == ([], [], "a sentence")


def test_c4_headers_that_the_archive_has_no_more() -> None:
    found = host("debian 13")
    result = {
        "reason": "unavailable",
        "msg": f"apt cannot install linux-headers-{KERNEL}: Unable to locate package",
    }
    assert "upgrade the kernel, boot into it" in driver_failed(found, found, plan(found), result)["said"]
