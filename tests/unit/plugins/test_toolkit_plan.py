"""What nvidia_container_toolkit would do, from recorded looks: field cases B1, B7 and the security floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from plugins.filter.gpu_host_toolkit_plan import COMPAT, NAMES, FilterModule, cves, safe, toolkit_plan
from plugins.module_utils.gpu_host_toolkit import NAMES as PROBED
from plugins.module_utils.gpu_host_toolkit import OBSOLETE, origins, toolkit
from tests.unit.plugins.machines import Machine
from verify.facts.toolkit import PACKAGES

if TYPE_CHECKING:
    from pathlib import Path

WANTED = "1.20.2-1"
DEFAULTS: dict[str, Any] = {
    "version": WANTED, "allow_vulnerable": False, "replace_foreign": False, "replaces": [], "hold": False,
    "repository_url": "", "suite": "/", "key_url": "", "key_fingerprint": "", "packages_folder": "",
}  # fmt: skip
NVIDIA_KEY = "C95B321B61E88C1809C4F759DDCAE044F796ECB0"


def four(version: str = WANTED, **others: str) -> dict[str, str]:
    return dict.fromkeys(NAMES, version) | {name.replace("_", "-"): value for name, value in others.items()}


def found(
    installed: dict[str, str] | None = None,
    *,
    family: str | None = "debian",
    manager: str | None = "apt",
    files: dict[str, str | None] | None = None,
    engine: dict[str, Any] | None = None,
    **toolkit: Any,
) -> dict[str, Any]:
    state: dict[str, Any] = {
        "manager": manager,
        "installed": installed or {},
        "held": [],
        "origins": {},
        "obsolete": {},
    }
    return {
        "machine": {"family": family, "os_name": "Some Linux 1"},
        "engine": {"version": "28.2.2", "gpu_containers": []} | (engine or {}),
        "toolkit": state | toolkit,
        "files": files if files is not None else {"/etc/apt/sources.list.d/x.sources": None},
    }


def plan(look: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    return toolkit_plan(look or found(), DEFAULTS | settings)


def test_a_bare_host_gets_the_four_in_one_version() -> None:
    made = plan()
    assert made["refusal"] == ""
    assert made["install"]
    assert made["packages"] == [f"{name}={WANTED}" for name in NAMES]
    assert made["repository"]["url"] == "https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)"
    assert made["repository"]["suite"] == "/"
    assert made["repository"]["fingerprint"] == NVIDIA_KEY
    assert made["notes"] == []


def test_an_rpm_system_gets_the_other_repository() -> None:
    made = plan(found(family="redhat", manager="dnf"))
    assert made["packages"][0] == f"nvidia-container-toolkit={WANTED}"
    assert made["repository"]["url"].endswith("/stable/rpm/$basearch")
    assert made["repository"]["suite"] == ""
    assert made["repository"]["options"] == {"repo_gpgcheck": "1", "gpgcheck": "0"}


def test_settings_win_over_the_table() -> None:
    made = plan(repository_url="file:///srv/mirror", key_url="file:///srv/key", key_fingerprint="AB" * 20)
    repository = made["repository"]
    assert (repository["url"], repository["key_url"]) == ("file:///srv/mirror", "file:///srv/key")
    assert repository["fingerprint"] == "AB" * 20
    assert "nvidia.github.io/libnvidia-container" in repository["same_as"]


def test_a_folder_of_packages_needs_no_repository() -> None:
    made = plan(packages_folder="/srv/packages")
    assert made["repository"] == {}
    assert made["install"]


def test_b1_every_address_of_the_toolkit_is_a_duplicate_of_ours() -> None:
    addresses = plan()["repository"]["same_as"]
    old = [
        "nvidia.github.io/libnvidia-container/stable/ubuntu18.04/amd64",
        "nvidia.github.io/libnvidia-container/ubuntu16.04/amd64",
        "nvidia.github.io/libnvidia-container/stable/deb/amd64",
        "nvidia.github.io/nvidia-container-runtime/stable/ubuntu18.04/amd64",
        "nvidia.github.io/nvidia-docker/debian9/amd64",
    ]
    assert [url for url in old if not any(url.startswith(address) for address in addresses)] == []
    cuda = "developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64"
    assert not any(cuda.startswith(address) for address in addresses)


def test_where_all_is_as_wanted_nothing_is_done() -> None:
    made = plan(found(four()))
    assert not made["install"]
    assert made["repository"] == {}, "somebody's own entry serves, and needs no second one"
    ours = plan(
        found(four(), files={"/etc/apt/sources.list.d/nvidia-container-toolkit.sources": "Types: deb\n"})
    )
    assert not ours["install"]
    assert ours["repository"], "ours is kept right, and the only one"


@pytest.mark.parametrize(
    "installed",
    [
        four(libnvidia_container1="1.17.8-1"),
        four("1.20.1-1", nvidia_container_toolkit="1.20.2-1"),
        dict.fromkeys(NAMES[:2], WANTED),
        four("1.21.0-1"),
        four("1.17.8-1"),
        {"libnvidia-container1": "1.4.0-1"},
    ],
)
def test_b7_a_skew_is_repaired_in_both_directions(installed: dict[str, str]) -> None:
    made = plan(found(installed))
    assert made["install"]
    assert made["packages"] == [f"{name}={WANTED}" for name in NAMES]
    assert "Installed before: " in made["notes"][0]


@pytest.mark.parametrize("kept", ["1.20.2-1pop1~1730000000~24.04~abcdef", "1.19.2-0lambda1", "1:1.20.0+ds-1"])
def test_b7_a_safe_build_by_somebody_else_is_kept_and_named(kept: str) -> None:
    origin = {"nvidia-container-toolkit": ["http://apt.pop-os.org/proprietary"]}
    made = plan(found(four(kept), origins=origin))
    assert not made["install"]
    assert made["repository"] == {}
    assert made["version"] == kept
    assert kept in made["notes"][0]
    assert "from http://apt.pop-os.org/proprietary" in made["notes"][0]


@pytest.mark.parametrize(
    ("installed", "settings"),
    [
        (four("1.17.8-0lambda1"), {}),  # below the floor
        (four("1.20.2-0lambda1", libnvidia_container1="1.20.1-0lambda1"), {}),  # a skew
        (four("1.20.2-0lambda1"), {"replace_foreign": True}),
    ],
)
def test_b7_a_build_by_somebody_else_is_replaced(installed: dict[str, str], settings: dict[str, Any]) -> None:
    made = plan(found(installed), **settings)
    assert made["install"]
    assert made["version"] == WANTED


def test_b7_obsolete_packages_are_reported_and_named_ones_may_go() -> None:
    look = found(obsolete={"nvidia-docker2": "2.13.0-1"})
    said = plan(look)["notes"]
    assert any("nvidia-docker2 2.13.0-1" in note and "/etc/docker/daemon.json" in note for note in said)
    assert plan(look, replaces=["nvidia-docker2"])["notes"] == []


def test_b7_a_hold_that_is_asked_for_is_set_once() -> None:
    assert plan(found(four()), hold=True)["install"]
    assert not plan(found(four(), held=sorted(NAMES)), hold=True)["install"]


def test_c10_containers_that_hold_a_card_are_named_before_packages_change() -> None:
    held = {"gpu_containers": ["train", "serve"]}
    assert any("train, serve" in note for note in plan(found(four("1.20.1-1"), engine=held))["notes"])
    assert plan(found(four(), engine=held))["notes"] == []


@pytest.mark.parametrize("version", ["1.20", "latest", "1.20.2", "1.20.*", "", "1.20.2-1 evil", "1.20.2-1\n"])
def test_what_is_no_exact_version_is_refused(version: str) -> None:
    assert "needed is one exact package version such as 1.20.2-1" in plan(version=version)["refusal"]


@pytest.mark.parametrize(
    ("version", "named", "unnamed"),
    [
        ("1.19.0-1", ["CVE-2026-24260 (8.5)"], ["CVE-2025"]),
        ("1.17.8-1", ["CVE-2026-24260"], ["CVE-2025-23266"]),
        ("1.17.7-1", ["CVE-2026-24260", "CVE-2025-23266", "CVE-2025-23267"], ["CVE-2025-23359"]),
        ("1.17.3-1", ["CVE-2025-23359", "CVE-2025-23266"], ["CVE-2024-0134"]),
        ("1.16.1-1", ["CVE-2024-0132", "CVE-2024-0133", "CVE-2024-0134"], []),
        ("1.19.1~rc.1-1", ["below 1.19.1"], []),
    ],
)
def test_a_vulnerable_version_is_refused_with_its_cves(
    version: str, named: list[str], unnamed: list[str]
) -> None:
    said = plan(version=version)["refusal"]
    assert [name for name in named if name not in said] == []
    assert [name for name in unnamed if name in said] == []
    assert "nvidia_container_toolkit_allow_vulnerable: true" in said
    allowed = plan(version=version, allow_vulnerable=True)
    assert allowed["refusal"] == ""
    assert any("allowed by your settings" in note for note in allowed["notes"])


@pytest.mark.parametrize(("version", "warned"), [("1.19.1-1", True), ("1.20.0-1", True), ("1.20.1-1", False)])
def test_a_version_with_the_field_bug_is_a_warning(version: str, *, warned: bool) -> None:
    said = plan(version=version)
    assert said["refusal"] == ""
    assert any("CUDA_ERROR_UNKNOWN" in note for note in said["notes"]) is warned


@pytest.mark.parametrize(("family", "manager"), [(None, None), (None, "apt"), ("debian", None)])
def test_a_system_without_apt_and_dnf_is_refused(family: str | None, manager: str | None) -> None:
    said = plan(found(family=family, manager=manager))["refusal"]
    assert said.startswith("The operating system is Some Linux 1; needed is one with apt or dnf.")


def test_the_default_is_safe_and_without_the_field_bug() -> None:
    defaults = yaml.safe_load(
        (COMPAT.parents[1] / "roles/nvidia_container_toolkit/defaults/main.yml").read_text()
    )
    version = defaults["nvidia_container_toolkit_version"]
    assert version == WANTED
    assert safe(version)
    assert cves(version) == "holes that are closed there"
    assert FilterModule().filters()["gpu_host_toolkit_plan"] is toolkit_plan


def test_one_list_of_the_four() -> None:
    assert NAMES == PROBED == PACKAGES


DPKG = """nvidia-container-toolkit\tii \t1.20.2-1
nvidia-container-toolkit-base\thi \t1.20.2-1
libnvidia-container-tools\tiF \t1.20.2-1
libnvidia-container1\trc \t1.13.5-1
nvidia-docker2\tii \t2.13.0-1
dpkg-query: no packages found matching nvidia-container-runtime
"""
POLICY = """nvidia-container-toolkit:
  Installed: 1.20.2-1
  Candidate: 1.21.0-1
  Version table:
     1.21.0-1 600
        600 https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64  Packages
 *** 1.20.2-1 500
        500 https://nvidia.github.io/libnvidia-container/stable/deb/amd64  Packages
        100 /var/lib/dpkg/status
     1.17.8-1 500
        500 https://nvidia.github.io/libnvidia-container/stable/deb/amd64  Packages
