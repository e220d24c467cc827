"""Derivatives: which system's packages fit, by ID_LIKE and codename, and clear where nothing says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_machine import machine, os_release
from plugins.module_utils.gpu_host_systems import base_of, family_of
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

RELEASES = {
    "debian 12": "ID=debian\nVERSION_ID=12\nVERSION_CODENAME=bookworm\n",
    "debian 13": "ID=debian\nVERSION_ID='13'\nVERSION_CODENAME=trixie\n",
    "debian ": "ID=debian\nVERSION_CODENAME=forky\nPRETTY_NAME='Debian GNU/Linux forky/sid'\n",
    "ubuntu 24.04": "ID=ubuntu\nID_LIKE=debian\nVERSION_ID=24.04\nUBUNTU_CODENAME=noble\n",
    "Mint 22": "ID=linuxmint\nID_LIKE='ubuntu debian'\nVERSION_ID=22\nUBUNTU_CODENAME=noble\n→ubuntu 24.04",
    "Pop 22.04": "ID=pop\nID_LIKE='ubuntu debian'\nVERSION_ID=22.04\nUBUNTU_CODENAME=jammy\n→ubuntu 22.04",
    "Zorin 17": "ID=zorin\nID_LIKE='ubuntu debian'\nVERSION_ID=17\nUBUNTU_CODENAME=jammy\n→ubuntu 22.04",
    "LMDE 6": "ID=linuxmint\nID_LIKE=debian\nVERSION_ID=6\nDEBIAN_CODENAME=bookworm\n→debian 12",
    "Raspbian": "ID=raspbian\nID_LIKE=debian\nVERSION_ID=12\nVERSION_CODENAME=bookworm\n→debian 12",
    "Ubuntu 26.04's child": "ID=other\nID_LIKE=ubuntu\nUBUNTU_CODENAME=resolute\n→ubuntu 26.04",
    "Rocky": "ID=rocky\nID_LIKE='rhel centos fedora'\nVERSION_ID=9.7\n→rhel 9",
    "Alma": "ID=almalinux\nID_LIKE='rhel centos fedora'\nVERSION_ID=10.1\n→rhel 10",
    "Oracle says fedora only": "ID=ol\nID_LIKE=fedora\nVERSION_ID=9.4\n→rhel 9",
    "Stream": "ID=centos\nID_LIKE='rhel fedora'\nVERSION_ID=10\n→rhel 10",
    "RHEL": "ID=rhel\nID_LIKE=fedora\nVERSION_ID=9.6\n→rhel 9",
    "Kali rolls": "ID=kali\nID_LIKE=debian\nVERSION_ID=2026.3\nVERSION_CODENAME=kali-rolling\n→none",
    "Fedora": "ID=fedora\nVERSION_ID=43\n→none",
    "Amazon 2 says rhel": "ID=amzn\nID_LIKE='centos rhel fedora'\nVERSION_ID=2\n→none",
    "Arch": "ID=arch\n→none",
    "nothing": "→none",
    "a codename of tomorrow": "ID=linuxmint\nID_LIKE='ubuntu debian'\nUBUNTU_CODENAME=zesty\n→none",
}


@pytest.mark.parametrize("name", RELEASES)
def test_b3_derivatives_count_as_what_they_are_made_from(name: str) -> None:
    text, _, wanted = RELEASES[name].partition("→")
    found = base_of(os_release(text))
    said = f"{found['os']} {found['version']}" if found else "none"
    assert said == (wanted or name)


@pytest.mark.parametrize(
    ("name", "like", "family"),
    [
        ("debian", [], "debian"),
        ("linuxmint", ["ubuntu", "debian"], "debian"),
        ("ol", ["fedora"], "redhat"),
        ("fedora", [], "redhat"),
        ("arch", [], None),
    ],
)
def test_b3_family(name: str, like: list[str], family: str | None) -> None:
    assert family_of(name, like) == family


def test_b3_debian_version_is_not_looked_at(tmp_path: Path) -> None:
    """Every Debian has /etc/debian_version; a stand-in and some derivatives have it too."""
    files = {"/etc/debian_version": "13.1\n", "/etc/os-release": "ID=rocky\nID_LIKE='rhel'\nVERSION_ID=9.7\n"}
    found = machine(Machine(tmp_path, files, {}), uid=0, architecture="x86_64")
    assert (found["base"], found["family"]) == ({"os": "rhel", "version": "9"}, "redhat")


def test_b3_os_release_of_the_vendor_counts_where_the_other_is_missing(tmp_path: Path) -> None:
    files = {"/usr/lib/os-release": "ID=debian\nVERSION_ID=13\n"}
    found = machine(Machine(tmp_path, files, {}), uid=0, architecture="x86_64")
    assert (found["os"], found["major"], found["python"].count(".")) == ("debian", "13", 2)


@given(st.dictionaries(st.sampled_from(["ID", "ID_LIKE", "VERSION_ID", "UBUNTU_CODENAME"]), st.text()))
def test_b3_any_os_release_has_an_answer(release: dict[str, str]) -> None:
    base = base_of(release)
    assert base is None or set(base) == {"os", "version"}
