"""A container offer: no systemd, no Docker, no root, and a Python with torch. Judged as it is, raced bare."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import instance
import pytest

IMAGE = "gpu-host-sim/offer"
# The race image as it comes has no pip; what is rented with PyTorch has.
DOCKERFILE = """FROM {race}
USER root
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv > /dev/null
USER 1000:1000
LABEL gpu-host.simulated=true
"""
# Whatever would set Docker up is noted, and fails.
TRAPS = ("docker", "dockerd", "apt-get", "dnf", "systemctl", "sudo")
TRAP = '#!/bin/sh\necho "$0 $*" >> /clone/attempts\nexit 1\n'


@dataclass(frozen=True)
class Offer:
    rc: int
    said: str
    clone: Path


@pytest.fixture(scope="module")
def offer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Offer]:
    folder = tmp_path_factory.mktemp("offer")
    clone, traps = folder / "clone", folder / "traps"
    subprocess.run(["git", "clone", "-q", instance.STATE / "repo.git", clone], check=True)
    traps.mkdir()
    for name in TRAPS:
        (traps / name).write_text(TRAP)
        (traps / name).chmod(0o755)
    subprocess.run(["chmod", "-R", "a+rwX", folder], check=True)
    race = instance.parts()["race"]
    known = subprocess.run(["docker", "image", "inspect", race["name"]], capture_output=True, check=False)
    if known.returncode:
        subprocess.run(
            ["docker", "load", "-q", "-i", instance.STATE / "race-image/race-image.tar"], check=True
        )
    subprocess.run(
        ["docker", "build", "-q", "-t", IMAGE, "-"], input=DOCKERFILE.format(race=race["name"]), text=True,
        check=True, capture_output=True, timeout=instance.LIMIT_S,
    )  # fmt: skip
    done = subprocess.run(
        [
            "docker", "run", "--rm", "--network=none", "--entrypoint=", "-v", f"{clone}:/clone",
            "-v", f"{traps}:/traps:ro", "-v", f"{instance.STATE.resolve()}/wheels:/srv/wheels:ro",
            "-e", "PIP_NO_INDEX=1", "-e", "PIP_FIND_LINKS=/srv/wheels", "-e", "HOME=/tmp", IMAGE,
            "sh", "-c", "PATH=/traps:$PATH exec sh /clone/bootstrap.sh --price 0.2",
        ],
        capture_output=True, text=True, check=False, timeout=instance.LIMIT_S,
    )  # fmt: skip
    yield Offer(done.returncode, done.stdout + done.stderr, clone)
    subprocess.run(["docker", "image", "rm", "-f", IMAGE], check=False, capture_output=True)


def test_it_is_known_for_what_it_is(offer: Offer) -> None:
    assert "a container offer (container (docker" in offer.said
    assert "Docker cannot be set up here" in offer.said


def test_the_doctor_judges_it_as_it_is(offer: Offer) -> None:
    recording = json.loads((offer.clone / "evidence/here/recording-host.json").read_text(encoding="utf-8"))
    assert recording["where"] == "host"
    # No card in there: that is what the exit status says.
    assert "no NVIDIA card" in offer.said or "card" in offer.said
    assert offer.rc == 1


def test_it_ends_with_a_race(offer: Offer) -> None:
    race = json.loads((offer.clone / "evidence/here/race.json").read_text(encoding="utf-8"))
    lanes = [lane for contestant in race["contestants"] for lane in contestant["lanes"]]
    assert [lane["name"] for lane in lanes if lane["status"] == "ran"] != []
    assert re.search(r"^race +\d+\.\d +\d+%$", offer.said, re.MULTILINE)


def test_nothing_tries_to_set_docker_up(offer: Offer) -> None:
    attempts = offer.clone / "attempts"
    found = attempts.read_text().splitlines() if attempts.exists() else []
    # The recorder asks what there is; it changes nothing.
    asked = re.compile(
        r"/traps/(docker (version|info|context|compose|image|ps|run|inspect)|systemctl|dpkg)\b"
    )
    assert [line for line in found if not asked.match(line)] == []
    assert "ansible-playbook" not in offer.said
