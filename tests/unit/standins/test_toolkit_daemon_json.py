"""The stand-in's ``runtime configure`` against the table measured on the real nvidia-ctk 1.20.0."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.standins.toolkit.simulated_toolkit import ctk, go_json

if TYPE_CHECKING:
    from pathlib import Path

CONFIGURED = """{
    "runtimes": {
        "nvidia": {
            "args": [],
            "path": "nvidia-container-runtime"
        }
    }
}"""


def configure(path: Path, *options: str) -> int:
    return ctk.main(["runtime", "configure", "--runtime=docker", f"--config={path}", *options], "1.20.2")


@pytest.fixture
def daemon_json(tmp_path: Path) -> Path:
    return tmp_path / "docker" / "daemon.json"


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_absent_file_is_made(daemon_json: Path) -> None:
    assert configure(daemon_json) == 0
    assert daemon_json.read_text() == CONFIGURED


def test_empty_object_and_second_run_give_the_same_bytes(daemon_json: Path) -> None:
    written(daemon_json, "{}")
    assert [configure(daemon_json), configure(daemon_json)] == [0, 0]
    assert daemon_json.read_text() == CONFIGURED


def test_other_settings_and_runtimes_are_kept(daemon_json: Path) -> None:
    written(daemon_json, '{"log-driver": "local", "runtimes": {"crun": {"path": "/usr/bin/crun"}}}')
    assert configure(daemon_json) == 0
    after = json.loads(daemon_json.read_text())
    assert after["log-driver"] == "local"
    assert set(after["runtimes"]) == {"crun", "nvidia"}


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("", "EOF"),
        (" \n", "EOF"),
        ('{"a": 1,}', "invalid character '}' looking for beginning of object key string"),
        ('{"a": [1,]}', "invalid character ']' looking for beginning of value"),
        ("// comment\n{}", "invalid character '/' looking for beginning of value"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a": 1 "b": 2}', "invalid character '\\\"' after object key:value pair"),
        ('{"a": [1 2]}', "invalid character '2' after array element"),
        ('{"a": NaN}', "invalid character 'N' looking for beginning of value"),
        ('{"a": ', "unexpected EOF"),
        ('{"a": "b', "unexpected EOF"),
        ("\ufeff{}", "invalid character 'ï' looking for beginning of value"),
        ("[]", "json: cannot unmarshal array into Go value of type docker.Config"),
    ],
)
def test_what_go_cannot_read_is_refused_and_left_alone(
    daemon_json: Path, before: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    written(daemon_json, before)
    assert configure(daemon_json) == 1
    assert f"unable to load config for runtime docker: {said}" in capsys.readouterr().err
    assert daemon_json.read_text() == before


@pytest.mark.parametrize("before", ["null", '{"runtimes": []}'])
def test_go_panics(daemon_json: Path, before: str) -> None:
    written(daemon_json, before)
    assert configure(daemon_json) == 2
    assert daemon_json.read_text() == before


def test_default_and_cdi_on_request(daemon_json: Path) -> None:
    written(daemon_json, '{"features": {"containerd-snapshotter": true}}')
    assert configure(daemon_json, "--set-as-default", "--cdi.enabled") == 0
    after = json.loads(daemon_json.read_text())
    assert after["default-runtime"] == "nvidia"
    assert after["features"] == {"cdi": True}, "the real one drops the other features too"


def test_it_never_unsets(daemon_json: Path) -> None:
    written(daemon_json, '{"features": {"cdi": true}}')
    assert configure(daemon_json, "--cdi.enabled=false") == 0
    assert json.loads(daemon_json.read_text())["features"] == {"cdi": True}


def test_an_existing_nvidia_runtime_is_replaced_whole(daemon_json: Path) -> None:
    written(daemon_json, '{"runtimes": {"nvidia": {"path": "/opt/x", "args": ["--debug"], "options": {}}}}')
    configure(daemon_json)
    assert daemon_json.read_text() == CONFIGURED


def test_trailing_garbage_is_cut_off_and_the_last_of_equal_keys_counts(daemon_json: Path) -> None:
    written(daemon_json, '{"a": 1, "a": 2} trailing')
    assert configure(daemon_json) == 0
    assert json.loads(daemon_json.read_text())["a"] == 2


def test_dry_run_writes_nothing(daemon_json: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert configure(daemon_json, "--dry-run") == 0
    assert not daemon_json.exists()
    assert capsys.readouterr().out == CONFIGURED + "\n"


def test_other_engines_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ctk.main(["runtime", "configure", "--runtime=crio", f"--config={tmp_path / 'x'}"], "1.20.2") == 1
    assert "simulated" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("12345678901234567890", "12345678901234567168"),
        ("1e30", "1e+30"),
        ("2.5", "2.5"),
        ("-0", "0"),
        ('"<a>&"', '"\\u003ca\\u003e\\u0026"'),
        ("{}", "{}"),
        ("[true, null]", "[\n    true,\n    null\n]"),
    ],
)
def test_what_go_writes_back(text: str, again: str) -> None:
    value: Any = go_json.loads(text)
    assert go_json.dumps(value) == again
