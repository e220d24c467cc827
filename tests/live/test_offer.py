"""``gpu-verify offer`` on a simulated host with a real Docker, in a plain container there, at a registry.

What it makes is gone afterwards, after an interruption too. Compose is the distribution's, for these tests.
"""

from __future__ import annotations

import base64
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.live import lab as live
from tests.live import registry
from tests.live.lab import ROOT, Host, named
from tests.live.registry import CONFIG, LAYER, MANIFEST, PASSWORD, USER, Registry
from tests.live.test_registry import container_of
from verify.manifest import recorder_argv, recorder_source
from verify.offer.facts import OfferFacts, offer_facts
from verify.offer.manifest import TRIES, offer_manifest, tries_source
from verify.offer.verdict import Judgement, judge
from verify.recording import Recording

CLI = [sys.executable, "-m", "verify.cli", "offer"]
COMPOSE = "dpkg -s docker-compose >/dev/null 2>&1 || { apt-get -o Acquire::Check-Valid-Until=false update -qq"
COMPOSE += (
    "; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker-compose; } >&2"
)
NO_COMPOSE = "DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq docker-compose >/dev/null"
LEFT = """
docker ps -aq --filter label=gpu-host.offer; docker network ls -q --filter label=gpu-host.offer
docker image ls -q gpu-host-offer; docker image ls -q --filter label=gpu-host.offer
find / /tmp /var/lib/docker -xdev -maxdepth 1 -name '.gpu-verify-offer-*'
"""
LAYER_BYTES = 8_000_000


@dataclass(frozen=True)
class Lab:
    """The host, and the command on it."""

    host: Host
    machine: str

    def offer(self, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*CLI, "--host", self.host.name, "--ssh-config", self.host.ssh_config, *options],
            cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
            env={**os.environ, "COLUMNS": "120", **variables},
        )  # fmt: skip

    def judged(self, *options: str, **variables: str) -> dict[str, Any]:
        done = self.offer("--json", *options, **variables)
        assert done.returncode in (0, 1), done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        assert document["left_behind"] == []
        assert self.left() == []
        return document

    def left(self) -> list[str]:
        return self.host.sh(LEFT).split()


def words(document: dict[str, Any]) -> dict[str, str]:
    return {answer["id"]: answer["answer"] for answer in document["answers"]}


def uses(document: dict[str, Any]) -> dict[str, str]:
    return {verdict["use"]: verdict["answer"] for verdict in document["verdicts"]}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="gh-") as folder:
        patch.setattr(live, "LIMIT_S", 240)  # packages are installed
        host = named(folder)
        made = Lab(host, container_of(host))
        host.sh(COMPOSE)
        assert made.offer("--forget").returncode in (0, 1)
        yield made
        made.offer("--forget")
        host.sh(NO_COMPOSE)


