from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from verify.errors import VerifyError
from verify.recording import Recording, RecordingError, load

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = {"schema": 1, "where": "host"}


def test_everything_but_the_head_may_be_absent() -> None:
    recording = Recording.from_document(MINIMAL)
    assert (recording.where, recording.simulated, recording.taken_at, recording.uid) == (
        "host",
        False,
        None,
        None,
    )
    assert recording.file("/etc/os-release") is None
    assert recording.command("uname") is None
    assert (recording.globs, recording.links, recording.paths, recording.disks, recording.env) == (
        {},
        {},
        {},
        {},
        {},
    )


def test_not_recorded_missing_and_unreadable_are_three_things() -> None:
    files = {"/a": {"missing": True}, "/b": {"error": "EACCES"}, "/c": {"text": ""}}
    recording = Recording.from_document({**MINIMAL, "files": files})
    found = {path: recording.file(path) for path in ("/a", "/b", "/c", "/d")}
    assert found["/d"] is None
    assert [(entry.missing, entry.error, entry.text) for entry in found.values() if entry] == [
        (True, None, None),
        (False, "EACCES", None),
        (False, None, ""),
    ]


def test_how_a_command_ended_in_words() -> None:
    commands = {
        "gone": {"argv": ["nvidia-smi"], "missing": True},
        "late": {"argv": ["docker"], "timed_out": True, "seconds": 10.0, "rc": None},
        "bad": {"argv": ["x"], "rc": 3, "stdout": "out", "stderr": "err"},
        "not run": {"argv": ["docker"], "error": "not run: asleep"},
    }
    recording = Recording.from_document({**MINIMAL, "commands": commands})
    entries = [entry for name in commands if (entry := recording.command(name))]
    assert [entry.ended for entry in entries] == [
        "nvidia-smi is not installed",
        "no answer within 10 s",
        "exit status 3",
        "not run: asleep",
    ]
    assert not any(entry.ok for entry in entries)
    assert entries[2].said == "out\nerr"


def test_unknown_keys_are_ignored() -> None:
    document = {**MINIMAL, "new": 1, "files": {"/a": {"text": "x", "lossy": True, "new": []}}}
    entry = Recording.from_document(document).file("/a")
    assert entry
    assert entry.text == "x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not"),
        ("[]", "a JSON object"),
        ("{}", "schema is None"),
        ('{"schema": true, "where": "host"}', "schema is True"),
        ('{"schema": 2, "where": "host"}', "reads schema 1"),
        ('{"schema": 1}', '"host" or "container"'),
        ('{"schema": 1, "where": "moon"}', '"host" or "container"'),
        ('{"schema": 1, "where": "host", "files": []}', "files must be an object, it is a list"),
        ('{"schema": 1, "where": "host", "files": {"/a": "text"}}', "'/a' must be an object, it is a string"),
        ('{"schema": 1, "where": "host", "commands": {"a": null}}', "it is null"),
        ('{"schema": 1, "where": "host", "env": 3}', "it is a number"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_bad_input_is_one_sentence(text: str, words: str) -> None:
    with pytest.raises(RecordingError) as caught:
        load(text)
    assert words in str(caught.value)
    assert "gpu-verify record" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, VerifyError)


def test_a_file_is_named_in_its_error(tmp_path: Path) -> None:
    path = tmp_path / "recording.json"
    with pytest.raises(RecordingError, match=r"recording\.json"):
        load(path)
    path.write_text("{")
    with pytest.raises(RecordingError, match=r"recording\.json: a recording is a JSON document"):
        load(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RecordingError, match="it is UTF-16"):
        load(path)
    path.write_text(json.dumps(MINIMAL))
    assert load(path).where == "host"


def test_a_number_beyond_all_numbers_is_none() -> None:
    document = {"schema": 1, "where": "host", "commands": {"a": {"timed_out": True, "seconds": 10**400}}}
    entry = Recording.from_document(document).command("a")
    assert entry is not None
    assert (entry.seconds, entry.ended) == (None, "no answer")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_what_windows_saved_is_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps(MINIMAL), encoding=encoding)
    assert load(tmp_path / "r.json").where == "host"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_what_powershell_saved_has_a_next_step(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "r.json").write_text(json.dumps(MINIMAL), encoding=encoding)
    with pytest.raises(RecordingError, match=r"r\.json: it is UTF-16.*--out FILE"):
        load(tmp_path / "r.json")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(b'{"schema": \xff}')
    with pytest.raises(RecordingError, match=r"r\.json: it is not UTF-8 .*gpu-verify record"):
        load(tmp_path / "r.json")


@pytest.mark.parametrize("uid", [-1, 10**4000, 2**32 - 1, True, "0", 0.0])
def test_a_user_that_cannot_be_is_none(uid: object) -> None:
    assert Recording.from_document({**MINIMAL, "uid": uid}).uid is None


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -float("inf"), 10**400, -3, "x"])
def test_a_time_that_cannot_be_is_not_said(seconds: object) -> None:
    commands = {"x": {"argv": ["x"], "timed_out": True, "seconds": seconds}, "y": {"rc": 10**400}}
    recording = Recording.from_document({**MINIMAL, "commands": commands})
    found = [entry.ended for name in commands if (entry := recording.command(name))]
    assert found == ["no answer", "did not run"]
