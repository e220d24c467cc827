"""The judging suite reaches hosts as Ansible does: what ssh itself makes of the file that is written."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.filter.gpu_host_ssh import arguments, ssh_options, ways

TEMPLATE = Path(__file__).resolve().parents[3] / "roles/gpu_verify/templates/ssh_config.j2"
FALLBACK = {"User": "", "Port": "", "IdentityFile": "", "password_file": "", "here_uid": "1000"}


def config(
    hosts: dict[str, dict[str, Any]], includes: list[str] | None = None, **fallback: str
) -> tuple[str, dict[str, Any]]:
    found = ways(hosts, list(hosts), {**FALLBACK, **fallback})
    environment = jinja2.Environment(trim_blocks=True, keep_trailing_newline=True, autoescape=False)  # noqa: S701
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    made = template.render(
        __gpu_verify_ways=found, __gpu_verify_includes=includes or [], lookup=lambda *_: "/home/u"
    )
    return made, found


def resolved(tmp_path: Path, hosts: dict[str, dict[str, Any]], name: str, **more: Any) -> dict[str, str]:
    """Return what ssh would do, by ssh -G."""
    file = tmp_path / "ssh_config"
    file.write_text(config(hosts, **more)[0], encoding="utf-8")
    done = subprocess.run(["ssh", "-G", "-F", file, name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {key: value for key, _, value in (line.partition(" ") for line in done.stdout.splitlines())}


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        (
            {"ansible_host": "203.0.113.10", "ansible_port": 2222},
            {"hostname": "203.0.113.10", "port": "2222"},
        ),
        ({"ansible_user": "debian"}, {"user": "debian"}),
        ({"ansible_ssh_user": "old", "ansible_user": "new"}, {"user": "old"}),
        ({"ansible_ssh_private_key_file": "/k/a key"}, {"identityfile": "/k/a key"}),
        ({"ansible_private_key_file": "/k/id"}, {"identityfile": "/k/id"}),
        (
            {"ansible_ssh_common_args": "-o ProxyJump=admin@jump.example:22"},
            {"proxyjump": "admin@jump.example:22"},
        ),
        (
            {"ansible_ssh_common_args": "-J jump.example -4"},
            {"proxyjump": "jump.example", "addressfamily": "inet"},
        ),
        (
            {"ansible_ssh_common_args": "-o ProxyCommand=\"ssh -W %h:%p -q 'u@jump'\""},
            {"proxycommand": "ssh -W %h:%p -q 'u@jump'"},
        ),
        ({"ansible_ssh_extra_args": "-oConnectTimeout=7 -p2022"}, {"connecttimeout": "7", "port": "2022"}),
        ({"ansible_ssh_args": "-o ControlPersist=5s"}, {"controlpersist": "5"}),
        ({"ansible_host_key_checking": False}, {"stricthostkeychecking": "false"}),
        ({}, {"stricthostkeychecking": "true", "batchmode": "yes"}),
    ],
)
def test_g1_what_ssh_makes_of_an_inventory(
    tmp_path: Path, variables: dict[str, Any], expected: dict[str, str]
) -> None:
    found = resolved(tmp_path, {"lab": variables, "other": {"ansible_user": "somebody"}}, "lab")
    assert {key: found.get(key) for key in expected} == expected


def test_g1_one_host_s_settings_are_no_other_s(tmp_path: Path) -> None:
    hosts = {"lab": {"ansible_ssh_common_args": "-J jump.example"}, "lab2": {"ansible_host": "192.0.2.2"}}
    assert "proxyjump" not in resolved(tmp_path, hosts, "lab2")


def test_g1_the_user_s_own_ssh_file_is_included(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("Host lab\n  HostName 192.0.2.9\n  User own\n", encoding="utf-8")
    found = resolved(tmp_path, {"lab": {"ansible_ssh_common_args": f"-F {own}"}}, "lab")
    assert (found["hostname"], found["user"]) == ("192.0.2.9", "own")
    text = config({"lab": {}})[0]
    assert text.rstrip().endswith("Include /etc/ssh/ssh_config")
    # A simulation's own file is all that there is: the person's must not lead elsewhere.
    assert "~/.ssh/config" not in config({"lab": {"gpu_verify_ssh_config": "/x"}}, includes=["/x"])[0]


def test_ansible_s_own_configuration_counts_where_the_inventory_is_silent(tmp_path: Path) -> None:
    found = resolved(tmp_path, {"lab": {}}, "lab", User="deploy", Port="2200")
    assert (found["user"], found["port"]) == ("deploy", "2200")


def test_g1_hosts_as_testinfra_takes_them(tmp_path: Path) -> None:
    asked = tmp_path / "password"
    asked.write_text("asked for\n", encoding="utf-8")
    hosts: dict[str, dict[str, Any]] = {
        "here": {"ansible_connection": "local"},
        "root": {"ansible_user": "root"},
        "lab": {"ansible_become_password": "s3cret"},
        "plain": {},
    }
    found = ways(hosts, list(hosts), {**FALLBACK, "password_file": str(asked)})
    assert found["hosts"] == [
        "here://here?sudo=true",
        "ssh://root",
        "ssh://lab?sudo=true",
        "ssh://plain?sudo=true",
    ]
    assert found["passwords"] == {"here": "asked for", "lab": "s3cret", "plain": "asked for"}
    assert set(found["ssh"]) == {"root", "lab", "plain"}
    assert ways(hosts, ["here"], {**FALLBACK, "here_uid": "0"})["hosts"] == ["here://here"]


def test_what_has_no_line_is_kept_as_a_comment() -> None:
    assert arguments("-X -J 'half") == ["# cannot be read (No closing quotation): -X -J 'half"]
    assert arguments("-X -v -o") == ["# has no line in an ssh_config: -X", " "]


@given(st.text(), st.text())
def test_no_setting_becomes_a_line_of_its_own(value: str, arguments: str) -> None:
    lines = ssh_options({"ansible_host": value, "ansible_ssh_common_args": arguments})
    assert all(len(line.splitlines()) <= 1 for line in lines)
