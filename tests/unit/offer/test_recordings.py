"""Every kind of offer, from its recording: what it is fit for, and what each question gets."""

from __future__ import annotations

import json

import pytest

from tests.unit.offer.build import document, judged
from tests.unit.offer.derive import MADE, OFFERS, made, text
from verify.offer.answer import Word
from verify.offer.verdict import Use

# train, serve, build, ci; then answers of which the kind is made: their word and value.
KINDS: dict[str, tuple[str, dict[str, tuple[str, str]]]] = {
    "full-machine": (
        "yes yes yes yes",
        {
            "daemon": ("yes", "daemon with root"),
            "builds": ("yes", "yes"),
            "compose": ("yes", "with a card"),
            "volumes": ("yes", "/var/lib/docker"),
            "driver": ("yes", "550.163.01 (CUDA 12.4)"),
        },
    ),
    "vendor-driver": (
        "yes no no no",
        {
            "daemon": ("no", "machine, no Docker"),
            "cards": ("unknown", "no Docker yet"),
            "driver": ("yes", "550.163.01 (CUDA 12.4)"),
            "compose": ("no", "no"),
        },
    ),
    "container-with-volume": (
        "yes unknown no no",
        {
            "image": ("unknown", "the provider's choice"),
            "daemon": ("no", "container, no Docker"),
            "cards": ("yes", "in this container"),
            "volumes": ("yes", "/workspace"),
        },
    ),
    "container-without-smi": (
        "no no no no",
        {
            "cards": ("no", "nodes alone"),
            "driver": ("yes", "550.163.01 (CUDA 12.4)"),
        },
    ),
    "container-cuda-alone": (
        "yes unknown no no",
        {
            "cards": ("yes", "in this container"),
            "driver": ("yes", "CUDA 12.4"),
        },
    ),
    "rootless": (
        "yes yes yes yes",
        {
            "daemon": ("yes", "rootless daemon"),
            "cards": ("yes", "--device nvidia.com/gpu"),
        },
    ),
    "no-persistent-disk": ("yes unknown no no", {"volumes": ("no", "none mounted")}),
    "without-compose": (
        "yes yes yes no",
        {
            "compose": ("no", "not installed"),
            "several": ("yes", "yes"),
            "volumes": ("unknown", "not yet known"),
        },
    ),
    "older-driver": (
        "no no yes no",
        {"your-image": ("no", "no"), "driver": ("yes", "550.163.01 (CUDA 12.4)")},
    ),
    "stopped": ("unknown unknown unknown no", {"daemon": ("no", "daemon without an answer")}),
    "denied": ("unknown unknown unknown no", {"daemon": ("no", "daemon not for this user")}),
    "not-tried": (
        "unknown unknown unknown unknown",
        {
            "daemon": ("yes", "daemon with root"),
            "builds": ("unknown", "not tried"),
            "volumes": ("unknown", "not looked at"),
        },
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_judged_right(name: str) -> None:
    uses, expected = KINDS[name]
    found = judged(document(name))
    assert [verdict.word for verdict in found.verdicts] == uses.split()
    answers = {answer.id: (answer.word.value, answer.value) for answer in found.answers}
    assert expected.items() <= answers.items()


@pytest.mark.parametrize("path", sorted(OFFERS.glob("*.json")), ids=lambda path: path.stem)
def test_every_answer_says_why_and_every_no_what_to_do(path: object) -> None:
    for answer in judged(document(path.stem)).answers:  # type: ignore[attr-defined]
        assert answer.summary
        assert answer.value
        assert answer.remedy or answer.word is Word.YES
        assert answer.evidence or answer.word is Word.UNKNOWN


def test_every_file_is_recorded_or_derived_and_says_so() -> None:
    files = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in OFFERS.glob("*.json")}
    assert set(KINDS) == set(MADE)
    assert set(files) - set(MADE) == {name for name in files if name.startswith("recorded-")}
    assert all(content["about"] and content["simulated"] for content in files.values())


@pytest.mark.parametrize("name", MADE)
def test_a_derived_recording_is_what_the_script_makes(name: str) -> None:
    written = (OFFERS / f"{name}.json").read_text(encoding="utf-8")
    assert written == text(made(name)), "run `.venv/bin/python -m tests.unit.offer.derive`"


def test_a_driver_older_than_the_image_is_named_with_what_is_needed() -> None:
    answer = next(one for one in judged(document("older-driver")).answers if one.id == "your-image")
    assert "CUDA 13 needs driver 580.65.06 or newer, the driver is 550.163.01" in answer.summary


def test_the_vendor_of_the_driver_is_named() -> None:
    answer = next(one for one in judged(document("vendor-driver")).answers if one.id == "driver")
    assert "Lambda's packages" in answer.summary


def test_uses_are_those_that_the_command_names() -> None:
    from verify.offer.command import _USES  # noqa: PLC0415

    assert tuple(use.value for use in Use) == _USES