def test_a_machine_with_everything_is_fit_for_everything(lab: Lab, tmp_path: Path) -> None:
    done = lab.offer("--out", str(tmp_path / "a.json"), "--no-marker")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "YES (simulated card)" in done.stdout
    again = [*CLI, "--recording", str(tmp_path / "a.json"), "--json"]
    read = subprocess.run(again, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    document = json.loads(read.stdout)
    assert uses(document) == dict.fromkeys(("train", "serve", "build", "ci"), "yes")
    found = words(document)
    assert {
        found[name] for name in ("image", "daemon", "builds", "cards", "driver", "several", "compose")
    } == {"yes"}
    assert found["registry"] == found["volumes"] == "unknown"
    measured = [
        place for place in document["places"] if place["write_bytes_per_s"] and place["read_bytes_per_s"]
    ]
    assert measured
    assert lab.left() == []
    assert "gpu-verify-offer" not in lab.host.sh("ls -a / /tmp /var/lib/docker")


def test_the_marker_stays_and_nothing_is_promised_before_a_restart(lab: Lab) -> None:
    first, second = lab.judged(), lab.judged()
    assert words(first)["volumes"] == words(second)["volumes"] == "unknown"
    answer = next(answer for answer in second["answers"] if answer["id"] == "volumes")
    assert "again after a restart" in answer["remedy"]
    assert any("nothing was restarted since" in line for line in answer["evidence"])
    lab.host.sh("ls /.gpu-verify-offer.json /var/lib/docker/.gpu-verify-offer.json")
    lab.judged("--forget")
    assert lab.host.sh("ls -a / /var/lib/docker | grep gpu-verify || true") == ""


def test_looking_alone_promises_nothing_that_was_not_tried(lab: Lab) -> None:
    document = lab.judged("--no-tries")
    found = words(document)
    assert found["daemon"] == found["driver"] == "yes"
    assert {found[name] for name in ("image", "builds", "cards", "several", "compose", "volumes")} == {
        "unknown"
    }
    assert lab.offer("--no-tries", "--for", "ci").returncode == 1


def test_an_interruption_leaves_nothing(lab: Lab) -> None:
    process = subprocess.Popen(
        [*CLI, "--host", lab.host.name, "--ssh-config", lab.host.ssh_config, "--no-marker"], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not lab.host.sh("docker ps -q --filter label=gpu-host.offer").strip():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=90)
    assert process.returncode == 130, said
    while lab.left():
        assert time.monotonic() < until + 60, lab.left()
        time.sleep(0.5)


def test_what_a_killed_run_left_is_removed_by_the_next(lab: Lab) -> None:
    source = tries_source(mounts=(), docker=True, measure=True, mark=False, forget=False)
    encoded = base64.b64encode(source.encode()).decode()
    lab.host.sh(f"echo {encoded} | base64 -d > /root/tries.py")
    lab.host.sh("setsid python3 /root/tries.py > /root/tries.out 2>&1 &")
    until = time.monotonic() + 60
    while not lab.host.sh("docker ps -q --filter label=gpu-host.offer").strip():
        assert time.monotonic() < until
    lab.host.sh("kill -9 $(pgrep -f '^python3 /root/tries.py')")
    assert lab.left()
    lab.judged("--no-marker")
    lab.host.sh("rm /root/tries.py /root/tries.out")


@pytest.fixture(scope="module")
def there(lab: Lab) -> Iterator[tuple[Registry, str]]:
    """A private registry beside the host, trusted by its Docker, with an image for CUDA 12.4 in it."""
    with tempfile.TemporaryDirectory(prefix="gh-") as folder:
        made = registry.start(lab.machine, Path(folder))
        layer = random.Random(1).randbytes(LAYER_BYTES)  # noqa: S311  # bytes that do not pack
        env = ["CUDA_VERSION=12.4.1", "NVIDIA_REQUIRE_CUDA=cuda>=12.4"]
        config = json.dumps({
            "architecture": "amd64", "os": "linux", "config": {"Env": env},
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + "0" * 64]},
            "history": [{"created_by": "tests/live/test_offer.py"}],
        }).encode()  # fmt: skip
        described = [
            {"mediaType": kind, "size": len(data), "digest": made.blob("team/train", data)}
            for kind, data in ((CONFIG, config), (LAYER + ".gzip", layer))
        ]
        manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": described[0],
            "layers": [{**described[1], "mediaType": LAYER}],
        }).encode()  # fmt: skip
        made.send("PUT", f"https://{made.name}/v2/team/train/manifests/1", manifest, MANIFEST)
        certificate = base64.b64encode(made.ca.read_bytes()).decode()
        lab.host.sh(
            f"mkdir -p /etc/docker/certs.d/{made.name}; echo {certificate} | base64 -d > "
            f"/etc/docker/certs.d/{made.name}/ca.crt"
        )
        yield made, f"{made.name}/team/train:1"
        lab.host.sh(f"rm -r /etc/docker/certs.d/{made.name}")
        registry.stop(made)


def test_a_private_registry_lets_us_in_and_the_first_pull_has_its_price(
    lab: Lab, there: tuple[Registry, str], tmp_path: Path
) -> None:
    out = tmp_path / "offer.json"
    ask = ("--image", there[1], "--username", USER, "--price", "0.5", "--no-marker", "--no-tries")
    document = lab.judged(*ask, "--out", str(out), GPU_VERIFY_REGISTRY_PASSWORD=PASSWORD)
    assert words(document)["registry"] == "yes"
    assert words(document)["your-image"] == "yes"
    pull = document["first_pull"]
    assert (pull["bytes"], pull["measured"], pull["price_per_hour"]) == (LAYER_BYTES, True, 0.5)
    assert pull["mbit_per_s"] > 0
    assert pull["money"] is not None
    assert there[0].name not in lab.host.sh("cat /root/.docker/config.json 2>/dev/null || true")
    assert_secret_free(out.read_text(encoding="utf-8") + json.dumps(document))


def assert_secret_free(text: str) -> None:
    for secret in (PASSWORD, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()):
        assert secret not in text
        assert json.dumps(secret)[1:-1] not in text


