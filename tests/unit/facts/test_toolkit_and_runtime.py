from __future__ import annotations

import json

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.cdi import CdiSpec
from verify.facts.daemon_file import DAEMON_JSON
from verify.facts.runtime import TOOLKIT_CONFIG, runtime_facts
from verify.facts.toolkit import toolkit_facts
from verify.facts.version import Version

SPEC = {"cdiVersion": "0.7.0", "kind": "nvidia.com/gpu", "devices": [{"name": "0"}, {"name": "all"}]}


@pytest.mark.parametrize(
    ("stdout", "packages"),
    [
        ("", {}),
        ("libnvidia-container1 1.20.2-1 installed\n", {"libnvidia-container1": "1.20.2-1"}),
        ("libnvidia-container1:amd64 1.20.2-1 installed\n", {"libnvidia-container1": "1.20.2-1"}),
        ("nvidia-container-toolkit 1.20.2-1 config-files\n", {}),
        ("nvidia-container-toolkit 1.20.2-1 half-configured\n", {}),
        ("nvidia-docker2 2.13.0-1 installed\n", {}),
        ("nvidia-container-toolkit 1.20.2-1\n", {}),
        ("junk\n\n", {}),
    ],
)
def test_packages(stdout: str, packages: dict[str, str]) -> None:
    assert toolkit_facts(recording(commands={"toolkit-packages": said(stdout, rc=1)})).packages == packages


@pytest.mark.parametrize(
    "entry", [None, {"argv": ["sh"], "missing": True}, {"argv": ["sh"], "timed_out": True}, {"argv": ["sh"]}]
)
def test_nobody_could_ask_the_package_manager(entry: dict[str, object] | None) -> None:
    assert toolkit_facts(recording(commands={"toolkit-packages": entry} if entry else {})).packages is None


@pytest.mark.parametrize("path", ["/etc/cdi/nvidia.json", "/var/run/cdi/nvidia.yaml"])
def test_a_specification_in_either_folder_and_form(path: str) -> None:
    found = toolkit_facts(recording(files={path: {"text": json.dumps(SPEC)}}))
    assert found.specs == (CdiSpec(path, ("0", "all"), Version.of(str(SPEC["cdiVersion"]))),)


@pytest.mark.parametrize(
    ("text", "unreadable"),
    [
        ("kind: [nvidia\n", True),
        ("- a list\n", True),
        ("kind: amd.com/gpu\n", False),
        ("!!python/object:os.system {}\n", True),
    ],
)
def test_what_is_no_specification_of_ours(text: str, *, unreadable: bool) -> None:
    found = toolkit_facts(recording(files={"/etc/cdi/x.yaml": {"text": text}}))
    assert (found.specs, bool(found.unreadable_specs)) == ((), unreadable)


def test_looked_and_found_nothing_is_not_nobody_looked() -> None:
    assert toolkit_facts(recording()).specs is None
    assert toolkit_facts(recording(globs={"/etc/cdi/*": []})).specs == ()


@pytest.mark.parametrize("entry", [None, {"error": "EACCES"}])
def test_a_specification_whose_text_is_unknown_is_not_absent(entry: dict[str, object] | None) -> None:
    files = {"/etc/cdi/nvidia.yaml": entry} if entry else {}
    found = toolkit_facts(recording(globs={"/etc/cdi/*": ["/etc/cdi/nvidia.yaml"]}, files=files))
    assert found.unread_specs == ("/etc/cdi/nvidia.yaml",)