nvidia-container-toolkit-base:
  Installed: 1.20.2-1
  Candidate: 1.20.2-1
  Version table:
 *** 1.20.2-1 100
        100 /var/lib/dpkg/status
"""


def test_b7_what_dpkg_says(tmp_path: Path) -> None:
    commands = {"dpkg-query -W": (1, DPKG), "apt-cache policy": (0, POLICY)}
    seen = toolkit(Machine(tmp_path, {}, commands))
    assert seen["manager"] == "apt"
    assert seen["installed"] == dict.fromkeys(NAMES[:2], WANTED), (
        "half-configured and removed ones do not count"
    )
    assert seen["held"] == ["nvidia-container-toolkit-base"]
    assert seen["obsolete"] == {"nvidia-docker2": "2.13.0-1"}
    assert seen["origins"] == {
        "nvidia-container-toolkit": ["https://nvidia.github.io/libnvidia-container/stable/deb/amd64"],
        "nvidia-container-toolkit-base": [],
    }


def test_b7_sources_that_apt_cannot_read_give_no_origin(tmp_path: Path) -> None:
    said = "E: Conflicting values set for option Signed-By regarding source https://x/ /: a != \nE: The list"
    assert origins(Machine(tmp_path, {}, {"apt-cache policy": (100, said)}), ["a"]) == {}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "/etc/dnf/plugins/versionlock.list",
            "# nvidia-container-toolkit-0:9-9.*\nlibnvidia-container1-0:1.20.2-1.*\n",
        ),
        ("/etc/dnf/plugins/versionlock.list", "!nvidia-container-toolkit-0:9-9.*\nlibnvidia-container1-*\n"),
        ("/etc/dnf/versionlock.toml", '[[packages]]\nname = "libnvidia-container1"\ncomment = ""\n'),
    ],
)
def test_b7_what_rpm_says(tmp_path: Path, path: str, text: str) -> None:
    rows = [f"{name}\t{WANTED}\tNVIDIA CORPORATION" for name in NAMES] + [
        "package nvidia-docker is not installed"
    ]
    seen = toolkit(Machine(tmp_path, {path: text}, {"rpm -q": (3, "\n".join(rows))}))
    assert (seen["manager"], seen["installed"], seen["obsolete"]) == ("dnf", four(), {})
    assert seen["held"] == ["libnvidia-container1"]


def test_nothing_is_installed_where_there_is_no_package_manager(tmp_path: Path) -> None:
    seen = toolkit(Machine(tmp_path, {}, {}))
    assert (seen["manager"], seen["installed"], seen["held"], seen["origins"]) == (None, {}, [], {})
    assert set(OBSOLETE).isdisjoint(NAMES)
