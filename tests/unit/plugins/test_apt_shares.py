"""Whose a package is, where several roles' come at once."""

from __future__ import annotations

from plugins.module_utils.gpu_host_apt_shares import named, of_one_version, shares

SHOWN = """Package: nvidia-smi
Depends: libnvidia-ml1 (= 550), libc6 (>= 2.3)

Package: libnvidia-ml1
Pre-Depends: nvidia-alternative

Package: nvidia-alternative

Package: docker.io
Depends: containerd (>= 1.4~), iptables | nftables, tini:any

Package: containerd-of-debian
Provides: containerd (= 1.7), docker-shim

Package: iptables
Depends: libnvidia-ml1

Package: tini

Package: nvidia-container-toolkit
Depends: nvidia-container-toolkit-base (= 1.20.2-1)

Package: nvidia-container-toolkit-base
"""
WANTED = [
    ("nvidia_driver", ["nvidia-smi"]),
    ("docker_engine", ["docker.io", "already-here"]),
    (
        "nvidia_container_toolkit",
        ["nvidia-container-toolkit=1.20.2-1", "nvidia-container-toolkit-base=1.20.2-1"],
    ),
]


def test_a_package_is_the_first_roles_that_needs_it() -> None:
    assert shares(SHOWN, WANTED) == {
        "nvidia_driver": ["libnvidia-ml1", "nvidia-alternative", "nvidia-smi"],
        "docker_engine": ["containerd-of-debian", "docker.io", "iptables", "tini"],
        "nvidia_container_toolkit": ["nvidia-container-toolkit", "nvidia-container-toolkit-base"],
    }


def test_the_order_of_the_roles_decides() -> None:
    assert "libnvidia-ml1" in shares(SHOWN, WANTED[::-1])["docker_engine"]


def test_what_nobody_seems_to_need_has_an_owner_all_the_same() -> None:
    assert "stray" in shares(f"{SHOWN}\nPackage: stray\n", WANTED)["nvidia_driver"]
    assert shares("", WANTED)["docker_engine"] == []


def test_names_of_a_relation_are_without_versions_and_architectures() -> None:
    assert named("a (>= 1:2.0~b), libstdc++6:amd64 | c.d-e (<< 3)") == ["a", "libstdc++6", "c.d-e"]


def test_of_one_version_are_those_that_go_with_what_was_asked_for() -> None:
    coming = ["nvidia-smi=550.163.01-2", "libcuda1:i386=550.163.01-2", "nvidia-persistenced=550.163.01-1"]
    names = ["nvidia-smi", "nvidia-persistenced", "pciutils", "glx"]
    more = [*coming, "pciutils=1:3.13.0-2", "glx=1:550.163.01"]
    assert of_one_version(names, ["absent", "nvidia-smi"], more) == [
        "nvidia-smi",
        "nvidia-persistenced",
        "glx",
    ]
    assert of_one_version(names, ["nvidia-smi=550.163.01-2"], coming) == ["nvidia-smi", "nvidia-persistenced"]
    assert of_one_version(names, ["absent"], coming) == []
    assert of_one_version([], ["nvidia-smi"], []) == []
