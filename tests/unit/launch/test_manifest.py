from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from verify.manifest import Where, manifest, recorder_argv

if TYPE_CHECKING:
    from pathlib import Path

MAX_ARGUMENT = 128 * 1024  # Linux: one argument of execve

# The names of the evidence format, in a host's and in a container's recording.
SMI = {"nvidia-smi", "nvidia-smi-xml", "nvidia-smi-list", "nvidia-smi-query", "nvidia-smi-gpu-{gpu_index}"}
RUNS = {
    "run-none",
    "run-gpus-all",
    "run-gpus-first",
    "run-runtime",
    "run-runtime-first",
    "run-cdi",
    "run-cdi-first",
}
HOST = {
    *SMI,
    *RUNS,
    *[
        "uname",
        "modinfo-nvidia",
        "dkms-status",
        "mokutil-sb",
        "dmesg-nvidia",
        "systemd-state",
        "docker-version",
        "docker-info",
    ],
    *[
        "docker-unit",
        "docker-context",
        "docker-show",
        "docker-ps",
        "compose-version",
        "nvidia-ctk-version",
        "nvidia-cdi-list",
    ],
    *[
        "toolkit-packages",
        "driver-packages",
        "dpkg-audit",
        "apt-policy",
        "fabricmanager-unit",
        "gpu-processes",
    ],
    *["held-packages", "image-inspect", "image-layers", "image-python3", "image-python"],
}

INSIDE = {"cuda", "torch", "torch-clean", "torch-peers", "python-packages", "nvidia-smi-topo"}


def commands(where: Where) -> dict[str, dict[str, Any]]:
    return {spec["name"]: spec for spec in manifest(where)["commands"]}


def test_names_of_the_format() -> None:
    assert set(commands("host")) >= HOST
    assert set(commands("container")) >= SMI | INSIDE
    assert not [name for name, spec in commands("container").items() if spec["argv"][0] == "docker"]


def test_every_command_that_reaches_docker_says_so() -> None:
    for spec in commands("host").values():
        reaches = spec["argv"][0] == "docker" or any(
            "docker ps" in part or "docker image" in part for part in spec["argv"]
        )
        assert bool(spec.get("engine")) is reaches, spec["name"]


def test_runs_never_pull_and_are_cleaned_up() -> None:
    for name in RUNS:
        spec = commands("host")[name]
        assert "--pull=never" in spec["argv"]
        assert spec["limit"] == 20
        assert spec["argv"][-3:] == ["{image}", "nvidia-smi", "-L"]
        assert f"--name={spec['cleanup'][-1]}" in spec["argv"]


@pytest.mark.parametrize("where", ["host", "container"])
def test_fits_into_one_argument(where: Where) -> None:
    assert max(len(part.encode()) for part in recorder_argv(where, "an/image:tag")) < MAX_ARGUMENT


def test_container_recorder_does_not_wake_the_engine(tmp_path: Path) -> None:
    guard = recorder_argv("container", "img")
    assert guard[:2] == ["sh", "-c"]
    for name, script in {
        "systemctl": '[ "$3" = docker.socket ]',
        "docker": f"touch {tmp_path}/asked",
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    there = guard[2].replace("/run/systemd/system", str(tmp_path))
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(
        ["sh", "-c", there, *guard[3:]], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 125
    assert "docker.socket would start it" in done.stderr
    assert not (tmp_path / "asked").exists()
    (tmp_path / "systemctl").write_text("#!/bin/sh\ntrue\n")
    subprocess.run(["sh", "-c", there, *guard[3:]], env=env, check=True)
    assert (tmp_path / "asked").exists()


def test_container_needs_an_image() -> None:
    with pytest.raises(ValueError, match="image"):
        recorder_argv("container")
