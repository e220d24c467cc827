"""The scripts behind make: bad input gets one sentence, and nothing is done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def script(name: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "scripts" / name, *arguments],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("action", ["site", "verify", "plan", "remove", "clean"])
def test_an_inventory_that_is_not_there(action: str) -> None:
    done = script("site.sh", action, INVENTORY="inventory/nonsense")
    assert done.returncode == 2
    assert "there is no inventory inventory/nonsense" in done.stderr
    assert "INVENTORY=" in done.stderr


def test_a_race_setting_that_is_not_known() -> None:
    done = script("site.sh", "site", RACE="sometimes")
    assert done.returncode == 2
    assert "RACE=sometimes" in done.stderr
    assert "always, cached or never" in done.stderr


@pytest.mark.parametrize("name", ["SERIAL", "MAX_FAIL"])
@pytest.mark.parametrize("given", ["abc", "-1", "%", "2;ls"])
def test_a_share_of_hosts_that_is_none(name: str, given: str) -> None:
    done = script("site.sh", "site", INVENTORY="inventory/lab", **{name: given})
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {name}={given} is not known: give ")


def test_nothing_to_clean_where_nothing_is_simulated() -> None:
    done = script("site.sh", "clean", INVENTORY="inventory/lab")
    assert done.returncode == 0
    assert "nothing to clean" in done.stderr


def test_race_here_with_a_python_that_does_not_run() -> None:
    done = script("race_here.sh", PYTHON="/bin/false")
    assert done.returncode == 2
    assert "PYTHON=/bin/false does not run" in done.stderr


def test_race_here_with_what_is_installed_never_invents_a_number(tmp_path: Path) -> None:
    done = script("race_here.sh", PYTHON=sys.executable, OUT=str(tmp_path / "here"))
    race = json.loads((tmp_path / "here" / "race.json").read_text())
    lanes = [lane for contestant in race["contestants"] for lane in contestant["lanes"]]
    if any(lane["status"] == "ran" for lane in lanes):
        pytest.fail("this Python was expected to have neither torch nor scikit-learn")
    assert done.returncode == 1
    assert all(lane["status"] == "absent" and lane["reason"] and lane["median"] is None for lane in lanes)


def test_an_engine_that_answers_is_used_as_it_is(tmp_path: Path) -> None:
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\n[ $1 = info ]\n")
    docker.chmod(0o755)
    done = script("engine.sh", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert (done.returncode, done.stderr) == (0, "")


def test_no_engine_and_no_way_to_install_one_is_one_sentence(tmp_path: Path) -> None:
    for name in ("dirname", "timeout", "id", "sh"):
        (tmp_path / name).symlink_to(
            Path("/bin") / name if (Path("/bin") / name).exists() else f"/usr/bin/{name}"
        )
    done = script("engine.sh", PATH=str(tmp_path))
    assert done.returncode == 1
    assert "install Docker Engine" in done.stderr


def test_pytest_at_least_is_red_where_too_few_ran(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    argv = [sys.executable, str(ROOT / "scripts" / "pytest_at_least.py")]
    tail = ["-p", "no:cacheprovider", "-q", "--rootdir", str(tmp_path), str(tmp_path)]
    assert subprocess.run([*argv, "1", *tail], capture_output=True, check=False).returncode == 0
    assert subprocess.run([*argv, "2", *tail], capture_output=True, check=False).returncode == 1
