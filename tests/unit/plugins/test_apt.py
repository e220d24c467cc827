"""What apt would do, read from its own words; what may go, worked out on a small model of dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plugins.module_utils.gpu_host_apt import brought, complaint, others, removable

if TYPE_CHECKING:
    from collections.abc import Callable

INSTALL = """NOTE: This is only a simulation!
The following NEW packages will be installed:
  containerd docker.io
Inst libseccomp2 [2.5.4-1] (2.6.0-2 Debian:13 [amd64])
Inst containerd (1.7.24 Debian:13 [amd64])
Inst libc6:i386 [2.40] (2.41 Debian:13 [i386])
Inst docker.io (26.1.5 Debian:13 [amd64]) []
Remv containerd.io [1.7]
Conf containerd (1.7.24 Debian:13 [amd64])
"""
REMOVE = "Purg docker.io [26.1.5]\nRemv ufw [0.36] [iptables:amd64 ]\nInst nftables (1.1 Debian:13 [amd64])\n"

# What each package needs: all of the groups, of each group one.
NEEDS: dict[str, list[set[str]]] = {
    "docker.io": [{"containerd"}, {"iptables"}],
    "containerd": [{"runc"}],
    "iptables": [{"libip4tc2"}],
    "compose": [{"docker-cli", "docker-ce-cli"}],
    "ufw": [{"iptables", "nftables"}],
}


def apt(*installed: str) -> Callable[[list[str]], str]:
    """Return a simulation of removals from a host with these packages."""

    def simulate(names: list[str]) -> str:
        there = set(installed) - set(names)
        while broken := {name for name in there if any(not one & there for one in NEEDS.get(name, []))}:
            there -= broken
        return "".join(f"Remv {name} [1.0]\n" for name in sorted(set(installed) - there))

    return simulate


def test_only_new_packages_are_brought() -> None:
    assert brought(INSTALL) == ["containerd", "docker.io"]


def test_others_are_those_taken_along_and_those_that_come_instead() -> None:
    assert others(REMOVE, {"docker.io", "iptables"}) == ["nftables", "ufw"]


ENGINE = ["containerd", "docker.io", "iptables", "libip4tc2", "runc"]


@pytest.mark.parametrize(
    ("theirs", "gone", "kept"),
    [
        ([], ENGINE, {}),
        (["ufw", "nftables"], ENGINE, {}),
        (["ufw"], ["containerd", "docker.io", "runc"], {"iptables": ["ufw"], "libip4tc2": ["ufw"]}),
    ],
)
def test_what_the_users_packages_need_stays(
    theirs: list[str], gone: list[str], kept: dict[str, list[str]]
) -> None:
    assert removable(ENGINE, apt(*ENGINE, *theirs)) == (gone, kept)


def test_of_two_alternatives_one_stays() -> None:
    ours = ["docker-ce-cli", "docker-cli"]
    assert removable(ours, apt(*ours, "compose")) == (["docker-ce-cli"], {"docker-cli": ["compose"]})


def test_nothing_of_ours_is_no_question() -> None:
    def never(names: list[str]) -> str:
        raise AssertionError(names)

    assert removable([], never) == ([], {})


def test_a_failure_in_apts_own_words() -> None:
    assert complaint("Reading...\nE: Unmet dependencies.\nE: Broken packages\n") == "Broken packages"
    assert complaint("Killed") == "no reason given"


def test_b6_what_could_not_be_fetched_is_said_with_the_server_s_answer() -> None:
    said = (
        "E: Failed to fetch http://mirror.example/a_1_amd64.deb  404  Not Found\n"
        "E: Unable to fetch some archives, maybe run apt-get update or try with --fix-missing?\n"
    )
    assert complaint(said) == "Failed to fetch http://mirror.example/a_1_amd64.deb  404  Not Found"
    assert complaint("E: The repository is not signed.\n") == "The repository is not signed"
