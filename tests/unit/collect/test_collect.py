"""Staging what hosts said, and making it evidence: nothing is lost, nobody is left out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from verify import collect
from verify.errors import VerifyError
from verify.facts.card import QUERY_FIELDS
from verify.race import RACE_VERSION, SCHEMA
from verify.race.settings import settings_for

Given = dict[str, Any]
HOST = {
    "schema": 1,
    "where": "host",
    "simulated": True,
    "files": {},
    "commands": {
        "image-inspect": {"argv": ["docker"], "rc": 0, "stdout": '[{"Id": "sha256:abc"}]', "stderr": ""},
        "uname": {"argv": ["uname", "-a"], "rc": 0, "stdout": "Linux 10.1.2.3\n", "stderr": ""},
    },
}
ROW = ", ".join(
    {"name": "A card (simulated)", "driver_version": "550.1"}.get(field, "0") for field in QUERY_FIELDS
)
CONTAINER = {
    "schema": 1,
    "where": "container",
    "simulated": True,
    "commands": {"nvidia-smi-query": {"argv": ["nvidia-smi"], "rc": 0, "stdout": ROW + "\n", "stderr": ""}},
}


def given(host: str = "a", **changes: Any) -> Given:
    return {
        "host": host, "image": "race:1", "expected": [], "raw": False, "race": "cached", "repeats": None,
        "budget": "60s", "network": "mlp", "price_cpu": None, "price_card": None, "currency": "EUR",
        "deadline": 90, "provisioned": None, "unreachable": None, "detail": None, "stderr": "",
        "recording_host": json.dumps(HOST), "recording_container": json.dumps(CONTAINER), **changes,
    }  # fmt: skip


def finished_race(image_digest: str = "sha256:abc") -> Given:
    return {
        "schema": SCHEMA, "host": "a", "image_digest": image_digest, "versions": {"race": RACE_VERSION},
        "card": {"name": "A card (simulated)", "driver": "550.1"}, "settings": settings_for().document(),
        "contestants": [{"name": "network", "lanes": [{"name": "cpu", "status": "ran", "reason": None}]}],
    }  # fmt: skip


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    collect.start(tmp_path, {"hosts": ["a", "b"]})
    return tmp_path


def run_json(evidence: Path, host: str = "a") -> Given:
    document: Given = json.loads((evidence / collect.STAGING / host / "run.json").read_text())
    return document


def test_start_says_what_runs_on_a_host_and_forgets_an_interrupted_run(tmp_path: Path) -> None:
    left = tmp_path / collect.STAGING / "old" / "run.json"
    left.parent.mkdir(parents=True)
    left.write_text("{}")
    program = collect.start(tmp_path, {"hosts": ["a"]})
    assert not left.exists()
    assert any("{image}" in word for word in program["host"])
    assert program["container"][:2] == ["sh", "-c"]
    compile(program["recorder"], "recorder.py", "exec")


def test_a_recorded_host_is_staged_redacted_and_its_race_is_due(evidence: Path) -> None:
    answer = collect.stage(evidence, given())
    assert answer["race"] == "due"
    gpus = answer["argv"].index("--gpus")
    assert answer["argv"][gpus + 1] == "all"
    assert run_json(evidence)["collection"] == {"outcome": "ok", "detail": None}
    assert run_json(evidence)["image_digest"] == "sha256:abc"
    assert "10.1.2.3" not in (evidence / collect.STAGING / "a" / "recording-host.json").read_text()


def test_raw_keeps_addresses(evidence: Path) -> None:
    collect.stage(evidence, given(raw=True))
    assert "10.1.2.3" in (evidence / collect.STAGING / "a" / "recording-host.json").read_text()


@pytest.mark.parametrize(
    ("changes", "outcome", "detail"),
    [
        ({"unreachable": "no route\nto host"}, "unreachable", "no route to host"),
        ({"detail": "Record the host: timed out"}, "timed-out", "Record the host: timed out"),
        ({"stderr": "sh: 1: python3: not found\n"}, "failed", "sh: 1: python3: not found"),
        ({}, "failed", "the recorder printed no recording"),
    ],
)
def test_a_host_that_was_not_recorded_says_why(
    evidence: Path, changes: Given, outcome: str, detail: str
) -> None:
    answer = collect.stage(evidence, given(recording_host="", recording_container="", **changes))
    assert answer == {"race": "no", "argv": []}
    assert run_json(evidence)["collection"] == {"outcome": outcome, "detail": detail}


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 2, "where": "host"}', '{"where"'])
def test_what_is_no_recording_is_not_staged_as_one(evidence: Path, text: str) -> None:
    collect.stage(evidence, given(recording_host=text))
    assert not (evidence / collect.STAGING / "a" / "recording-host.json").exists()


def test_a_race_on_the_same_machine_is_reused(evidence: Path) -> None:
    (evidence / "a").mkdir()
    (evidence / "a" / "race.json").write_text(json.dumps(finished_race()))
    assert collect.stage(evidence, given())["race"] == "cached"
    assert (evidence / collect.STAGING / "a" / "race.json").exists()
    assert collect.stage(evidence, given(race="always"))["race"] == "due"
    assert collect.stage(evidence, given(race="never"))["race"] == "no"


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps(finished_race("sha256:other"))])
def test_another_image_or_a_damaged_race_is_run_again(evidence: Path, text: str) -> None:
    (evidence / "a").mkdir()
    (evidence / "a" / "race.json").write_text(text)
    assert collect.stage(evidence, given())["race"] == "due"


def test_a_race_that_did_not_end_leaves_no_file(evidence: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collect.stage(evidence, given())
    assert collect.race(evidence, {"host": "a", "race": "", "stderr": "race: killed"}) == {"staged": False}
    assert "killed" in capsys.readouterr().err
    assert not (evidence / collect.STAGING / "a" / "race.json").exists()


def test_a_host_that_staged_nothing_has_a_row_and_counts_as_failed(evidence: Path) -> None:
    collect.stage(evidence, given())
    assert collect.complete(evidence, {}) == {"unreachable": ["b"]}
    (evidence / "b").mkdir()
    (evidence / "b" / "old").write_text("from an earlier run")
    published = collect.publish(evidence, {})
    assert published["hosts"] == ["a", "b"]
    assert published["failed"]
    assert "b" in (evidence / "failed.hosts").read_text().split()
    assert not (evidence / "b" / "old").exists()
    assert not (evidence / collect.STAGING).exists()


def test_evidence_of_hosts_outside_this_run_stays(evidence: Path) -> None:
    collect.stage(evidence, given())
    collect.complete(evidence, {})
    collect.publish(evidence, {})
    collect.start(evidence, {"hosts": ["a"]})
    collect.stage(evidence, given())
    collect.complete(evidence, {})
    collect.publish(evidence, {})
    assert (evidence / "b" / "run.json").exists()


def test_what_an_interrupted_run_left_is_in_nobodys_way(evidence: Path) -> None:
    for left in ("a", ".a.old"):
        (evidence / left).mkdir()
        (evidence / left / "old").write_text("from an earlier run")
    collect.stage(evidence, given())
    collect.publish(evidence, {})
    assert not (evidence / "a" / "old").exists()
    assert not (evidence / ".a.old").exists()


def test_the_command_speaks_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"hosts": ["a"]}'))
    assert collect.main(["start", "--evidence", str(tmp_path)]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"recorder", "host", "container", "cleanup"}


@pytest.mark.parametrize(
    "host", ["../a", "/etc", "a/b", ".a", "", "a\nb", "\x1b[31m", "hosts.json", "README.md"]
)
def test_a_host_name_that_leads_elsewhere_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(VerifyError, match="cannot be the name of a folder"):
        collect.start(tmp_path, {"hosts": ["a", host]})
    with pytest.raises(VerifyError, match="cannot be the name of a folder"):
        collect.stage(tmp_path, given(host))


@pytest.mark.parametrize("said", ["[]", "3", "null", "{}", '{"contestants": 3}', "[" * 20000])
def test_a_race_that_is_none_keeps_nobody_from_the_reports(evidence: Path, said: str) -> None:
    collect.stage(evidence, given())
    assert collect.race(evidence, {"host": "a", "race": said, "stderr": ""}) == {"staged": False}
    assert collect.complete(evidence, {}) == {"unreachable": ["b"]}


def test_input_that_is_not_json_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert collect.main(["start", "--evidence", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("start: ")
