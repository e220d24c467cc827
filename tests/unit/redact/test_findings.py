"""Redacting changes no finding and no version, whatever a host and its people are called."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.checks import judge
from verify.recording import Recording
from verify.redact import redact

RECORDINGS = Path(__file__).resolve().parents[2] / "recordings"
FILES = sorted(RECORDINGS.glob("*.json"))
VERSION = re.compile(r"\d+\.\d+(?:\.\d+)*")
WORDS = [
    "docker",
    "nvidia",
    "gpu",
    "cuda",
    "driver",
    "host",
    "error",
    "kernel",
    "module",
    "open",
    "server",
    "version",
    "true",
    "null",
    "runtime",
    "cdi",
]
NAMES = st.one_of(
    st.sampled_from(WORDS),
    st.from_regex(r"[a-z][a-z0-9]{0,8}(-[a-z0-9]{1,4})?", fullmatch=True),
    st.from_regex(r"[a-z]{3,8}(\.[a-z]{2,6}){1,2}", fullmatch=True),
)


def judged(document: dict[str, Any]) -> list[tuple[str, str, str | None, list[str]]]:
    """Return of every finding what must not change: id, status, culprit, and the versions that it names."""
    recording = Recording.from_document(document)
    host = recording if recording.where == "host" else None
    container = recording if recording.where == "container" else None
    return [
        (f.id, f.status.value, f.culprit, VERSION.findall(f.summary)) for f in judge(host, container, None)
    ]


def lived_in(document: dict[str, Any], host: str, user: str) -> dict[str, Any]:
    """Return a recording of a host of that name, on which that user runs something."""
    mine = copy.deepcopy(document)
    commands = mine.setdefault("commands", {})
    commands["uname"] = {"argv": ["uname", "-a"], "rc": 0, "stdout": f"Linux {host} 6.12.1 #1 x86_64\n"}
    commands["gpu-processes"] = {"argv": [], "rc": 0, "stdout": f"  71 {user} python /home/{user}/x.py\n"}
    info = commands.get("docker-info", {})
    try:
        known = json.loads(info.get("stdout") or "")
    except ValueError:
        return mine
    if isinstance(known, dict):
        info["stdout"] = json.dumps({**known, "Name": host})
    return mine


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_recording_is_judged_alike_when_redacted(path: Path) -> None:
    document = json.loads(path.read_text())
    shown = redact(document, verbatim=False)
    assert judged(shown) == judged(document)
    assert redact(shown, verbatim=False) == shown


@settings(max_examples=60, deadline=None)
@given(path=st.sampled_from(FILES), host=NAMES, user=NAMES)
def test_no_name_of_a_host_or_a_user_changes_a_finding(path: Path, host: str, user: str) -> None:
    document = lived_in(json.loads(path.read_text()), host, user)
    shown = redact(document, verbatim=False)
    assert judged(shown) == judged(document)
    assert redact(shown, verbatim=False) == shown


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.text(alphabet='0123456789abcdef.:-@/ "=GPU\n', max_size=120))
def test_any_text_is_redacted_once_and_for_all(any_text: str, addresses: str) -> None:
    document = {"schema": 1, "where": "host", "files": {"/a": {"text": any_text}, "/b": {"text": addresses}}}
    shown = redact(document, verbatim=False)
    assert redact(shown, verbatim=False) == shown


@given(st.lists(st.from_regex(r"\d{3}\.\d{2,3}(\.\d{2})?", fullmatch=True), min_size=1, max_size=5))
def test_a_version_of_the_driver_is_never_touched(versions: list[str]) -> None:
    text = " and ".join(versions)
    document = {"schema": 1, "where": "host", "files": {"/a": {"text": text}}}
    assert redact(document)["files"]["/a"]["text"] == text
