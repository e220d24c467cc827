"""This machine under a host's name, and sudo that asks for a password."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import testinfra

from tests.unit.report.helpers import put, run
from verify.suite.backends import PASSWORDS, register

if TYPE_CHECKING:
    from typing import Any

ROOT = Path(__file__).parents[3]
# Takes the password as sudo does: from standard input, before the command, and only where it has to.
SUDO = """#!/bin/sh
[ "$1 $2 $3" = "-k -S -p" ] || { echo "asked in another way: $*" >&2; exit 1; }
read -r given
[ "$given" = "pass'word x" ] || { echo "Sorry, try again." >&2; exit 1; }
shift 4
exec "$@"
"""


@pytest.fixture
def _fake_sudo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    register()
    (tmp_path / "bin").mkdir()
    for name in ("sudo", "ssh"):
        program = tmp_path / "bin" / name
        # ssh runs its last argument here, with the standard input that it was given.
        program.write_text(
            SUDO if name == "sudo" else '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n'
        )
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


def host_of(spec: str) -> Any:
    return testinfra.get_host(spec)


def test_g1_the_controller_has_its_inventory_s_name() -> None:
    register()
    host = host_of("here://rented-1")
    assert (host.backend.hostname, host.backend.get_pytest_id()) == ("rented-1", "here://rented-1")
    assert host.run("echo %s", "a b").stdout == "a b\n"


@pytest.mark.usefixtures("_fake_sudo")
@pytest.mark.parametrize("spec", ["here://lab?sudo=true", "ssh://lab?sudo=true"])
def test_sudo_gets_its_password_over_standard_input(monkeypatch: pytest.MonkeyPatch, spec: str) -> None:
    monkeypatch.setenv(PASSWORDS, json.dumps({"lab": "pass'word x", "other": "no"}))
    done = host_of(spec).run("echo %s; cat", "it's")
    assert (done.rc, done.stdout, done.stderr) == (0, "it's\n", "")
    assert "pass" not in done.command.decode()


@pytest.mark.usefixtures("_fake_sudo")
def test_a_wrong_password_is_a_failure_and_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORDS, json.dumps({"lab": "wrong"}))
    done = host_of("here://lab?sudo=true").run("true")
    assert (done.rc, done.stderr) == (1, "Sorry, try again.\n")


@pytest.mark.usefixtures("_fake_sudo")
def test_a_host_without_a_password_is_asked_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORDS, json.dumps({"other": "x"}))
    assert "asked in another way: /bin/sh" in host_of("here://lab?sudo=true").run("true").stderr
    monkeypatch.delenv(PASSWORDS)
    assert host_of("here://lab").run("true").rc == 0


def test_g1_the_suite_judges_this_machine_under_its_name(tmp_path: Path) -> None:
    put(tmp_path / "rented-1" / "run.json", run("rented-1"))
    command = [sys.executable, "-m", "pytest", "verify/suite", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [*command, "--evidence", str(tmp_path), "--hosts", "here://rented-1", "-k", "daemon_json"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (
        "test_daemon_json_is_a_json_object[here://rented-1]" in done.stdout + done.stderr
        or done.returncode == 0
    )
    assert "there is no" not in done.stderr
