"""Who holds the toolkit's packages, who offers them, and since when the hook is there (cases B7, D1)."""

from __future__ import annotations

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.toolkit import DAEMON_PID, HOOK, toolkit_facts

POLICY = """libnvidia-container1:
  Installed: 1.20.1-1
  Candidate: 1.20.2-1
  Version table:
     1.20.2-1 600
        600 https://developer.example/repos/ubuntu2404/x86_64  Packages
 *** 1.20.1-1 500
        500 https://nvidia.example/stable/deb/amd64  Packages
        100 /var/lib/dpkg/status
nvidia-container-toolkit:
  Installed: (none)
  Candidate: (none)
  Version table:
docker.io:
  Candidate: 26.1.5
"""


@pytest.mark.parametrize(
    ("stdout", "held"),
    [
        ("", ()),
        ("libnvidia-container1\nlinux-image-generic\n", ("libnvidia-container1",)),
        ("libnvidia-container1:amd64\n", ("libnvidia-container1",)),
        ("nvidia-container-toolkit-base\n", ("nvidia-container-toolkit-base",)),
        ("nvidia-container-toolkit-0:1.20.2-1.*\n", ("nvidia-container-toolkit",)),
        ("libnvidia-container-dev\n", ()),
    ],
)
def test_b7_held_packages(stdout: str, held: tuple[str, ...]) -> None:
    found = toolkit_facts(recording(commands={"held-packages": said(stdout)}))
    assert found.held == held
    assert found.held_evidence


@pytest.mark.parametrize("entry", [None, {"argv": ["sh"], "missing": True}, {"argv": ["sh"], "rc": 1}])
def test_b7_nobody_asked_for_holds(entry: dict[str, object] | None) -> None:
    assert toolkit_facts(recording(commands={"held-packages": entry} if entry else {})).held is None


def test_b7_the_candidate_and_who_offers_it() -> None:
    offers = toolkit_facts(recording(commands={"apt-policy": said(POLICY)})).offers
    assert offers is not None
    assert list(offers) == ["libnvidia-container1"]
    offer = offers["libnvidia-container1"]
    assert (offer.candidate, offer.origin) == (
        "1.20.2-1",
        "https://developer.example/repos/ubuntu2404/x86_64",
    )


def test_b7_obsolete_packages_epochs_and_architectures() -> None:
    stdout = "nvidia-docker2 2.13.0-1 installed\nlibnvidia-container1:amd64 1:1.20.2-1~rc1 installed\n"
    found = toolkit_facts(recording(commands={"toolkit-packages": said(stdout)}))
    assert found.obsolete == ("nvidia-docker2 2.13.0-1",)
    assert str(found.versions["libnvidia-container1"]) == "1.20.2"


def test_d1_a_package_keeps_the_time_of_its_build_so_the_later_time_counts() -> None:
    files = {
        HOOK: {"mtime": "2026-10-01T00:00:00Z", "ctime": "2026-11-30T09:00:00Z"},
        DAEMON_PID: {"mtime": "2026-11-20T07:00:00Z"},
    }
    found = toolkit_facts(recording(files=files))
    assert (found.hook, found.hook_since) == (True, "2026-11-30T09:00:00Z")
    assert found.daemon_since == "2026-11-20T07:00:00Z"


def test_d1_a_missing_hook_and_one_that_nobody_looked_for() -> None:
    assert toolkit_facts(recording(paths={HOOK: False})).hook is False
    assert toolkit_facts(recording(files={HOOK: {"missing": True}})).hook is False
    nobody = toolkit_facts(recording())
    assert (nobody.hook, nobody.hook_since, nobody.daemon_since) == (None, None, None)
