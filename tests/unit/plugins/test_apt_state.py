"""What apt and dpkg print, in their own words: Debian 12's and 13's, and those of the field reports."""

from __future__ import annotations

import pytest

from plugins.module_utils.gpu_host_apt_state import (
    broken_sources,
    cut_off,
    fetched,
    half_configured,
    installed,
    known_cause,
    mentioned,
    planned,
    unpacked,
    unreadable,
)

STATUS = """nvidia-container-toolkit\tii \t1.20.2-1
nvidia-container-toolkit-base\thi \t1.20.2-1
libnvidia-container1\tii \t1:1.20.2~rc1-1
nvidia-docker2\trc \t2.6.0-1
gone\tun \t
docker.io\tiF \t26.1.5
containerd\tiU \t1.7.24
runc\tiHR\t1.1.15
man-db\tit \t2.13
triggered\tiW \t1
dpkg-query: no packages found matching nothing
"""


def test_b7_held_packages_are_there_and_half_configured_ones_are_not() -> None:
    assert installed(STATUS) == {
        "nvidia-container-toolkit": "1.20.2-1",
        "nvidia-container-toolkit-base": "1.20.2-1",
        "libnvidia-container1": "1:1.20.2~rc1-1",
    }


def test_g7_a_package_that_was_cut_off_serving_a_trigger_is_whole_otherwise() -> None:
    said = (
        "libc-bin\tiF \t2.41-12\t2.41-12\n"  # its trigger
        "mysql\tiF \t8.0-1\t\n"  # never configured
        "nginx\tiF \t1.2\t1.1\n"  # an upgrade
        "bash\tii \t5.2\t\ndocker.io\tiU \t26.1\t26.1\n"
    )
    assert cut_off(said) == {"libc-bin"}
    assert cut_off(STATUS) == set()


def test_what_an_interrupted_run_left_in_every_state() -> None:
    assert half_configured(STATUS) == ["containerd", "docker.io", "man-db", "runc", "triggered"]


# Debian 13's, word for word; the numbers of the lists are those of the last line.
WOULD = """Reading package lists...
Building dependency tree...
The following additional packages will be installed:
   libpci3 (1:3.13.0-2)
Suggested packages:
   wget (1.25.0-2)
   | curl (8.14.1-2+deb13u7)
Recommended packages:
   criu (4.1.1-1)
The following packages will be REMOVED:
   nvidia-docker2* (2.6.0-1)
   tini (0.19.0-3+b8)
The following NEW packages will be installed:
   libpci3 (1:3.13.0-2)
   nvidia-smi (550.163.01-2)
The following held packages will be changed:
   nvidia-container-toolkit-base (1.20.1-1 => 1.17.8-1)
The following packages will be upgraded:
   bash (5.2 => 5.3)
The following packages will be DOWNGRADED:
   libnvidia-container1:i386 (1.20.1-1 => 1.17.8-1)
   nvidia-container-toolkit-base (1.20.1-1 => 1.17.8-1)
1 upgraded, 2 newly installed, 2 downgraded, 2 to remove and 0 not upgraded.
Need to get 1234 B of archives.
'https://x.example/a_1%3a2_amd64.deb' a_1%3a2_amd64.deb 1000 SHA256:12
'http://x.example/b.deb' b.deb 234
'file:/srv/c.deb' c.deb 5000 SHA256:12
"""


def test_b7_what_apt_would_do() -> None:
    assert planned(WOULD) == {
        "new": ["libpci3", "nvidia-smi"],
        "changed": ["bash", "libnvidia-container1", "nvidia-container-toolkit-base"],
        "removed": ["nvidia-docker2", "tini"],
        "older": ["libnvidia-container1", "nvidia-container-toolkit-base"],
        "coming": [
            "libpci3=1:3.13.0-2",
            "nvidia-smi=550.163.01-2",
            "bash=5.3",
            "libnvidia-container1:i386=1.17.8-1",
            "nvidia-container-toolkit-base=1.17.8-1",
        ],
        "understood": True,
    }
    nothing = planned("0 upgraded, 0 newly installed, 0 to remove and 3 not upgraded.\n")
    assert nothing["understood"]
    assert not any(nothing[key] for key in ("new", "changed", "removed", "older", "coming"))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "E: Unable to locate package x",
        WOULD.replace("2 to remove", "3 to remove"),
        WOULD.replace("   bash (5.2 => 5.3)", "  bash"),
        WOULD.replace("The following packages will be REMOVED", "Removing"),
        WOULD.replace("2 newly installed, 2 downgraded", "2 newly installed"),
    ],
)
def test_b7_what_apt_prints_in_another_way_is_not_understood(said: str) -> None:
    assert not planned(said)["understood"]


def test_what_would_be_downloaded() -> None:
    assert fetched(WOULD) == 1234
    assert fetched("E: Unable to locate package") == 0


