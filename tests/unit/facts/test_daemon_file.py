"""daemon.json: damage, keys that a flag sets too, and what a backup still holds (cases A1, A2, A3, A5)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.daemon_file import DAEMON_JSON, DaemonFileFacts, daemon_file_facts
from verify.facts.daemon_flags import command_line, flags

UNIT = "[Service]\nExecStart=/usr/bin/dockerd -H fd:// --containerd=/run/containerd/containerd.sock\n"
RUNTIMES = '"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}'


def read(text: str | None = "{}", unit: str = UNIT, **entry: object) -> DaemonFileFacts:
    file = {**({} if text is None else {"text": text}), **entry}
    return daemon_file_facts(recording(files={DAEMON_JSON: file}, commands={"docker-unit": said(unit)}))


@pytest.mark.parametrize(
    ("text", "damage"),
    [
        ('{\n  "debug": true,\n}\n', "line 2, column 16: a comma before a closing bracket"),
        ('{\n  "debug": true\n  "ipv6": false\n}\n', "line 3, column 3: a comma is missing before this"),
        ('{"labels": ["x"]},\n "debug": true}', "line 1, column 18: more text after the end of the object"),
        ("<html>\n", "line 1, column 1: a web page"),
        ('{\n  // mine\n  "debug": true\n}', "line 2, column 3: a comment"),
        ('# mine\n{"debug": true}', "line 1, column 1: a comment"),
        ("{\n  'debug': true\n}", "line 2, column 3: single quotes"),
        ('{"debug": true', "the file ends too early"),
        ("[]", "it must hold a JSON object"),
        ("", "it is empty (0 bytes)"),
        (" \n", "it is empty (2 bytes)"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a2_a3_damage_is_pointed_at(text: str, damage: str) -> None:
    assert damage in (read(text).damage or "")


@pytest.mark.parametrize("text", ["{}", '\ufeff{"debug": true}', '{"big": 123456789012345678901234567890}'])
def test_a2_what_dockerd_reads_is_no_damage(text: str) -> None:
    assert read(text).damage is None


def test_a3_a_directory_and_a_link_to_nowhere() -> None:
    assert read(None, error="EISDIR").damage == "it is a directory"
    assert read(None, error="EACCES").recorded is False
    found = daemon_file_facts(
        recording(files={DAEMON_JSON: {"missing": True}}, links={DAEMON_JSON: "/nowhere"})
    )
    assert (found.missing, found.dangling) == (True, "/nowhere")
    assert daemon_file_facts(recording()).recorded is False


@pytest.mark.parametrize(
    ("unit", "document", "keys"),
    [
        (UNIT, '{"hosts": ["tcp://0.0.0.0:2376"]}', ["hosts"]),
        (UNIT, "{" + RUNTIMES + "}", []),
        (UNIT + "ExecStart=\nExecStart=/usr/bin/dockerd\n", '{"hosts": ["unix:///x"]}', []),
        ("ExecStart=/usr/bin/dockerd \\\n  --mtu 9000\n", '{"mtu": 1500}', ["mtu"]),
        ("ExecStart=/usr/bin/dockerd -D\n", '{"debug": false}', ["debug"]),
        ("ExecStart=/usr/bin/dockerd -Dl info\n", '{"log-level": "warn"}', ["log-level"]),
        ("ExecStart=/usr/bin/dockerd -s overlay2\n", '{"storage-driver": "vfs"}', ["storage-driver"]),
        ("ExecStart=/usr/bin/dockerd --dns-opt=x\n", '{"dns-opts": []}', ["dns-opts"]),
        # The one key that may be in both.
        ("ExecStart=/usr/bin/dockerd --add-runtime nvidia=/usr/bin/x\n", "{" + RUNTIMES + "}", []),
        ("# ExecStart=/usr/bin/dockerd --debug\n", '{"debug": true}', []),
        ("[Unit]\nExecStart=/usr/bin/dockerd --debug\n", '{"debug": true}', []),
        ("", '{"debug": true}', []),
    ],
)  # fmt: skip
def test_a5_a_key_that_a_flag_sets_too(unit: str, document: str, keys: list[str]) -> None:
    assert [key for key, _, _ in read(document, unit).flagged] == keys


def test_a5_another_file_by_a_flag_is_the_one_that_is_read() -> None:
    unit = "ExecStart=/usr/bin/dockerd --config-file=/etc/docker/other.json\n"
    found = daemon_file_facts(
        recording(
            files={"/etc/docker/other.json": {"text": "{,}"}, DAEMON_JSON: {"text": "{}"}},
            commands={"docker-unit": said(unit)},
        )
    )
    assert found.path == "/etc/docker/other.json"
    assert found.damage


def test_a5_a_quote_that_is_never_closed_ends_nothing() -> None:
    assert (
        flags(command_line('[Service]\nExecStart=/usr/bin/dockerd --label "a b\n', lambda _: None))[0][0]
        == "label"
    )


def test_a5_what_a_variable_of_the_unit_says_counts() -> None:
    unit = "[Service]\nEnvironment=OPTS='--data-root /data'\nExecStart=/usr/bin/dockerd $OPTS $UNKNOWN\n"
    facts = read('{"data-root": "/srv"}', unit)
    assert facts.flagged == (("data-root", "--data-root /data", "/srv"),)


def test_the_modules_have_the_same_parser() -> None:
    """Neither can import the other's: the file stands twice, and must stay one."""
    root = Path(__file__).resolve().parents[3]
    copies = [
        (root / name).read_bytes()
        for name in ("verify/facts/daemon_flags.py", "plugins/module_utils/gpu_host_daemon_flags.py")
    ]
    assert copies[0] == copies[1], (
        "cp plugins/module_utils/gpu_host_daemon_flags.py verify/facts/daemon_flags.py"
    )


def backed_up(now: str, **backups: tuple[str, str]) -> DaemonFileFacts:
    files = {
        f"{DAEMON_JSON}.{name}": {"text": text, "mtime": mtime} for name, (text, mtime) in backups.items()
    }
    return daemon_file_facts(recording(files={DAEMON_JSON: {"text": now}, **files}))


def test_a1_keys_that_the_newest_backup_has_and_the_file_lost() -> None:
    before = json.dumps(
        {
            "log-driver": "journald",
            "log-opts": {"tag": "x"},
            "exec-opts": ["native.cgroupdriver=systemd"],
            "default-runtime": "kata",
            "runtimes": {"kata": {"path": "kata"}, "nvidia": {"path": "/opt/x"}},
        }
    )
    found = backed_up(
        "{" + RUNTIMES + "}", old=("{}", "2026-11-01T00:00:00Z"), new=(before, "2026-11-02T00:00:00Z")
    )
    assert found.backup == f"{DAEMON_JSON}.new"
    assert found.lost == ("default-runtime", "exec-opts", "log-driver", "log-opts.tag", "runtimes.kata")


@pytest.mark.parametrize(
    "before",
    [
        "{}",
        '{"runtimes": {"nvidia": {"path": "x"}}, "default-runtime": "nvidia", "features": {"cdi": true}}',
        "{damaged",
        "",
    ],
)
def test_a1_a_backup_of_what_is_ours_or_of_nothing_is_no_loss(before: str) -> None:
    assert backed_up("{}", bak=(before, "2026-11-01T00:00:00Z")).lost == ()


def test_a1_a_damaged_file_is_not_compared() -> None:
    assert backed_up("{,", bak=('{"debug": true}', "2026-11-01T00:00:00Z")).lost == ()