@pytest.mark.parametrize(
    ("text", "path", "damage"),
    [
        (
            '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime", "args": []}}}',
            "nvidia-container-runtime",
            None,
        ),
        ('\ufeff{"runtimes": {"nvidia": {"path": "x"}}}', "x", None),  # dockerd accepts a byte order mark
        ('{"runtimes": {"nvidia": {"runtimeType": "io.containerd.x"}}}', "io.containerd.x", None),
        ('{"runtimes": {"nvidia": {}}}', None, None),
        ('{"runtimes": []}', None, None),
        ("{}", None, None),
        ("", None, None),
        (" \n", None, None),
        ("null", None, "it must hold a JSON object"),
        ('{"a": 1,}', None, "line 1, column"),
        ("{\n // note\n}", None, "line 2, column"),
        ("{'a': 1}", None, "line 1, column 2"),
        ("<html>", None, "line 1, column 1"),
        ('{"a":', None, "line 1"),
    ],
)
def test_daemon_json(text: str, path: str | None, damage: str | None) -> None:
    found = runtime_facts(recording(files={DAEMON_JSON: {"text": text}}))
    assert found.path == path
    assert (found.damage or "").startswith(damage or "")
    assert bool(found.damage) is bool(damage)
    assert found.empty is (text.strip() == "")


def test_missing_unreadable_and_not_recorded() -> None:
    missing = runtime_facts(recording(files={DAEMON_JSON: {"missing": True}}))
    unreadable = runtime_facts(recording(files={DAEMON_JSON: {"error": "EACCES"}}))
    unknown = runtime_facts(recording())
    assert [(f.recorded, f.readable) for f in (missing, unreadable, unknown)] == [
        (True, True),
        (True, False),
        (False, False),
    ]


@pytest.mark.parametrize(
    ("unit", "flag"),
    [
        ("ExecStart=/usr/bin/dockerd --add-runtime nvidia=/usr/bin/ncr", "/usr/bin/ncr"),
        ("ExecStart=/usr/bin/dockerd --add-runtime=nvidia=/usr/bin/ncr -H fd://", "/usr/bin/ncr"),
        ("ExecStart=/usr/bin/dockerd --add-runtime crun=/usr/bin/crun", None),
    ],
)
def test_a_runtime_by_flag(unit: str, flag: str | None) -> None:
    assert runtime_facts(recording(commands={"docker-unit": said(unit)})).by_flag == flag


@pytest.mark.parametrize(
    ("unit", "file"),
    [
        ("ExecStart=/usr/bin/dockerd -H fd://", DAEMON_JSON),
        ("ExecStart=/usr/bin/dockerd --config-file /srv/d.json -H fd://", "/srv/d.json"),
        ("ExecStart=/usr/bin/dockerd --config-file=/srv/d.json", "/srv/d.json"),
        (
            "ExecStart=/usr/bin/dockerd --config-file=/old\nExecStart=\nExecStart=/usr/bin/dockerd",
            DAEMON_JSON,
        ),
    ],
)
def test_a6_the_file_that_the_unit_names(unit: str, file: str) -> None:
    assert runtime_facts(recording(commands={"docker-unit": said(unit)})).config_file == file


@pytest.mark.parametrize(
    ("entry", "on", "damage"),
    [
        (None, None, False),
        ({"error": "EACCES"}, None, False),
        ({"missing": True}, False, False),
        ({"text": ""}, False, False),
        ({"text": "[nvidia-container-cli]\n#no-cgroups = true\n"}, False, False),
        ({"text": "[nvidia-container-cli]\nno-cgroups = true\n"}, True, False),
        ({"text": "[nvidia-container-cli]\nno-cgroups = false\n"}, False, False),
        ({"text": "no-cgroups = true\n"}, False, False),
        ({"text": "[nvidia-container-runtime]\nno-cgroups = true\n"}, False, False),
        ({"text": "nvidia-container-cli = 1\n"}, False, False),
        ({"text": "[nvidia-container-cli\n"}, None, True),
    ],
)
def test_a8_the_switch(
    entry: dict[str, object] | None,
    on: bool | None,  # noqa: FBT001
    damage: bool,  # noqa: FBT001
) -> None:
    files = {TOOLKIT_CONFIG: entry} if entry else {}
    found = runtime_facts(recording(files=files))
    assert (found.no_cgroups, bool(found.config_damage)) == (on, damage)