@pytest.mark.parametrize(
    "said",
    [
        "E: Failed to fetch https://foreign.example/dists/x/InRelease  404  Not Found [IP: 192.0.2.1 443]",
        "E: The repository 'https://foreign.example x Release' does not have a Release file.",
        "W: Failed to fetch http://foreign.example/InRelease  Temporary failure resolving 'foreign.example'",
        "W: GPG error: https://foreign.example  InRelease: public key not available: NO_PUBKEY A4B46996",
        "E: Release file for http://foreign.example/InRelease is not valid yet (invalid for another 3h).",
        "W: An error occurred during signature verification. GPG error: file:/srv  InRelease: NO_PUBKEY 1",
        "Error: The repository 'https://foreign.example x Release' is not signed.",
        "Warning: OpenPGP signature verification failed: https://foreign.example  InRelease: Missing key 12",
    ],
)
def test_b6_complaints_of_one_source_are_known_as_such(said: str) -> None:
    found = broken_sources(f"Get:1 https://good.example InRelease\n{said}\nReading package lists...\n")
    assert len(found) == 1
    assert not found[0].startswith(("E", "W"))


@pytest.mark.parametrize(
    "said",
    [
        "W: https://good.example/InRelease: Key is stored in legacy trusted.gpg keyring (/etc/x)",
        "Warning: https://good.example/InRelease: Policy will reject signature within a year, see --audit",
        "N: Skipping x as repository 'https://good.example x InRelease' doesn't support architecture 'i386'",
        "W: Skipping x as repository 'https://good.example: x' doesn't support architecture 'i386'",
        "W: Target Packages (main/Packages) is configured multiple times in /a.list:1 and /http:x.list:1",
        "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 17 (apt-get)",
        "Err:1 https://foreign.example x InRelease",
        "Hit:1 https://good.example x InRelease",
    ],
)
def test_b6_remarks_are_no_failures(said: str) -> None:
    assert broken_sources(said) == []


def test_b1_sources_that_cannot_be_read_at_all() -> None:
    said = (
        "E: Conflicting values set for option Signed-By regarding source https://x.example/ /: a.gpg != \n"
        "E: The list of sources could not be read.\n"
    )
    assert unreadable(said) == (
        "Conflicting values set for option Signed-By regarding source https://x.example/ /: a.gpg !="
    )
    malformed = "E: Malformed entry 1 in list file /etc/apt/sources.list.d/x.list (Suite)\n"
    assert unreadable(f"{malformed}E: The list of sources could not be read.\n") == malformed[3:].strip()
    assert unreadable("E: Unable to locate package x\n") is None


@pytest.mark.parametrize(
    ("said", "reason", "words"),
    [
        (
            "E: Release file for https://x.example/InRelease is not valid yet (invalid for another 1d 2h).",
            "repository",
            "clock is behind (Release file for https://x.example/InRelease is not valid yet",
        ),
        (
            "Err:1 http://x.example x InRelease\n  Temporary failure resolving 'x.example'",
            "repository",
            "names are not resolved here (Temporary failure resolving 'x.example')",
        ),
        (
            "W: Failed to fetch http://x.example  Could not resolve host: x.example",
            "repository",
            "repair DNS",
        ),
        (
            "E: You don't have enough free space in /var/cache/apt/archives/.",
            "disk",
            "the disk is full (You don't",
        ),
        (
            "dpkg: error:\n cannot copy data for './x' to '/x': failed to write (No space left on device)",
            "disk",
            "the disk is full (cannot copy",
        ),
    ],
)
def test_b6_a_known_cause_has_one_sentence(said: str, reason: str, words: str) -> None:
    cause = known_cause(f"Reading package lists...\n{said}\nDone\n")
    assert cause is not None
    assert cause[0] == reason
    assert words in cause[1]
    assert cause[1].endswith("and run again")


def test_anything_else_has_none() -> None:
    assert known_cause("E: Unable to locate package x") is None


def test_b7_only_the_held_packages_that_apt_speaks_of() -> None:
    said = " toolkit1 : Depends: libnvidia-container1 (>= 1.2) but 1.0.1-1 is to be installed\nE: held"
    held = ["libnvidia-container1", "linux-image-amd64", "nvidia-container", "toolkit"]
    assert mentioned(held, said) == ["libnvidia-container1"]
    assert mentioned(held, "E: Unable to correct problems, you have held broken packages.") == []
    assert mentioned(["g++", "libx"], "g++: libx. libx-dev") == ["g++", "libx"]


def test_sizes_on_the_disk() -> None:
    said = (
        "Package: a\nVersion: 2\nInstalled-Size: 10\nDescription: x\n y\n\n"
        "Package: b\nInstalled-Size: \n\nPackage: c\n"
    )
    assert unpacked(said) == {"a": 10240}
    assert unpacked("N: Unable to locate package a\n") == {}
