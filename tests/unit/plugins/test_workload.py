"""What gpu_workload runs, and what it does about what runs already."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plugins.filter.gpu_host_workload import LABEL, workload

WANTED: dict[str, Any] = {
    "name": "train", "image": "team/train:1", "command": ["python3", "train.py", "--lr", 0.1],
    "volumes": ["/mnt/persist/checkpoints:/checkpoints", "cache:/cache:ro"],
    "env": {"WANDB_API_KEY": "very secret", "EPOCHS": 3}, "env_file": "/etc/gpu-host/workload/train.env",
    "gpus": "all", "user": "1000:1000", "restart": "unless-stopped", "pull": "missing",
    "options": ["--shm-size=8g"],
}  # fmt: skip


def plan(inspected: str = "", **changed: Any) -> dict[str, Any]:
    return workload({**WANTED, **changed}, inspected)


def inspected(digest: str | None, status: str = "running", code: int = 0) -> str:
    """Write what docker says of a container, as the role asks for it."""
    labels = {LABEL: digest} if digest else None
    state = {"Status": status, "Running": status == "running", "Restarting": False, "ExitCode": code}
    return f"{json.dumps(labels)}\n{json.dumps(state)}\n"


def digest(**changed: Any) -> str:
    found: str = next(word.partition(f"{LABEL}=")[2] for word in plan(**changed)["argv"] if LABEL in word)
    return found


def test_docker_s_arguments_word_by_word() -> None:
    assert plan()["argv"] == [
        "docker", "run", "--detach", "--name=train", "--restart=unless-stopped", "--init", "--gpus", "all",
        "--user=1000:1000", "--volume=/mnt/persist/checkpoints:/checkpoints", "--volume=cache:/cache:ro",
        "--env-file=/etc/gpu-host/workload/train.env", "--pull=missing", "--shm-size=8g",
        f"--label={LABEL}={digest()}", "team/train:1", "python3", "train.py", "--lr", "0.1",
    ]  # fmt: skip


def test_a_variable_stands_in_the_file_alone() -> None:
    found = plan()
    assert found["env"] == "WANDB_API_KEY=very secret\nEPOCHS=3\n"
    assert "very secret" not in " ".join(found["argv"])


@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        ("all", ["--gpus", "all"]),
        ("none", []),
        ("0", ["--gpus", '"device=0"']),
        ("0, GPU-12ab", ["--gpus", '"device=0,GPU-12ab"']),
    ],
)
def test_cards_are_quoted_as_docker_needs_it(gpus: str, words: list[str]) -> None:
    argv = plan(gpus=gpus)["argv"]
    at = argv.index("--init") + 1
    assert argv[at : at + len(words)] == words
    assert ("--gpus" in argv) == bool(words)


def test_folders_have_to_be_there_and_volumes_of_docker_not() -> None:
    assert plan()["paths"] == ["/mnt/persist/checkpoints"]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"name": "-x"}, "gpu_workload_name is '-x'"),
        ({"volumes": ["relative/path:/x"]}, "gpu_workload_volumes has 'relative/path:/x'"),
        ({"volumes": ["/only-one"]}, "gpu_workload_volumes has '/only-one'"),
        ({"env": {"A B": "1"}}, "gpu_workload_env has 'A B'"),
        ({"env": {"A": "one\nTWO=2"}}, "gpu_workload_env has 'A'"),
        ({"gpus": "0;1"}, "gpu_workload_gpus is 0;1"),
        ({"gpus": "0,"}, "gpu_workload_gpus is 0,"),
    ],
)
def test_what_cannot_be_run_is_one_sentence(changed: dict[str, Any], word: str) -> None:
    found = plan(**changed)
    assert word in found["refusal"]
    assert "argv" not in found


def test_a_refused_variable_does_not_show_its_value() -> None:
    assert "very secret" not in plan(env={"A B": "very secret"})["refusal"]


@pytest.mark.parametrize(
    ("restart", "status", "code", "action"),
    [
        ("unless-stopped", "running", 0, "keep"),
        ("unless-stopped", "exited", 0, "start"),
        ("unless-stopped", "created", 0, "start"),
        ("on-failure", "exited", 0, "keep"),
        ("on-failure", "exited", 1, "start"),
        ("no", "exited", 0, "keep"),
    ],
)
def test_a_container_as_defined(restart: str, status: str, code: int, action: str) -> None:
    assert plan(inspected(digest(restart=restart), status, code), restart=restart)["action"] == action


def test_no_container_yet() -> None:
    for said in ("", "\n"):
        assert plan(said)["action"] == "create"


@pytest.mark.parametrize(
    "changed",
    [
        {"image": "team/train:2"}, {"command": []}, {"volumes": []}, {"env": {"EPOCHS": 4}}, {"gpus": "0"},
        {"user": ""}, {"options": []}, {"restart": "on-failure"},
    ],
)  # fmt: skip
def test_a_changed_definition_replaces_it(changed: dict[str, Any]) -> None:
    found = plan(inspected(digest()), **changed)
    assert (found["action"], found["because"]) == ("recreate", "its definition has changed")


def test_somebody_else_s_container_is_left_alone() -> None:
    found = plan(inspected(None))
    assert "did not start" in found["refusal"]
    assert "docker rm -f train" in found["refusal"]
