"""What dnf 4 and rpm print, recorded on the stand-in of Rocky 9."""

from __future__ import annotations

import pytest

from plugins.module_utils.gpu_host_dnf_ask import with_network
from plugins.module_utils.gpu_host_dnf_state import (
    complaint,
    known_cause,
    left_out,
    locked,
    older,
    packages,
    same_version,
    stream,
    transaction,
)

RPM = """nvidia-open\t3\t580.159.03\t1.el9\tx86_64\t7
libnvidia-container1\t(none)\t1.20.2\t1\tx86_64\t7
libnvidia-container1\t(none)\t1.20.2\t1\ti686\t7
zero\t0\t1\t2\tnoarch\t7
package nvidia-docker2 is not installed
twice\t3\t2\t1\tx86_64\t12
twice\t3\t1\t1\tx86_64\t9
kernel-core\t(none)\t5.14\t1\tx86_64\t1
kernel-core\t(none)\t5.14\t2\tx86_64\t2
"""


def test_b7_versions_from_rpm() -> None:
    assert packages(RPM) == {
        "nvidia-open": "3:580.159.03-1.el9",
        "libnvidia-container1": "1.20.2-1",
        "zero": "1-2",
        "kernel-core": "5.14-2",
    }


def test_what_an_interrupted_transaction_left_is_not_there_and_the_last_one_stays() -> None:
    assert older(RPM) == {"twice": ["twice-1-1.x86_64"]}


@pytest.mark.parametrize(
    ("there", "wanted", "same"),
    [
        ("3:580.159.03-1.el9", "3:580.159.03-1.el9", True),
        ("3:580.159.03-1.el9", "580.159.03-1.el9", True),
        ("3:580.159.03-1.el9", "580.159.03", True),
        ("3:580.159.03-1.el9", "3:580.159.03", True),
        ("3:580.159.03-1.el9", "4:580.159.03", False),
        ("3:580.159.03-1.el9", "580.159", False),
        ("1.20.2-1", "0:1.20.2-1", True),
        ("1.20.2~rc1-1", "1.20.2-1", False),
    ],
)
def test_b7_epoch_and_release_may_be_left_out(there: str, wanted: str, *, same: bool) -> None:
    assert same_version(there, wanted) is same


SAID = """Last metadata expiration check: 0:00:09 ago on Wed Dec  2 09:00:00 2026.
Dependencies resolved.
================================================================================
 Package                     Arch    Version                     Repo      Size
================================================================================
Installing:
 nvidia-open                 x86_64  3:580.159.03-1.el9          nvidia   6.8 k
     replacing  nvidia-old.x86_64 1.0-1
Upgrading:
 a-package-whose-name-is-longer-than-its-column-is-wide
                             x86_64  1.0-1                       nvidia   6.8 k
Downgrading:
 nvidia-driver               x86_64  3:580.95.05-1.el9           nvidia   6.8 k
Installing dependencies:
 dkms                        x86_64  3.2.2-1.el9                 nvidia   7.1 k
Removing dependent packages:
 theirs                      noarch  1-1                         @System  1.0 k
Enabling module streams:
 nvidia-driver                       580-open
Skipping packages with conflicts:
 skipped                     x86_64  1-1                         nvidia   1.0 k

Transaction Summary
================================================================================
Install  2 Packages
"""


def test_b7_what_dnf_would_do() -> None:
    assert transaction(SAID) == {
        "new": ["dkms", "nvidia-open"],
        "changed": ["a-package-whose-name-is-longer-than-its-column-is-wide", "nvidia-driver"],
        "older": ["nvidia-driver"],
        "removed": ["nvidia-old", "theirs"],
        "streams": ["nvidia-driver"],
    }
    assert not any(transaction("Error: Unable to find a match: x\n").values())


def test_b7_locks_with_and_without_epoch() -> None:
    said = (
        "\n# Added lock on Wed Dec  2 09:00:00 2026\nnvidia-driver-3:580.95.05-1.el9.*\n"
        "3:nvidia-open-580.95.05-1.el9.*\nlibnvidia-container1-0:1.20.2-1.*\n!not-wanted-1-1.*\n"
    )
    assert locked(said) == {"nvidia-driver", "nvidia-open", "libnvidia-container1"}


def test_the_stream_that_is_on() -> None:
    assert (
        stream("[nvidia-driver]\nname=nvidia-driver\nstream=580-open\nprofiles=\nstate=enabled\n")
        == "580-open"
    )
    assert stream("[nvidia-driver]\nname=nvidia-driver\nstream=\nprofiles=\nstate=\n") == ""
    assert stream("[nvidia-driver]\nstream=580-open\nstate=disabled\n") == ""
    assert stream("") == ""


def test_b6_a_foreign_repository_that_was_left_out_is_named() -> None:
    assert left_out("Errors during downloading\nIgnoring repositories: foreign, other\n") == [
        "foreign",
        "other",
    ]
    assert left_out("") == []


@pytest.mark.parametrize(
    ("said", "reason", "words"),
    [
        ("Error: GPG check FAILED", "repository", "not signed with the key"),
        (
            "Public key for x.rpm is not installed. Failing package is: x-1",
            "repository",
            "not signed with the key",
        ),
        ("Curl error (6): Couldn't resolve host name for http://x.example/", "repository", "repair DNS"),
        ("Curl error (60): SSL peer certificate is not yet valid", "repository", "clock is behind"),
        ("  At least 812MB more space needed on the /usr filesystem.", "disk", "the disk is full"),
        ("[Errno 28] No space left on device", "disk", "the disk is full"),
    ],
)
def test_b6_a_known_cause_has_one_sentence(said: str, reason: str, words: str) -> None:
    cause = known_cause(said)
    assert cause is not None
    assert cause[0] == reason
    assert words in cause[1]
    assert known_cause("Error: Unable to find a match: x") is None


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("No match for argument: x-9\nError: Unable to find a match: x-9\n",
         "No match for argument: x-9; Error: Unable to find a match: x-9"),
        ("Error: Problems in request:\nmissing groups or modules: m:9\n", "missing groups or modules: m:9"),
        ("Error:\n Problem: package a requires b, but none\n", "Problem: package a requires b, but none"),
        ("Killed\n", "Killed"),
        ("", "no reason given"),
    ],
)  # fmt: skip
def test_a_failure_in_dnfs_own_words(said: str, why: str) -> None:
    assert complaint(said) == why


def test_proxy_and_certificates_go_into_dnfs_own_configuration() -> None:
    own = "# mine\n[main]\ngpgcheck=1\nproxy = http://old.example\n[other]\nenabled=1\n"
    assert with_network(own, "http://u:p@x.example:3128", "/ca.pem") == (
        "# mine\n[main]\nproxy=http://u:p@x.example:3128\nsslcacert=/ca.pem\ngpgcheck=1\n[other]\nenabled=1\n"
    )
    assert with_network("", "", "/ca.pem") == "[main]\nsslcacert=/ca.pem\n"
    assert with_network("[main]\nproxy=http://kept.example\n", "", "/ca.pem") == (
        "[main]\nsslcacert=/ca.pem\nproxy=http://kept.example\n"
    )
