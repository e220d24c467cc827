"""Packages, repositories, keys, headers and streams on each system: what the plan makes of the tables."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from plugins.filter import gpu_host_driver_parts as parts
from tests.unit.plugins.drivers import ROLE, SYSTEMS, host, plan, settings

KEY = {"key_fingerprint": "A" * 40}
NEEDS_KEY = ("ubuntu 26.04", "rhel 10")
NVIDIA: dict[str, tuple[list[str], list[str]]] = {
    "debian 12": (
        ["nvidia-driver-cuda=580.*", "nvidia-kernel-open-dkms=580.*", "nvidia-persistenced"],
        ["580"],
    ),
    "debian 13": (
        ["nvidia-driver-cuda=580.*", "nvidia-kernel-open-dkms=580.*", "nvidia-persistenced"],
        ["580"],
    ),
    "ubuntu 22.04": (
        [
            "libnvidia-compute-580=580.*",
            "nvidia-utils-580=580.*",
            "nvidia-dkms-580-open=580.*",
            "nvidia-compute-utils-580",
        ],
        ["580"],
    ),
    "ubuntu 24.04": (
        [
            "libnvidia-compute-580=580.*",
            "nvidia-utils-580=580.*",
            "nvidia-dkms-580-open=580.*",
            "nvidia-compute-utils-580",
        ],
        ["580"],
    ),
    "ubuntu 26.04": (["libnvidia-compute=595.*", "nvidia-dkms-open=595.*", "nvidia-persistenced"], ["595"]),
    "rhel 8": (["nvidia-driver-cuda", "kmod-nvidia-open-dkms", "nvidia-persistenced"], []),
    "rhel 9": (["nvidia-driver-cuda", "kmod-nvidia-open-dkms", "nvidia-persistenced"], []),
    "rhel 10": (["nvidia-driver-cuda", "kmod-nvidia-open-dkms", "nvidia-persistenced"], []),
}


def names(done: dict[str, Any]) -> list[str]:
    return [name for name in done["packages"] if name not in done["headers"]]


@pytest.mark.parametrize("system", SYSTEMS)
def test_nvidia_s_repository_on_each_system(system: str) -> None:
    done = plan(host(system), source="nvidia", **KEY)
    wanted, pins = NVIDIA[system]
    assert done["refusal"] == ""
    assert names(done) == wanted
    assert done["pinning"] == [f"nvidia-driver-pinning-{pin}" for pin in pins]
    folder = system.replace(" ", "").replace(".", "")
    url = f"https://developer.download.nvidia.com/compute/cuda/repos/{folder}/x86_64"
    assert done["repository"]["url"] == url
    assert done["repository"]["key_url"].startswith(f"{url}/")
    assert done["repository"]["same_as"] == [url.removeprefix("https://")]


@pytest.mark.parametrize("system", SYSTEMS)
def test_b4_one_key_for_all_is_wrong_and_an_unknown_one_is_asked_for(system: str) -> None:
    done = plan(host(system), source="nvidia")
    if system in NEEDS_KEY:
        assert "set nvidia_driver_key_fingerprint" in done["refusal"]
        assert plan(host(system), source="nvidia", **KEY)["repository"]["fingerprint"] == "A" * 40
        return
    fingerprint = done["repository"]["fingerprint"]
    assert re.fullmatch(r"[0-9A-F]{40}", fingerprint)
    short = done["repository"]["key_url"].rpartition("/")[2].partition(".")[0].upper()
    assert fingerprint.endswith(short) or short == "3BF863CC"
    assert "7FA2AF80" not in fingerprint
    assert (fingerprint == "02182E60104FCDC26EAE1B8597A5D4CB8793F200") is (system == "debian 13")


@pytest.mark.parametrize(("system", "stream"), [("rhel 8", True), ("rhel 9", True), ("rhel 10", False)])
@pytest.mark.parametrize(("card", "kind"), [("ampere", "open"), ("volta", "dkms")])
def test_streams_where_there_are_some(system: str, *, stream: bool, card: str, kind: str) -> None:
    done = plan(host(system, card), source="nvidia", **KEY)
    assert done["modules"] == ([f"nvidia-driver:580-{kind}"] if stream else [])
    assert done["pinning"] == []


def test_c6_without_streams_an_old_card_s_branch_is_held_by_its_version() -> None:
    done = plan(host("rhel 10", "volta"), source="nvidia", **KEY)
    assert done["version"] == "580.159.03"
    assert "kmod-nvidia-latest-dkms=580.159.03" in done["packages"]
    assert "Needed is a whole version" in plan(host("rhel 10"), version="610", **KEY)["refusal"]


def test_a_mint_is_an_ubuntu() -> None:
    found = host("ubuntu 24.04")
    found["machine"] |= {"os": "linuxmint", "os_version": "22", "os_name": "Linux Mint 22"}
    assert plan(found)["repository"]["url"].endswith("/ubuntu2404/x86_64")


@pytest.mark.parametrize("system", ["debian 13", "ubuntu 22.04", "ubuntu 24.04", "rhel 9", "rhel 10"])
def test_arm64_servers_have_a_folder_of_their_own(system: str) -> None:
    assert plan(host(system, arch="aarch64"), source="nvidia", **KEY)["repository"]["url"].endswith("/sbsa")


def test_an_architecture_that_no_source_has_is_refused() -> None:
    assert "set nvidia_driver_repository_url" in plan(host("debian 12", arch="aarch64"))["refusal"]
    mirror = {"repository_url": "https://mirror.example/cuda"}
    assert plan(host("debian 12", arch="aarch64"), **mirror)["refusal"] == ""


def test_a_mirror_and_its_key() -> None:
    done = plan(host(), repository_url="https://mirror.example/cuda", **KEY)
    assert done["repository"]["url"] == "https://mirror.example/cuda"
    assert done["repository"]["key_url"] == "https://mirror.example/cuda/8793F200.pub"
    done = plan(
        host(), repository_url="https://mirror.example/cuda", key_url="https://mirror.example/k", **KEY
    )
    assert (done["repository"]["key_url"], done["repository"]["fingerprint"]) == (
        "https://mirror.example/k",
        "A" * 40,
    )


def test_a_folder_takes_the_place_of_repository_pins_and_streams() -> None:
    for system in ("debian 13", "rhel 9", "ubuntu 26.04"):
        done = plan(host(system), source="nvidia", packages_folder="/srv/driver")
        assert (done["refusal"], done["repository"], done["pinning"], done["modules"]) == ("", {}, [], [])


@pytest.mark.parametrize(
    ("version", "names_", "pin"),
    [
        ("580", "libnvidia-compute-580=580.*", "nvidia-driver-pinning-580"),
        ("580.159.03", "libnvidia-compute-580=580.159.03-*", "nvidia-driver-pinning-580.159.03"),
        ("595", "libnvidia-compute=595.*", "nvidia-driver-pinning-595"),
        ("595.71.05", "libnvidia-compute=595.71.05-*", "nvidia-driver-pinning-595.71.05"),
    ],
)
def test_numbered_names_up_to_580_and_unnumbered_from_590_on(version: str, names_: str, pin: str) -> None:
    done = plan(host("ubuntu 24.04"), version=version)
    assert names_ in done["packages"]
    assert done["pinning"] == [pin]


@pytest.mark.parametrize("version", ["", "latest", "580.", "58", "580.1.2.3", "v580", 580.95])
def test_a_version_that_is_none_is_refused(version: object) -> None:
    said = plan(host(), version=version)["refusal"]
    assert said.startswith("nvidia_driver_version is") or version == 580.95


def test_an_unquoted_branch_is_one() -> None:
    assert plan(host(), version=580)["branch"] == 580


@pytest.mark.parametrize(("set_", "count"), [("compute", 0), ("desktop", 1)])
def test_desktop_packages(set_: str, count: int) -> None:
    assert plan(host("debian 13"), packages=set_)["packages"].count("nvidia-open=580.*") == count
    done = plan(host("ubuntu 24.04"), packages=set_)
    assert done["packages"].count("nvidia-driver-580-open=580.*") == count


@pytest.mark.parametrize(
    ("system", "branch", "module"),
    [("debian 12", 535, "nvidia-kernel-dkms"), ("debian 13", 550, "nvidia-kernel-dkms")],
)
def test_debian_s_own_driver_comes_on_request_and_says_what_it_cannot(
    system: str, branch: int, module: str
) -> None:
    assert plan(host(system))["source"] == "nvidia"
    done = plan(host(system), source="distro")
    assert (done["refusal"], done["branch"], done["repository"]) == ("", branch, {})
    assert names(done) == ["nvidia-smi", "libnvidia-ml1", "libcuda1", module, "nvidia-modprobe"]
    assert any("cannot carry CUDA 13" in note for note in done["notes"])
    assert "nvidia-open-kernel-dkms" in plan(host(system), source="distro", flavour="open")["packages"]
    assert "does not know" in plan(host(system, "blackwell"), source="distro")["refusal"]
    assert "set nvidia_driver_source: nvidia" in plan(host(system), source="distro", version="580")["refusal"]


def test_ubuntu_s_own_driver_where_nvidia_s_has_no_branch_or_no_known_key() -> None:
    for card in ("volta", "ampere", "blackwell"):
        done = plan(host("ubuntu 26.04", card))
        assert (done["refusal"], done["source"], done["branch"]) == ("", "distro", 580)
    assert "nvidia-headless-580-server" in plan(host("ubuntu 26.04", "volta"))["packages"]
    assert plan(host("ubuntu 26.04"), **KEY)["branch"] == 595
    assert plan(host("ubuntu 26.04", "volta"), **KEY)["source"] == "distro"


@pytest.mark.parametrize("system", ["rhel 9", "rhel 10"])
def test_a_system_without_a_driver_of_its_own(system: str) -> None:
    assert "from the distribution on debian 12" in plan(host(system), source="distro")["refusal"]


def test_a_system_that_no_table_has() -> None:
    found = host("debian 13")
    found["machine"] |= {"base": {"os": "arch", "version": ""}, "os_name": "Arch Linux"}
    done = plan(found)
    assert "Arch Linux" in done["refusal"]
    assert "nvidia_driver_source: preinstalled" in done["refusal"]


HEADERS = [
    ("debian 13", "6.12.48+deb13-amd64", ["linux-headers-6.12.48+deb13-amd64", "linux-headers-amd64"]),
    (
        "debian 12",
        "6.1.0-28-cloud-amd64",
        ["linux-headers-6.1.0-28-cloud-amd64", "linux-headers-cloud-amd64"],
    ),
    (
        "debian 13",
        "6.12.48+deb13-rt-arm64",
        ["linux-headers-6.12.48+deb13-rt-arm64", "linux-headers-rt-arm64"],
    ),
    ("ubuntu 24.04", "6.8.0-87-generic", ["linux-headers-6.8.0-87-generic"]),
    ("ubuntu 22.04", "6.8.0-1021-aws", ["linux-headers-6.8.0-1021-aws"]),
    ("rhel 9", "5.14.0-611.5.1.el9_7.x86_64", ["kernel-devel=5.14.0-611.5.1.el9_7"]),
]


@pytest.mark.parametrize(("system", "kernel", "wanted"), HEADERS)
def test_c4_headers_of_exactly_the_kernel(system: str, kernel: str, wanted: list[str]) -> None:
    found = host(system)
    found["machine"]["kernel"] = kernel
    assert plan(found)["headers"] == wanted
    assert set(wanted) <= set(plan(found)["packages"])
    # Where they are there already, no package is asked for.
    found["driver"]["headers"] = [kernel]
    assert plan(found)["headers"] == []
    assert plan(host(system), kernel=kernel)["headers"] == wanted


@pytest.mark.parametrize("kernel", ["6.18.5", "6.17.4-1-pve", "6.12.0-custom", "6.8.0-generic"])
@pytest.mark.parametrize("system", ["debian 13", "ubuntu 24.04", "rhel 9"])
def test_c4_a_kernel_that_the_distribution_has_not_is_refused_unless_its_headers_are_there(
    system: str, kernel: str
) -> None:
    done = plan(host(system), kernel=kernel)
    assert f"The kernel is {kernel}" in done["refusal"]
    assert plan(host(system, headers=[kernel]), kernel=kernel)["refusal"] == ""
    assert plan(host(system), kernel=kernel, kernel_module=False, source="nvidia")["refusal"] == ""


def test_c4_a_pair_that_is_known_not_to_build_is_refused_before_it_is_tried() -> None:
    bad = {"version": "590.48.01", "kernel": "7.0.0-14-generic"}
    done = plan(host("ubuntu 24.04"), **bad)
    assert "does not compile for kernel 7.0.0-14-generic" in done["refusal"]
    assert "595.91.07" in done["refusal"]
    assert plan(host("ubuntu 24.04"), version="590.48.01")["refusal"] == ""
    assert plan(host("ubuntu 24.04"), **(bad | {"version": "595.91.07"}))["refusal"] == ""


def test_what_reads_a_key_is_brought_where_it_is_missing() -> None:
    assert plan(host("debian 13", gpg=None))["gpg"] == ["gpg"]
    assert plan(host("rhel 9", gpg=None))["gpg"] == []
    assert plan(host("debian 13", gpg=None), packages_folder="/srv")["gpg"] == []


def test_every_row_can_be_rendered() -> None:
    facts = {"branch": 580, "kernel": "6.8.0-87-generic", "version": "580.95.05"}
    for row in parts.rows("driver_packages", "packages"):
        kinds = [*row["module"].values(), *(row.get("signed") or {}).values()]
        for name in [
            *row["user_space"],
            *row.get("persistence", []),
            *(name for kind in kinds for name in kind),
        ]:
            assert "{" not in name.format(**facts)
        assert set(row["module"]) == {"open", "proprietary"}
    assert settings()["source"] == "auto"


def test_the_role_hands_every_setting_to_the_plan() -> None:
    given = yaml.safe_load((ROLE / "vars/main.yml").read_text(encoding="utf-8"))["__nvidia_driver_settings"]
    tasks_only = {"state", "reboot", "reboot_command", "drain_command", "resume_command", "proxy", "ca_file"}
    assert set(given) == set(settings()) - tasks_only | {"require_card"}
