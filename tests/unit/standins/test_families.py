"""The other systems' stand-in repositories: their packages fit together, and say that they are simulated."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.unit.standins.load import load

FAMILIES = Path(__file__).resolve().parents[2] / "standins" / "families"
# What the hosts themselves have, by what stands in for it or as Debian's own package.
OUTSIDE = {"iptables", "systemd"}


@pytest.fixture(scope="module")
def families() -> ModuleType:
    """Load rpms.py, debs.py and what they are made of."""
    for name in ("catalogue", "keys", "payload", "debs"):
        load(name, FAMILIES / f"{name}.py")
    return load("rpms", FAMILIES / "rpms.py")


@pytest.fixture(scope="module")
def catalogue(families: ModuleType) -> ModuleType:
    del families
    return sys.modules["catalogue"]


@pytest.fixture(scope="module")
def repositories(catalogue: ModuleType) -> dict[str, list[Any]]:
    names = ("apt_nvidia", "apt_docker", "rpm_nvidia", "rpm_docker")
    return {name: getattr(catalogue, name)() for name in names}


@pytest.mark.parametrize("name", ["apt_nvidia", "apt_docker", "rpm_nvidia", "rpm_docker"])
def test_every_dependency_is_in_the_repository(repositories: dict[str, list[Any]], name: str) -> None:
    packages = repositories[name]
    there = {p.name for p in packages}
    there |= {provided.split()[0] for p in packages for provided in p.provides}
    needs = {need.split()[0] for p in packages for need in p.needs}
    assert needs <= there | OUTSIDE


def test_the_names_lose_their_number_from_590_on(catalogue: ModuleType) -> None:
    names = {package.name for package in catalogue.apt_nvidia()}
    assert {"libnvidia-compute-580", "nvidia-dkms-580-open", "nvidia-utils-580"} <= names
    assert {"libnvidia-compute", "nvidia-dkms-open", "nvidia-persistenced"} <= names
    numbered = {name for name in names if re.search(r"-595(-|$)", name)}
    assert numbered == {"nvidia-driver-pinning-595"}


def test_a_name_and_version_occurs_once(repositories: dict[str, list[Any]]) -> None:
    for packages in repositories.values():
        pairs = [(p.name, p.version) for p in packages]
        assert len(set(pairs)) == len(pairs)


def test_each_stream_has_one_branch_and_the_rolling_ones_the_newest(
    families: ModuleType, catalogue: ModuleType
) -> None:
    streams = families.streams(catalogue.rpm_nvidia())
    branches = {
        stream: {catalogue.branch(p.driver) for p in packages} for stream, packages in streams.items()
    }
    assert branches == {
        "580-open": {"580"}, "580-dkms": {"580"}, "595-open": {"595"}, "595-dkms": {"595"},
        "open-dkms": {"595"}, "latest-dkms": {"595"},
    }  # fmt: skip
    assert families.DEFAULT_STREAM in streams


def test_the_modules_metadata_is_yaml_that_names_every_artifact(
    families: ModuleType, catalogue: ModuleType
) -> None:
    packages = catalogue.rpm_nvidia()
    documents = list(yaml.safe_load_all(families.modules(families.streams(packages))))
    artifacts = {a for d in documents for a in d["data"].get("artifacts", {}).get("rpms", [])}
    assert artifacts == {families.nevra(p) for p in packages if p.streams}
    assert documents[-1]["data"]["stream"] == families.DEFAULT_STREAM


def test_every_package_says_simulated_where_a_person_sees_it(
    families: ModuleType, repositories: dict[str, list[Any]], tmp_path: Path
) -> None:
    for name, packages in repositories.items():
        for package in packages:
            text = (
                sys.modules["debs"].control(package)
                if name.startswith("apt")
                else families.spec(package, tmp_path, "", "")
            )
            assert "simulated" in text


def test_an_rpm_s_scriptlet_has_no_word_of_dpkg_s(families: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "postinst"
    file.write_text('#!/bin/sh\nset -e\n[ "$1" = configure ] || exit 0\nldconfig\n')
    assert families.script(file) == "set -e\nldconfig\n"
    assert families.script(tmp_path / "none") == ""


def test_a_control_file_becomes_a_package(families: ModuleType) -> None:
    package = families.described(
        "Package: nvidia-container-toolkit\nVersion: 1.20.2-1\n"
        "Depends: nvidia-container-toolkit-base (>= 1.20.2-1), python3 (>= 3.11)\n"
        "Description: NVIDIA Container toolkit (simulated stand-in, not by NVIDIA)\n more\n"
    )
    assert package.needs == ("nvidia-container-toolkit-base >= 1.20.2-1",)
    assert package.summary == "NVIDIA Container toolkit"


def test_every_part_that_is_asked_for_exists(repositories: dict[str, list[Any]]) -> None:
    asked = {part for packages in repositories.values() for p in packages for part in p.parts}
    assert asked == set(sys.modules["payload"].PARTS)


def test_every_source_is_part_of_the_key() -> None:
    build = (FAMILIES / "build.py").read_text()
    there = {path.name for path in FAMILIES.glob("*.py")} - {"build.py"}
    assert all(f'"{name}"' in build for name in there)