def test_a_wrong_password_is_no_fault_of_the_offer_and_is_in_no_output(
    lab: Lab, there: tuple[Registry, str], tmp_path: Path
) -> None:
    wrong = "Grundfalsch-9981"
    out = tmp_path / "offer.json"
    ask = ("--registry", there[0].name, "--username", USER, "--no-tries", "--evidence", "--out", str(out))
    done = lab.offer(*ask, GPU_VERIFY_REGISTRY_PASSWORD=wrong)
    assert "does not take this login" in " ".join(done.stdout.replace("│", " ").split())
    assert wrong not in done.stdout + done.stderr + out.read_text(encoding="utf-8")


def test_a_registry_of_an_unknown_ca_is_not_trusted(lab: Lab, there: tuple[Registry, str]) -> None:
    folder = f"/etc/docker/certs.d/{there[0].name}"
    lab.host.sh(f"mv {folder} /root/certs-aside")
    try:
        document = lab.judged(
            "--registry",
            there[0].name,
            "--username",
            USER,
            "--no-tries",
            GPU_VERIFY_REGISTRY_PASSWORD=PASSWORD,
        )
    finally:
        lab.host.sh(f"mv /root/certs-aside {folder}")
    answer = next(answer for answer in document["answers"] if answer["id"] == "registry")
    assert (answer["answer"], answer["value"]) == ("no", "not trusted")


# --- a plain container on the host -------------------------------------------------------------


def in_container(lab: Lab, name: str) -> tuple[OfferFacts, Judgement]:
    """Record a container from within, as somebody who rented it would."""

    def there(argv: list[str], text: str) -> str:
        command = shlex.join(["docker", "exec", "-i", name, *argv])
        done = subprocess.run(
            ["ssh", "-F", lab.host.ssh_config, lab.host.name, f"sudo {command}"],
            input=text, capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    document = json.loads(there(recorder_argv("host", content=offer_manifest()), recorder_source()))
    source = tries_source(mounts=(), docker=True, measure=True, mark=True, forget=False)
    document["commands"][TRIES] = {
        "argv": ["python3", "-"],
        "rc": 0,
        "stdout": there(["python3", "-"], source),
    }
    facts = offer_facts(Recording.from_document(document))
    return facts, judge(facts)


@pytest.fixture
def rented(lab: Lab) -> Iterator[str]:
    yield "test-offer-rented"
    lab.host.sh(
        "docker rm -f test-offer-rented >/dev/null 2>&1; docker volume rm -f test-offer >/dev/null 2>&1; true"
    )


RUN = "docker run -d --user=0 --network=none --entrypoint= {options} --name {name} gpu-host/race sleep 600"


def test_a_container_with_a_card_trains_and_builds_nothing(lab: Lab, rented: str) -> None:
    lab.host.sh(RUN.format(name=rented, options="--gpus all"))
    facts, judged = in_container(lab, rented)
    found = {answer.id: answer for answer in judged.answers}
    assert facts.container is not None
    assert found["daemon"].value == "container, no Docker"
    assert (found["cards"].word, found["cards"].value) == ("yes", "in this container")
    assert found["volumes"].value == "none mounted"
    assert {use.use: use.word for use in judged.verdicts} == {
        "train": "yes", "serve": "unknown", "build": "no", "ci": "no",
    }  # fmt: skip
    assert any("no volume stays" in but for but in judged.verdicts[0].but)


def test_a_container_without_a_card_is_fit_for_nothing(lab: Lab, rented: str) -> None:
    lab.host.sh(RUN.format(name=rented, options=""))
    _, judged = in_container(lab, rented)
    assert {answer.id: answer.word for answer in judged.answers}["cards"] == "no"
    assert not judged.passes(())


def test_the_volume_outlives_the_container_and_its_layer_does_not(lab: Lab, rented: str) -> None:
    options = "--gpus all -v test-offer:/workspace"
    lab.host.sh(RUN.format(name=rented, options=options))
    assert {a.id: a.word for a in in_container(lab, rented)[1].answers}["volumes"] == "unknown"
    lab.host.sh(f"docker rm -f {rented}\n{RUN.format(name=rented, options=options)}")
    facts, judged = in_container(lab, rented)
    assert {place.path: place.survival for place in facts.places} == {
        "/": "lost", "/workspace": "survived a restart",
    }  # fmt: skip
    found = next(answer for answer in judged.answers if answer.id == "volumes")
    assert (found.word, found.value) == ("yes", "/workspace")
    lab.host.sh(f"docker restart -t 0 {rented}")
    facts, _ = in_container(lab, rented)
    assert {place.path: place.survival for place in facts.places}["/workspace"] == "survived a restart"
