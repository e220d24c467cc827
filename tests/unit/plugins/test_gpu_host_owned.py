"""The ownership file: what the user had never becomes ours; a damaged file is not taken for an empty one."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.plugins.modules import run_module

if TYPE_CHECKING:
    from pathlib import Path

DPKG = """#!/bin/sh
echo 'docker.io installed'
echo 'iptables not-installed'
echo 'docker-cli config-files'
"""


# apt that would upgrade one package and bring two; asked for anything else than that it fails.
APT = """#!/bin/sh
case "$*" in *--simulate*--no-install-recommends*install*docker.io=26.1*) ;; *) exit 100 ;; esac
echo 'Inst libc6 [2.40] (2.41 Debian:13 [amd64])'
echo 'Inst runc (1.1.15 Debian:13 [amd64])'
echo 'Inst docker-cli (26.1 Debian:13 [amd64])'
echo 'Conf runc (1.1.15 Debian:13 [amd64])'
"""


@pytest.fixture
def owned(tmp_path: Path) -> Any:
    """Run the real module in a process of its own, with a dpkg-query of the test's own."""
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    for name, text in {"dpkg-query": DPKG, "apt-get": APT}.items():
        (bin_dir / name).write_text(text)
        (bin_dir / name).chmod(0o755)

    def run(*, check: bool = False, **parameters: Any) -> dict[str, Any]:
        given = {"role": "docker_engine", "path": str(tmp_path / "lib" / "owned.json"), **parameters}
        env = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}"}
        return run_module("gpu_host_owned", {**given, "_ansible_check_mode": check}, env=env)

    return run


def test_only_what_is_not_there_becomes_ours(owned: Any, tmp_path: Path) -> None:
    theirs = tmp_path / "daemon.json"
    theirs.write_text("{}")
    ours = str(tmp_path / "new.list")
    result = owned(packages=["docker.io", "docker-cli", "iptables"], files=[str(theirs), ours])
    assert result["changed"]
    assert result["packages"] == ["docker-cli", "iptables"]
    assert result["files"] == [ours]
    path = tmp_path / "lib" / "owned.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert json.loads(path.read_text())["roles"]["docker_engine"]["packages"] == ["docker-cli", "iptables"]


def test_what_comes_along_becomes_ours_and_what_is_only_upgraded_does_not(owned: Any) -> None:
    result = owned(packages=["iptables", "docker.io=26.1"], dependencies=True)
    assert result["packages"] == ["docker-cli", "iptables", "runc"]


def test_an_apt_that_cannot_say_leaves_the_names(owned: Any) -> None:
    assert owned(packages=["iptables"], dependencies=True)["packages"] == ["iptables"]


def test_a_second_run_changes_nothing_and_check_mode_writes_nothing(owned: Any, tmp_path: Path) -> None:
    path = tmp_path / "lib" / "owned.json"
    assert owned(packages=["iptables"], check=True)["changed"]
    assert not path.exists()
    owned(packages=["iptables"])
    before = path.read_bytes()
    assert not owned(packages=["iptables"])["changed"]
    assert path.read_bytes() == before


def test_nothing_of_ours_is_no_entry(owned: Any, tmp_path: Path) -> None:
    assert not owned(packages=["docker.io"])["changed"]
    assert not (tmp_path / "lib" / "owned.json").exists()


def test_forgetting_one_role_keeps_the_others(owned: Any, tmp_path: Path) -> None:
    owned(packages=["iptables"])
    owned(role="nvidia_driver", packages=["nvidia-smi"], settings={"a": 1})
    assert owned(state="absent")["packages"] == ["iptables"]
    assert owned(state="query")["packages"] == []
    left = json.loads((tmp_path / "lib" / "owned.json").read_text())["roles"]
    assert left == {
        "nvidia_driver": {"packages": ["nvidia-smi"], "files": [], "holds": [], "settings": {"a": 1}}
    }


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": 1}', '{"schema": 9, "roles": {}}', '{"schema": 1, "roles": {"a": 1}}']
)
def test_a_damaged_file_is_refused_and_left_as_it_is(owned: Any, tmp_path: Path, text: str) -> None:
    path = tmp_path / "lib" / "owned.json"
    path.parent.mkdir()
    path.write_text(text)
    result = owned(packages=["iptables"])
    assert result["failed"]
    assert str(path) in result["msg"]
    assert "move it away" in result["msg"]
    assert path.read_text() == text
