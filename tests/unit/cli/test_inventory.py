from __future__ import annotations

import json
import os
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.cards import document, xml
from verify import cli, inventory
from verify.errors import VerifyError
from verify.inventory import AT_ONCE, Target, listed

HOSTS = """
gpu_hosts:
  vars:
    ansible_user: admin
    folder: "{{ inventory_dir }}/keys"
  hosts:
    lab-1:
      ansible_host: lab-1.example.org
      ansible_port: 2222
      ansible_ssh_private_key_file: "{{ folder }}/{{ inventory_hostname }}"
      ansible_ssh_common_args: "-F '{{ inventory_dir }}/my config' -o A=b"
    lab-2:
    here:
      ansible_connection: local
    box:
      ansible_connection: community.docker.docker
    odd:
      ansible_host: "{{ lookup('file', 'x') }}"
"""


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    path = tmp_path / "hosts.yml"
    path.write_text(HOSTS)
    return path


def test_connection_variables(hosts: Path) -> None:
    targets = {target.name: target for target in listed(hosts)}
    folder = hosts.parent.resolve()
    assert targets["lab-1"] == Target(
        "lab-1",
        "lab-1.example.org",
        ("-F", f"{folder}/my config", "-o", "A=b", "-p", "2222", "-l", "admin", "-i", f"{folder}/keys/lab-1"),
    )
    assert targets["lab-2"] == Target("lab-2", "lab-2", ("-l", "admin"))
    assert targets["here"].address is None
    assert "the doctor goes by ssh" in (targets["box"].problem or "")
    assert "only Ansible can fill" in (targets["odd"].problem or "")


def test_limit(hosts: Path) -> None:
    assert [target.name for target in listed(hosts, "lab-*")] == ["lab-1", "lab-2"]
    with pytest.raises(VerifyError, match="nobody"):
        listed(hosts, "nobody")


def test_what_is_no_inventory(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match="does not exist"):
        listed(tmp_path / "no")
    (tmp_path / "empty.yml").write_text("---\n")
    with pytest.raises(VerifyError, match="names no hosts"):
        listed(tmp_path / "empty.yml")


@pytest.mark.parametrize("content", ["{", "!\n(\n", "--\n<\n>\n|\n"])
def test_a_file_that_is_no_inventory_is_not_called_by_ssh(tmp_path: Path, content: str) -> None:
    (tmp_path / "notes").write_text(content)
    with pytest.raises(VerifyError, match="no inventory"):
        listed(tmp_path / "notes")


def test_one_name_that_is_none_is_its_own_row(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(
        "lab-1\n{\nbox ansible_host=2001:db8::1\nbad ansible_host=-oProxyCommand=x\n"
    )
    targets = {target.name: target for target in listed(tmp_path / "hosts")}
    assert (targets["lab-1"].problem, targets["box"].problem) == (None, None)
    for name in ("{", "bad"):
        assert "is no name or address of a host" in (targets[name].problem or "")


def test_an_inventory_without_a_name_is_not_this_folder(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["doctor", "--inventory", ""], ["record", "--out", " "], ["report", "--from", ""]):
        assert cli.main(arguments) == 2
        assert "is empty: name a file or a folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("ansible_port", "1.5", "ansible_port is 1.5"),
        ("ansible_host", "null", "ansible_host is null"),
        ("ansible_user", "[a, b]", 'ansible_user is ["a", "b"]'),
        ("ansible_port", "true", "ansible_port is true"),
        ("ansible_user", "!vault |\n        $ANSIBLE_VAULT;1.1;AES256\n        6162", "is a secret"),
    ],
)
def test_a_variable_of_the_wrong_kind_is_said_to_be_that(
    tmp_path: Path, key: str, value: str, says: str
) -> None:
    (tmp_path / "hosts.yml").write_text(f"all:\n  hosts:\n    h:\n      {key}: {value}\n")
    (target,) = listed(tmp_path / "hosts.yml")
    assert says in (target.problem or "")


def test_variables_that_are_empty_are_as_if_unset(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("h ansible_user='' ansible_ssh_common_args=''\n")
    assert listed(tmp_path / "hosts") == [Target("h", "h")]


@pytest.mark.parametrize(
    ("script", "says"),
    [("exit 3", "cannot read"), ("echo 'no json'", "cannot read"), ("echo '[]'", "cannot read")],
)
def test_an_ansible_inventory_that_fails(
    hosts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, says: str
) -> None:
    program = tmp_path / "ansible-inventory"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(VerifyError, match=says):
        listed(hosts)


def test_without_ansible(hosts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(VerifyError, match="is not installed here"):
        listed(hosts)


def test_a_row_a_host_and_the_one_that_cannot_be_reached_has_its_own(
    hosts: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def record(**how: Any) -> dict[str, Any]:
        asked.append(how)
        if how["host"] == "lab-2":
            raise VerifyError("cannot reach lab-2 by SSH: No route to host")
        return {"host": document(xml())}

    monkeypatch.setattr(inventory, "record_both", record)
    assert cli.main(["doctor", "--inventory", str(hosts), "--image", "a:b"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    for part in (
        "lab-1",
        "FAIL: unreachable",
        "0: working (97 %), 4.0 GiB free, hot 84 °C",
        "No route to host",
    ):
        assert part in text
    assert "the doctor goes by ssh" in text
    assert {how["host"] for how in asked} == {"lab-1.example.org", "lab-2", None}
    assert all(how["image"] == "a:b" for how in asked)
    assert cli.main(["doctor", "--inventory", str(hosts), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    rows = {row["host"]: row for row in told["hosts"]}
    assert (told["schema"], told["failed"]) == (1, True)
    assert rows["lab-1"]["cards"][0]["work"] == "working"
    assert rows["lab-2"]["cards"] == []


def test_several_at_once_and_never_more_than_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = "".join(f"    h{number}:\n" for number in range(AT_ONCE * 2))
    (tmp_path / "hosts.yml").write_text(f"all:\n  hosts:\n{names}")
    lock, running, most = threading.Lock(), [0], [0]

    def record(**_: Any) -> dict[str, Any]:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.05)
        with lock:
            running[0] -= 1
        raise VerifyError("no")

    monkeypatch.setattr(inventory, "record_both", record)
    assert cli.main(["doctor", "--inventory", str(tmp_path / "hosts.yml")]) == 1
    assert 1 < most[0] <= AT_ONCE
    capsys.readouterr()


@pytest.mark.parametrize(
    "arguments",
    [["--inventory", "x", "--host", "y"], ["--limit", "x"], ["--inventory", "x", "--recording", "y"]],
)
def test_what_does_not_go_together(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", *arguments]) == 2
    assert capsys.readouterr().err.startswith("gpu-verify: ")


def test_a_quote_that_is_never_closed_is_that_host_alone(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("one ansible_ssh_common_args='-o \"x'\ntwo\n")
    bad, good = listed(tmp_path / "hosts")
    assert "ansible_ssh_common_args cannot be split" in (bad.problem or "")
    assert good.problem is None
