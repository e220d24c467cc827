"""A host on which Ansible's modules do not run: what its shell answers, and the one sentence or command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.filter.gpu_host_first_contact import INSTALLS, QUESTION, first_contact

ROOT = Path(__file__).resolve().parents[3]
NO_PYTHON = {
    "msg": "The module interpreter '/usr/bin/python3' was not found.",
    "module_stderr": "/bin/sh: 1: /usr/bin/python3: not found\n",
}


def answer(uid: int = 0, user: str = "root", **more: str) -> str:
    lines = [f"uid={uid}", f"user={user}"]
    for key, value in more.items():
        lines += [f"has={name}" for name in value.split()] if key == "has" else [f"{key}={value}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("has", "manager", "packages"),
    [
        ("apt-get", "apt-get", "python3, python3-apt"),
        ("dnf yum", "dnf", "python3"),
        ("microdnf", "microdnf", "python3"),
        ("yum", "yum", "python3"),
    ],
)
def test_g5_python_comes_by_the_host_s_own_package_manager(has: str, manager: str, packages: str) -> None:
    found = first_contact(answer(has=has), NO_PYTHON)
    assert found == {"reason": "", "install": INSTALLS[manager], "manager": manager, "packages": packages}


def test_g5_a_user_with_sudo_will_do() -> None:
    found = first_contact(answer(1000, "admin", has="apt-get sudo", sudo="yes"), NO_PYTHON)
    assert (found["reason"], found["manager"]) == ("", "apt-get")
    # A password that Ansible has been given is no obstacle: what failed was Python, not sudo.
    asks = answer(1000, "admin", has="apt-get sudo", sudo="sudo: a password is required")
    assert first_contact(asks, NO_PYTHON)["manager"] == "apt-get"


def test_g5_no_package_manager_is_said() -> None:
    found = first_contact(answer(), NO_PYTHON)
    assert (found["install"], found["reason"].startswith("There is no Python on this host")) == ("", True)


def failed(words: str) -> dict[str, Any]:
    return {
        "msg": "Module result deserialization failed: No start of json char found",
        "module_stderr": words,
    }


@pytest.mark.parametrize(
    ("said", "words", "sentence"),
    [
        # As ansible-core 2.21 and Debian 13's sudo say it.
        ("sudo: a password is required", "sudo: a password is required", "sudo asks for admin's password"),
        ("sudo: a password is required", "Missing sudo password", "sudo asks for admin's password"),
        (
            "sudo: a password is required",
            "Sorry, try again.\npassword: sudo: no password was provided\nsudo: 1 incorrect password attempt",
            "sudo does not take the password",
        ),
        ("sudo: a password is required", "Incorrect sudo password", "sudo does not take the password"),
        ("sudo: a password is required", "admin is not in the sudoers file.", "may not use sudo"),
        (
            "Sorry, user admin may not run sudo on lab.",
            "Sorry, user admin is not allowed to execute '/bin/sh' as root on lab.",
            "may not use sudo",
        ),
        (None, "/bin/sh: 1: sudo: not found", "there is no sudo on this host"),
    ],
)
def test_no_way_to_root_is_one_sentence(said: str | None, words: str, sentence: str) -> None:
    more = {"has": "apt-get sudo", "sudo": said} if said else {"has": "apt-get"}
    for python in ({"python": "3.13"}, {}):
        reason = first_contact(answer(1000, "admin", **more, **python), failed(words))["reason"]
        assert sentence in reason
        assert "Needed is" in reason


def test_g5_an_interpreter_of_the_controller_s_that_leaked() -> None:
    words = {"msg": "The module interpreter '/opt/venv/bin/python' was not found."}
    found = first_contact(answer(has="apt-get", python="3.11"), words, "/opt/venv/bin/python")
    assert "ansible_python_interpreter is /opt/venv/bin/python, which is not on this host" in found["reason"]
    assert "3.11" in found["reason"]
    assert found["install"] == ""


def test_any_other_failure_keeps_its_own_words() -> None:
    old = {
        "msg": "Task failed: ansible-core requires a minimum of Python version 3.9.\nCurrent version: 3.6.8"
    }
    assert first_contact(answer(python="3.6"), old)["reason"].startswith("ansible-core requires a minimum")
    assert first_contact("", old)["reason"].startswith("ansible-core requires a minimum")
    assert first_contact("", {})["reason"] == "The host gave no answer that can be read."


@given(st.text(), st.dictionaries(st.sampled_from(["msg", "module_stderr", "stderr"]), st.text()))
def test_g5_whatever_is_answered_there_is_a_reason_or_a_way(said: str, failure: dict[str, str]) -> None:
    found = first_contact(said, failure)
    assert found["reason"] or found["install"]


def test_g5_the_question_is_answered_by_a_plain_shell(tmp_path: Path) -> None:
    """Without Python and without sudo on PATH, as on a minimal image."""
    (tmp_path / "id").symlink_to(str(shutil.which("id")))
    (tmp_path / "apt-get").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "apt-get").chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-c", QUESTION], env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        f"uid={os.getuid()}",
        f"user={done.stdout.splitlines()[1][5:]}",
        "has=apt-get",
    ]
    assert done.stderr == ""


def test_g5_provisioning_says_which_interpreter_is_missing() -> None:
    """The playbook itself, on this machine and dry: its first look fails, and one sentence says why."""
    done = subprocess.run(
        [
            Path(sys.executable).with_name("ansible-playbook"), "playbooks/preflight.yml", "-c", "local",
            "-i", "tests/unit/plugins/hosts/local.ini", "--check",
        ],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg")},
    )  # fmt: skip
    said = " ".join(done.stdout.split())
    assert done.returncode == 2
    assert "ansible_python_interpreter is /no/such/python, which is not on this host" in said
    assert "rescued=1" in said
