from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.report.helpers import RACE, SMI_TABLE, put, recording
from verify import cli
from verify.errors import VerifyError
from verify.report.evidence import nvidia_smi_text, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_what_is_written(evidence: Path) -> None:
    fleet = write(evidence)
    assert [host.host for host in fleet.hosts] == ["lab-2", "sim-lab-1"]
    assert set(snapshot(evidence)) == {
        "README.md",
        "failed.hosts",
        "index.html",
        "lab-2/run.json",
        "lab-2/findings.json",
        "lab-2/junit.xml",
        "lab-2/gpu-host.prom",
        "sim-lab-1/run.json",
        "sim-lab-1/recording-host.json",
        "sim-lab-1/recording-container.json",
        "sim-lab-1/race.json",
        "sim-lab-1/findings.json",
        "sim-lab-1/junit.xml",
        "sim-lab-1/gpu-host.prom",
        "sim-lab-1/nvidia-smi.txt",
        "sim-lab-1/race.md",
        "sim-lab-1/race.svg",
        "sim-lab-1/race.html",
    }
    findings = json.loads((evidence / "sim-lab-1" / "findings.json").read_text())
    assert list(findings) == ["schema", "host", "simulated", "image_digest", "findings"]
    assert findings["simulated"] is True
    assert findings["image_digest"] == "sha256:abc"
    assert {
        "id",
        "layer",
        "status",
        "expected",
        "culprit",
        "summary",
        "between",
        "remedy",
        "evidence",
    } == set(findings["findings"][0])


def test_twice_gives_the_same_bytes(evidence: Path) -> None:
    write(evidence)
    once = snapshot(evidence)
    write(evidence)
    assert snapshot(evidence) == once


def heads(folder: Path) -> list[bool]:
    """Return whether each file that is drawn from the race is in French."""
    names = ("race.md", "race.svg", "race.html")
    return ["La course sur" in (folder / "sim-lab-1" / name).read_text() for name in names]


def test_a_race_is_drawn_in_the_language_that_it_was_run_in(evidence: Path) -> None:
    write(evidence)
    assert heads(evidence) == [False] * 3  # an older race has no language: English
    (evidence / "sim-lab-1" / "race.json").write_text(json.dumps({**RACE, "lang": "fr"}))
    write(evidence)
    assert heads(evidence) == [True] * 3
    assert cli.main(["report", "--from", str(evidence)]) == 1
    assert heads(evidence) == [True] * 3
    assert cli.main(["report", "--from", str(evidence), "--lang", "en"]) == 1
    assert heads(evidence) == [False] * 3


def test_a_language_that_there_is_not_is_a_sentence_of_its_host(evidence: Path) -> None:
    (evidence / "sim-lab-1" / "race.json").write_text(json.dumps({**RACE, "lang": "tlh"}))
    hosts = {host.host: host for host in write(evidence).hosts}
    assert "the race speaks en, fr" in hosts["sim-lab-1"].sentence


def test_nvidia_smi_is_verbatim(evidence: Path) -> None:
    write(evidence)
    assert (evidence / "sim-lab-1" / "nvidia-smi.txt").read_bytes() == SMI_TABLE.encode()


def test_unreachable_host_has_a_row_and_is_in_failed_hosts(evidence: Path) -> None:
    fleet = write(evidence)
    gone = fleet.hosts[0]
    assert gone.failed
    assert gone.verdict == "FAIL: unreachable"
    assert "No route to host" in (evidence / "lab-2" / "junit.xml").read_text()
    assert "lab-2" in (evidence / "failed.hosts").read_text().splitlines()
    assert "| lab-2 | FAIL: unreachable |" in (evidence / "README.md").read_text()


def test_what_no_longer_holds_is_taken_away(evidence: Path) -> None:
    write(evidence)
    (evidence / "sim-lab-1" / "recording-container.json").unlink()
    (evidence / "sim-lab-1" / "race.json").unlink()
    write(evidence)
    left = set(snapshot(evidence / "sim-lab-1"))
    assert "nvidia-smi.txt" not in left
    assert not left & {"race.md", "race.svg", "race.html"}


def test_failed_table_is_shown_with_list_and_query() -> None:
    document = recording(
        "container",
        nvidia_smi={"rc": 255, "stdout": "", "stderr": "Internal NVML error\n"},
        nvidia_smi_list={"rc": 0, "stdout": "GPU 0: A10\n", "stderr": ""},
        nvidia_smi_query={"timed_out": True},
    )
    text = nvidia_smi_text(document)
    assert text is not None
    assert "(exit status 255)\nInternal NVML error\n" in text
    assert "(exit status 0)\nGPU 0: A10\n" in text
    assert "(timed out)" in text


@pytest.mark.parametrize("document", [None, {}, recording("container", nvidia_smi={"missing": True})])
def test_without_nvidia_smi_there_is_no_such_file(document: dict[str, Any] | None) -> None:
    assert nvidia_smi_text(document) is None


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda e: (e / "sim-lab-1" / "run.json").write_text("[]"), "must hold a JSON object"),
        (lambda e: (e / "sim-lab-1" / "run.json").write_bytes(b"\xff"), "cannot read"),
        (lambda e: put(e / "sim-lab-1" / "recording-host.json", {"where": "moon"}), "."),
    ],
)
def test_damaged_evidence_is_one_sentence_and_nothing_changes(
    evidence: Path, break_it: Callable[[Path], object], sentence: str
) -> None:
    break_it(evidence)
    before = snapshot(evidence / "sim-lab-1")
    with pytest.raises(VerifyError, match=sentence):
        write(evidence)
    assert snapshot(evidence / "sim-lab-1") == before


def test_no_evidence(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match="not a folder"):
        write(tmp_path / "no")
    with pytest.raises(VerifyError, match="holds no host"):
        write(tmp_path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "race.json is not JSON"),
        ("{}", "is no race of this version"),
        ("[]", "JSON"),
        (json.dumps({**RACE, "settings": {"network": 7}}), "is no race of this version"),
        (json.dumps({**RACE, "schema": 1}), "of schema 1, this version reads 2): race again"),
    ],
)
def test_a_damaged_race_is_a_sentence_of_its_host_and_keeps_no_other_from_the_report(
    evidence: Path, text: str, sentence: str
) -> None:
    (evidence / "sim-lab-1" / "race.json").write_text(text)
    hosts = {host.host: host for host in write(evidence).hosts}
    assert sentence in hosts["sim-lab-1"].sentence
    assert str(evidence) not in hosts["sim-lab-1"].sentence
    assert hosts["sim-lab-1"].failed
    assert "race.json is damaged" in hosts["sim-lab-1"].verdict
    assert sentence in (evidence / "README.md").read_text()
    assert (evidence / "sim-lab-1" / "race.json").read_text() == text
    for name in ("race.md", "race.svg", "race.html"):
        assert not (evidence / "sim-lab-1" / name).exists()
    assert (evidence / "lab-2" / "findings.json").exists()
    once = snapshot(evidence)
    write(evidence)
    assert snapshot(evidence) == once
