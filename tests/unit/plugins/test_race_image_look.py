"""What follows from a look at an image before it is pulled, and that the look keeps secrets to itself."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plugins.filter.gpu_host_race_image_look import FilterModule, race_image_look

ROOT = Path(__file__).resolve().parents[3]
LOOK = ROOT / "roles/race_image/files/look.py"
REFERENCE = "registry.example.com:5000/race@sha256:" + "0" * 64
# Stands in for gpu-verify: says what it was given, and what the files were like.
SPY = """
import json, os, stat, sys
from pathlib import Path
def read(name):
    if name not in sys.argv:
        return None
    file = Path(sys.argv[sys.argv.index(name) + 1])
    return [file.read_text(), stat.S_IMODE(file.stat().st_mode)]
config = Path(os.environ.get("DOCKER_CONFIG", "/nowhere"), "config.json")
print(json.dumps({
    "argv": sys.argv[1:], "recording": read("--recording"), "ca": read("--ca-file"),
    "folder": [str(config.parent), stat.S_IMODE(config.parent.stat().st_mode)] if config.exists() else None,
    "config": [config.read_text(), stat.S_IMODE(config.stat().st_mode)] if config.exists() else None,
}))
sys.exit(1)
"""


@pytest.mark.parametrize("verdict", ["runs", "minor", "forward", "unknown", None])
def test_what_may_run_may_be_pulled_and_its_size_goes_along(verdict: str | None) -> None:
    document = {"verdict": verdict, "reasons": ["why"], "compressed_bytes": 10, "disk_bytes": 25}
    said = race_image_look({"document": document}, REFERENCE)
    assert (said["refusal"], said["bytes"], said["compressed"]) == ("", 35, 10)
    assert said["notes"] == ([] if verdict in ("runs", None) else ["why"])


@pytest.mark.parametrize("unchecked", [True, False])
def test_what_will_not_run_is_refused_whatever_is_set(unchecked: bool) -> None:  # noqa: FBT001
    said = race_image_look(
        {"document": {"verdict": "no", "reasons": ["Driver 550 is loaded."]}}, REFERENCE, unchecked
    )
    assert REFERENCE in said["refusal"]
    assert "Driver 550 is loaded." in said["refusal"]


@pytest.mark.parametrize(
    "looked", [{}, {"document": None, "said": "no way there"}, {"document": [], "said": "x"}]
)
def test_without_a_look_nothing_is_pulled_unless_that_is_set(looked: dict[str, Any]) -> None:
    said = race_image_look(looked, REFERENCE)
    assert "Needed is a look" in said["refusal"]
    assert "race_image_pull_unchecked: true" in said["refusal"]
    assert str(looked.get("said") or "it said nothing") in said["refusal"]
    unchecked = race_image_look(looked, REFERENCE, unchecked=True)
    assert unchecked["refusal"] == ""
    assert "unchecked" in unchecked["notes"][0]


def test_the_filter_has_its_name() -> None:
    assert FilterModule().filters() == {"gpu_host_race_image_look": race_image_look}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A project in which gpu-verify is the spy."""
    (tmp_path / "roles/race_image/files").mkdir(parents=True)
    (tmp_path / "verify").mkdir()
    (tmp_path / "verify/__init__.py").touch()
    (tmp_path / "verify/cli.py").write_text(SPY)
    (tmp_path / "verify/manifest.py").write_text("manifest = recorder_argv = recorder_source = None\n")
    target = tmp_path / "roles/race_image/files/look.py"
    target.write_text(LOOK.read_text(encoding="utf-8"))
    return target


def look(script: Path, given: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, script, "image"],
        input=json.dumps(given), capture_output=True, text=True, check=True,
        env={name: value for name, value in os.environ.items() if name != "DOCKER_CONFIG"},
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    ("registry", "key"),
    [
        ("registry.example.com:5000", "registry.example.com:5000"),
        ("docker.io", "https://index.docker.io/v1/"),
    ],
)
def test_secrets_go_by_private_files_that_are_gone_afterwards(copy: Path, registry: str, key: str) -> None:
    given = {
        "reference": REFERENCE,
        "registry": registry,
        "recording": "{}",
        "username": "u",
        "password": "p:w",
    }
    said = look(copy, given | {"ca": "CA"})
    document = said["document"]
    assert said["rc"] == 1
    assert "p:w" not in json.dumps(document["argv"])
    assert document["argv"][:3] == ["image", REFERENCE, "--json"]
    private = stat.S_IRUSR | stat.S_IWUSR
    assert document["recording"] == ["{}", private]
    assert document["ca"] == ["CA", private]
    text, mode = document["config"]
    assert (json.loads(text), mode) == ({"auths": {key: {"auth": "dTpwOnc="}}}, private)
    folder, mode = document["folder"]
    assert mode == stat.S_IRWXU
    assert not Path(folder).exists()


def test_without_credentials_the_users_own_are_used(copy: Path) -> None:
    document = look(copy, {"reference": REFERENCE, "registry": "r", "recording": "{}"})["document"]
    assert document["config"] is None
    assert "--ca-file" not in document["argv"]


def test_what_is_no_json_is_told(copy: Path) -> None:
    (copy.parents[3] / "verify/cli.py").write_text("import sys; sys.exit('gpu-verify: no way there')")
    said = look(copy, {"reference": REFERENCE, "registry": "r"})
    assert (said["document"], said["said"]) == (None, "no way there")


def test_the_recorder_starts_no_container() -> None:
    done = subprocess.run([sys.executable, LOOK, "recorder"], capture_output=True, text=True, check=True)
    parts = json.loads(done.stdout)
    names = [command["name"] for command in json.loads(parts["argv"][2])["commands"]]
    assert {"nvidia-smi-query", "docker-info"} <= set(names)
    assert not [name for name in names if name.startswith(("run-", "apt-"))]
    assert "def main" in parts["recorder"]
