from __future__ import annotations

import json

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.container import image_facts, runs
from verify.facts.framework import framework_facts
from verify.facts.race import lanes

LIST = "GPU 0: NVIDIA A10 (UUID: GPU-0)\n"
NO_PROGRAM = (
    "docker: Error response from daemon: failed to create task for container: OCI runtime create failed: "
    'exec: "nvidia-smi": executable file not found in $PATH: unknown.\n'
)


def test_a_container_that_saw_a_card() -> None:
    (run,) = runs(recording(commands={"run-gpus-all": said(LIST)})).values()
    assert ([card.uuid for card in run.cards], run.ran, run.refused, run.said) == (["GPU-0"], True, False, "")


def test_a_container_without_nvidia_smi_saw_nothing() -> None:
    (run,) = runs(recording(commands={"run-none": said(rc=127, stderr=NO_PROGRAM)})).values()
    assert (run.cards, run.ran, run.no_program, run.refused) == ((), True, True, True)


@pytest.mark.parametrize(
    "entry", [{"argv": ["docker"], "missing": True}, {"argv": ["docker"], "error": "not run: asleep"}]
)
def test_a_container_that_was_not_started(entry: dict[str, object]) -> None:
    (run,) = runs(recording(commands={"run-none": entry})).values()
    assert (run.ran, run.cards) == (False, ())


def test_the_list_of_a_container_that_hung_is_not_believed() -> None:
    (run,) = runs(recording(commands={"run-cdi": said(LIST, timed_out=True)})).values()
    assert (run.ran, run.timed_out, run.cards) == (False, True, ())


def test_image() -> None:
    inspect = [{"Id": "sha256:1", "RepoTags": ["a:b"], "RepoDigests": ["r/a@sha256:2"]}]
    found = image_facts(recording(commands={"image-inspect": said(json.dumps(inspect))}))
    assert (found.present, found.id, found.name, found.digest) == (True, "sha256:1", "a:b", "r/a@sha256:2")


@pytest.mark.parametrize("stdout", ["[]", "", "null", "{}", "[null]", '[{"Id": 3}]'])
def test_no_image(stdout: str) -> None:
    found = image_facts(recording(commands={"image-inspect": said(stdout)}))
    assert (found.recorded, found.present) == (True, False)


def _torch(**answer: object) -> dict[str, object]:
    return said("a warning of some library\n" + json.dumps(answer) + "\n")


@pytest.mark.parametrize(
    ("version", "cuda", "parsed"),
    [
        ("2.5.1", None, None),
        ("2.5.1+cpu", None, None),
        ("2.5.1+cu124", "12.4", (12, 4)),
        ("2.9.0a0+git", "13.0", (13, 0)),
    ],
)
def test_torch_builds(version: str, cuda: str | None, parsed: tuple[int, ...] | None) -> None:
    found = framework_facts(recording("container", commands={"torch": _torch(torch=version, cuda=cuda)}))
    assert found.version == version
    assert (found.cuda.parts if found.cuda else None) == parsed


@pytest.mark.parametrize(
    ("entry", "error"),
    [
        (
            said("", 1, "Traceback\nModuleNotFoundError: No module named 'torch'\n"),
            "exit status 1: ModuleNotFoundError",
        ),
        (said("not json\n", 0), "exit status 0"),
        ({"argv": ["python3"], "missing": True}, "python3 is not installed"),
        ({"argv": ["python3"], "timed_out": True, "seconds": 50.0}, "no answer within 50 s"),
    ],
)
def test_a_probe_that_says_nothing_says_why(entry: dict[str, object], error: str) -> None:
    found = framework_facts(recording("container", commands={"torch": entry}))
    assert (found.recorded, found.version) == (True, None)
    assert (found.error or "").startswith(error)


def test_wrong_types_are_unknown_not_true() -> None:
    answer = _torch(torch=2, available="yes", device_count=True, cudnn="9", kernel={"ok": 1}, devices="x")
    found = framework_facts(recording("container", commands={"torch": answer}))
    assert (found.version, found.available, found.device_count, found.cudnn, found.kernel_ok) == (None,) * 5


def test_an_empty_variable_is_not_an_unset_one() -> None:
    assert framework_facts(recording("container", env={"CUDA_VISIBLE_DEVICES": ""})).visible == ""
    assert framework_facts(recording("container")).visible is None


def test_lanes() -> None:
    race = {
        "contestants": [
            {
                "name": "n",
                "lanes": [{"name": "cpu", "status": "ran", "median": 0.5, "warnings": ["w"]}, {}, 3],
            }
        ]
    }
    found = lanes(race)
    assert [(lane.contestant, lane.name, lane.status, lane.median) for lane in found] == [
        ("n", "cpu", "ran", 0.5),
        ("n", "?", "?", None),
        ("n", "?", "?", None),
    ]
    assert found[0].warnings == ("w",)
