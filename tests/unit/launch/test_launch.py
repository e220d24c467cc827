from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import testinfra

from verify.errors import VerifyError
from verify.launch import docker_run, gpus_value
from verify.take import ssh_argv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

UUIDS = ["GPU-5150aaaa-0000-1111-2222-333344445555", "GPU-5150aaaa-0000-1111-2222-333344445556"]
CASES: list[tuple[Any, str]] = [
    ("all", "all"),
    (2, "2"),
    (["0"], '"device=0"'),
    ([0, 1], '"device=0,1"'),
    (UUIDS, f'"device={UUIDS[0]},{UUIDS[1]}"'),
]


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Put a docker on PATH that notes its arguments; return how to read them."""
    seen = tmp_path / "argv.json"
    stub = tmp_path / "docker"
    stub.write_text(
        f"#!{sys.executable}\nimport json, sys\nopen({str(seen)!r}, 'w').write(json.dumps(sys.argv[1:]))\n"
    )
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return lambda: list(json.loads(seen.read_text()))


def after(argv: list[str], flag: str) -> str:
    return argv[argv.index(flag) + 1]


@pytest.mark.parametrize(("cards", "element"), CASES)
def test_element_that_reaches_docker(cards: Any, element: str, docker: Callable[[], list[str]]) -> None:
    argv = docker_run("image", ["nvidia-smi", "-L"], gpus=cards)
    assert gpus_value(cards) == element
    subprocess.run(argv, check=True)
    assert after(docker(), "--gpus") == element


@pytest.mark.parametrize(("cards", "element"), CASES)
def test_through_testinfra(cards: Any, element: str, docker: Callable[[], list[str]]) -> None:
    argv = docker_run("image", ["nvidia-smi", "-L"], gpus=cards)
    testinfra.get_host("local://").run_expect([0], " ".join(["%s"] * len(argv)), *argv)
    assert after(docker(), "--gpus") == element


@pytest.mark.parametrize(("cards", "element"), CASES)
def test_through_the_remote_shell_of_ssh(cards: Any, element: str, docker: Callable[[], list[str]]) -> None:
    remote = ssh_argv("user@host", docker_run("image", ["nvidia-smi", "-L"], gpus=cards))[-1]
    subprocess.run(["sh", "-c", remote.replace("sudo", "no-such-sudo")], check=True)
    assert after(docker(), "--gpus") == element


def test_the_whole_line() -> None:
    argv = docker_run(
        "img",
        ["python3", "-"],
        gpus="all",
        env={"A": "b c"},
        name="n",
        interactive=True,
        options=["--shm-size=1g"],
    )
    assert shlex.join(argv) == (
        "docker run --rm -i --pull=never --network=none --cap-drop=ALL --security-opt=no-new-privileges "
        "--entrypoint= --name=n --gpus all -e 'A=b c' --shm-size=1g img python3 -"
    )


def test_runtime_and_cdi() -> None:
    runtime = docker_run("img", ["x"], runtime="nvidia", env={"NVIDIA_VISIBLE_DEVICES": "0"})
    assert "--gpus" not in runtime
    assert runtime[runtime.index("--runtime=nvidia") :] == [
        "--runtime=nvidia",
        "-e",
        "NVIDIA_VISIBLE_DEVICES=0",
        "img",
        "x",
    ]
    cdi = docker_run("img", ["x"], cdi=["0", "1"])
    assert cdi[-6:] == ["--device", "nvidia.com/gpu=0", "--device", "nvidia.com/gpu=1", "img", "x"]
    assert after(docker_run("img", ["x"], cdi="all"), "--device") == "nvidia.com/gpu=all"


def test_without_a_card_nothing_asks_for_one() -> None:
    argv = docker_run("img", ["nvidia-smi", "-L"])
    assert not [part for part in argv if "gpu" in part or "runtime" in part or part in ("-e", "--device")]


@pytest.mark.parametrize("cards", [[], ["0,1"], ['"0"'], ["device=0"], [""], ["0 1"]])
def test_names_that_are_none_are_refused(cards: list[str]) -> None:
    with pytest.raises(VerifyError, match="card"):
        docker_run("img", ["x"], gpus=cards)


def test_a_count_is_for_gpus_only() -> None:
    with pytest.raises(VerifyError, match="count"):
        docker_run("img", ["x"], cdi=2)
