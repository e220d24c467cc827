"""Real recordings that lost a part: what is gone is not judged, and nothing else is blamed for it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.unit.checks.cases import RECORDINGS
from verify.checks import judge
from verify.findings import Finding, Status
from verify.recording import Recording

Document = dict[str, Any]


def document(name: str) -> Document:
    found: Document = json.loads((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def findings(changed: Document) -> dict[str, Finding]:
    found = judge(Recording.from_document(changed), None, None, [], container_due=False)
    return {finding.id: finding for finding in found}


@pytest.fixture
def lab() -> Document:
    return copy.deepcopy(document("healthy-lab-host"))


def failing(changed: Document) -> set[str]:
    return {
        f.id for f in findings(changed).values() if f.status is Status.FAIL and f.id != "verify.no-recording"
    }


def test_the_whole_one_fails_nothing(lab: Document) -> None:
    assert failing(lab) == set()


@pytest.mark.parametrize("how", ["dropped", "cut"])
def test_an_engine_that_told_its_version_answers(lab: Document, how: str) -> None:
    if how == "dropped":
        del lab["commands"]["docker-info"]
    else:
        entry = lab["commands"]["docker-info"]
        entry.update(stdout=entry["stdout"][: len(entry["stdout"]) // 2], stdout_cut="tail")
    assert failing(lab) == set()
    found = findings(lab)
    assert found["engine.answers"].status is Status.PASS
    for name in ("engine.kind", "runtime.in-daemon", "runtime.cdi-enabled"):
        assert found[name].status is Status.SKIP, name


@pytest.mark.parametrize("path", ["/etc/docker/daemon.json", "/var/run/cdi/nvidia.yaml"])
def test_a_document_that_was_cut_is_not_damaged(lab: Document, path: str) -> None:
    entry = lab["files"][path]
    entry.update(text=entry["text"][: len(entry["text"]) // 2], cut="tail")
    assert failing(lab) == set()
    name = "engine.config" if path.endswith("daemon.json") else "toolkit.cdi-spec"
    assert findings(lab)[name].status is not Status.PASS


def test_nobody_knows_whose_eyes(lab: Document) -> None:
    del lab["uid"]
    assert "None" not in findings(lab)["host.recorded"].summary


def test_without_a_bus_nothing_is_said_of_an_nvswitch() -> None:
    stopped = document("c8-a100-stopped")
    assert findings(stopped)["driver.fabric-manager"].status is Status.FAIL
    del stopped["files"]
    assert findings(stopped)["driver.fabric-manager"].status is not Status.PASS
