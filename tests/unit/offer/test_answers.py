"""Each answer where it is yes, no and unknown, the tool being absent among them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.offer.build import answer, changed, command, document, step, verdict
from tests.unit.offer.derive import Json, put_tries, tries
from verify.offer.answer import Word
from verify.offer.verdict import Use

Change = Callable[[Json], None]
NO_DOCKER = [command(name, missing=True) for name in ("docker-info", "docker-version", "docker-show")]
NOT_RECORDED = [command(name) for name in ("docker-info", "docker-version", "docker-show")]


def failed(*names: str, said: str = "it broke") -> list[Change]:
    return [step(name, rc=1, stdout="", stderr=f"{said}\n") for name in names]


def untried(content: Json) -> None:
    found = tries(content)
    found.update(steps={}, docker="the engine does not answer: no answer")
    put_tries(content, found)


def unseen(content: Json) -> None:
    """Leave nothing that names a driver."""
    for name in [*content["commands"]]:
        if name.startswith(("nvidia-smi", "cuda")):
            del content["commands"][name]
    content["files"] = {path: entry for path, entry in content["files"].items() if "nvidia" not in path}


CASES: list[tuple[str, str, list[Change], str, str]] = [
    ("image", "full-machine", [], "yes", "any image runs"),
    (
        "image",
        "full-machine",
        failed("start-1", "start-2", said="no space left on device"),
        "no",
        "no space left",
    ),
    ("image", "full-machine", [untried], "unknown", "the engine does not answer"),
    ("image", "vendor-driver", [], "no", "no Docker on this machine"),
    ("daemon", "full-machine", [], "yes", "Docker 26.1.5"),
    ("daemon", "vendor-driver", [], "no", "without Docker"),
    ("daemon", "full-machine", NOT_RECORDED, "unknown", "not recorded"),
    (
        "daemon",
        "full-machine",
        [command("docker-info", timed_out=True, seconds=10.0), command("docker-version")],
        "unknown",
        "no answer in time",
    ),
    ("builds", "full-machine", [], "yes", "the classic builder"),
    (
        "builds",
        "full-machine",
        [*failed("build"), step("build-buildkit", rc=0, stderr="", stdout="")],
        "yes",
        "BuildKit",
    ),
    (
        "builds",
        "full-machine",
        failed("build", "build-buildkit", said="no builder here"),
        "no",
        "no builder here",
    ),
    ("builds", "full-machine", [step("build", timed_out=True, rc=None)], "unknown", "was not finished"),
    ("builds", "container-with-volume", [], "no", "no Docker in this container"),
    ("cards", "full-machine", [], "yes", "2 cards"),
    (
        "cards",
        "full-machine",
        failed("run-gpus-all", "run-runtime", "run-cdi", said="no such device"),
        "no",
        "no such device",
    ),
    ("cards", "full-machine", [untried], "unknown", "no container asked for a card"),
    ("cards", "container-with-volume", [], "yes", "2 cards answer in this container"),
    ("cards", "container-without-smi", [command("cuda")], "unknown", "CUDA was not asked"),
    ("driver", "full-machine", [], "yes", "CUDA 11.0 to 12.4 run"),
    ("driver", "full-machine", [unseen], "unknown", "not recorded"),
    ("volumes", "full-machine", [], "yes", "/var/lib/docker survived a restart"),
    ("volumes", "no-persistent-disk", [], "no", "no volume is mounted"),
    ("volumes", "without-compose", [], "unknown", "not yet known"),
    ("several", "full-machine", [], "yes", "two containers"),
    ("several", "full-machine", failed("start-2", said="out of memory"), "no", "out of memory"),
    ("several", "full-machine", [step("two-running", stdout="one\n")], "no", "of two containers 1 ran"),
    ("several", "full-machine", [untried], "unknown", "no container was started"),
    ("several", "vendor-driver", [], "no", "no Docker on this machine"),
    ("compose", "full-machine", [], "yes", "the one with a card reserved sees it"),
    (
        "compose",
        "full-machine",
        [
            *failed("compose-gpu-up", said="could not select device driver"),
            step("compose-plain-up", rc=0, stderr="", stdout=""),
        ],
        "no",
        "without the reservation two services come up",
    ),
    (
        "compose",
        "full-machine",
        failed("compose-gpu-card", said="no devices were found"),
        "no",
        "does not see it",
    ),
    ("compose", "full-machine", [step("compose-gpu-card")], "unknown", "does not see it"),
    ("compose", "without-compose", [], "no", "no Compose"),
    ("compose", "not-tried", [], "unknown", "is installed and was not tried"),
    (
        "compose",
        "not-tried",
        [command("compose-version", rc=1, stderr="not a docker command")],
        "no",
        "no command",
    ),
    ("compose", "not-tried", [command("compose-version")], "unknown", "was not tried"),
]


@pytest.mark.parametrize(
    ("name", "base", "changes", "word", "said"),
    CASES,
    ids=[f"{c[0]}-{c[3]}-{n}" for n, c in enumerate(CASES)],
)
def test_an_answer(name: str, base: str, changes: list[Change], word: str, said: str) -> None:
    found = answer(changed(base, *changes), name)
    assert found.word.value == word, found
    assert said in found.summary


def test_every_question_has_a_case_of_each_word() -> None:
    seen = {(case[0], case[3]) for case in CASES} | {("registry", word) for word in ("yes", "no", "unknown")}
    names = {one.id for one in [answer(document("full-machine"), case[0]) for case in CASES]} | {"registry"}
    missing = {(name, word) for name in names for word in ("yes", "no", "unknown")} - seen
    assert missing == {("driver", "no")}


def test_no_driver_at_all() -> None:
    absent = [command(f"nvidia-smi{name}", missing=True) for name in ("", "-list", "-query", "-xml")]

    def no_module(content: Json) -> None:
        content["files"]["/proc/driver/nvidia/version"] = {"missing": True}
        content["files"]["/sys/module/nvidia/version"] = {"missing": True}
        content["files"]["/proc/modules"] = {"text": "ext4 1 0 - Live 0x0\n"}

    found = answer(changed("full-machine", *absent, command("cuda"), no_module), "driver")
    assert (found.word, found.value) == (Word.NO, "none")


def login(**entry: Any) -> dict[str, Any]:
    return {"login": {"argv": ["docker", "login"], **entry}, "named": True}


REGISTRY: list[tuple[dict[str, Any], str, str]] = [
    (login(rc=0, stdout="Login Succeeded\n"), "yes", "docker login at registry.example.com worked"),
    (login(rc=1, stderr="unauthorized: authentication required\n"), "unknown", "does not take this login"),
    (login(rc=1, stderr="unauthorized: token expired\n"), "unknown", "wrong or expired"),
    (login(rc=1, stderr="x509: certificate signed by unknown authority\n"), "no", "is not trusted here"),
    (login(rc=1, stderr="proxyconnect tcp: dial tcp: refused\n"), "no", "a proxy stands between"),
    (login(rc=1, stderr="dial tcp: lookup registry.example.com: no such host\n"), "no", "no such host"),
    (login(timed_out=True), "no", "no answer in time"),
    ({**login(missing=True), "reach": {"status": 200}}, "unknown", "lets this login in"),
    ({**login(missing=True), "reach": {"status": 401, "error": "HTTP 401"}}, "unknown", "does not take"),
    ({"reach": {"status": 401}}, "unknown", "asks who we are"),
    ({"reach": {"status": 200}}, "unknown", "no login was tried"),
    ({"reach": {"error": "SSLCertVerificationError: CERTIFICATE_VERIFY_FAILED"}}, "no", "not trusted"),
    ({"reach": {"error": "OSError: Tunnel connection failed: 407"}}, "no", "a proxy"),
    ({"reach": {"error": "ConnectionRefusedError: refused"}}, "no", "cannot be used from here"),
    ({}, "unknown", "was not recorded"),
]


@pytest.mark.parametrize(("told", "word", "said"), REGISTRY, ids=[case[2] for case in REGISTRY])
def test_what_a_registry_answers_is_a_sentence(told: dict[str, Any], word: str, said: str) -> None:
    text = json.dumps({"schema": 1, "host": "registry.example.com", **told})
    found = answer(changed("full-machine", command("offer-registry", rc=0, stdout=text)), "registry")
    assert (found.word.value, said in found.summary) == (word, True), found
    assert found.remedy or found.word is Word.YES


def test_no_registry_named_is_unknown() -> None:
    found = answer(document("full-machine"), "registry")
    assert (found.word, found.evidence) == (Word.UNKNOWN, ())


def test_a_card_that_only_nvidia_smi_sees_trains_nothing() -> None:
    """nvidia-smi needs no CUDA; a real card that cuInit refuses is no card to train on."""
    probe = json.dumps({"init": 999, "word": "CUDA_ERROR_UNKNOWN", "error": None})

    def real(content: Json) -> None:
        content["simulated"] = False

    for base in ("container-with-volume", "vendor-driver"):
        content = changed(base, command("cuda", rc=0, stdout=probe), real)
        assert verdict(content, Use.TRAIN).word is not Word.YES
    found = answer(changed("container-with-volume", command("cuda", rc=0, stdout=probe), real), "cards")
    assert (found.word, "CUDA_ERROR_UNKNOWN" in found.summary) == (Word.NO, True)


def test_where_docker_keeps_its_images_is_named() -> None:
    assert "Docker keeps its images in /var/lib/docker" in answer(document("full-machine"), "volumes").summary
