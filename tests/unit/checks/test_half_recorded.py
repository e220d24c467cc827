"""Real recordings that lost a part: what is gone is not judged, and nothing else is blamed for it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tests.unit.checks.cases import RECORDINGS
from verify.checks import judge
from verify.facts.usage import usage_facts
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
    found = findings(lab)["host.recorded"]
    assert (found.status, "None" in found.summary) == (Status.SKIP, False)


@pytest.mark.parametrize("date", ["", "2", "yesterday", "3026-13-45", "9999", None, 20261201])
def test_without_a_date_nobody_knows_whether_a_branch_is_alive(lab: Document, date: object) -> None:
    assert findings(lab)["driver.branch"].status is Status.PASS
    lab["taken_at"] = date
    assert findings(lab)["driver.branch"].status is Status.SKIP


def test_the_driver_of_windows_is_not_held_against_the_floors_of_linux() -> None:
    found = findings(document("healthy-wsl"))["driver.security-floor"]
    assert (found.status, "Windows" in found.summary) == (Status.SKIP, True)


def test_without_a_bus_nothing_is_said_of_an_nvswitch() -> None:
    stopped = document("c8-a100-stopped")
    assert findings(stopped)["driver.fabric-manager"].status is Status.FAIL
    del stopped["files"]
    assert findings(stopped)["driver.fabric-manager"].status is not Status.PASS


@pytest.mark.parametrize("log", ["dmesg-nvidia", "journal-nvidia"])
def test_what_is_not_in_the_part_of_a_log_that_is_left_may_have_been_in_it(lab: Document, log: str) -> None:
    for name in ("dmesg-nvidia", "journal-nvidia"):
        lab["commands"].pop(name, None)
    lab["commands"][log] = {"argv": ["dmesg"], "rc": 0, "stdout": "NVRM: loading", "stdout_cut": "head"}
    found = findings(lab)
    for name in ("card.xid", "card.lost"):
        assert found[name].status is Status.SKIP, name
        assert "cut" in found[name].summary
    usage = usage_facts(Recording.from_document(lab))
    assert {card.faults.xids for card in usage.cards or ()} == {None}
    del lab["commands"][log]["stdout_cut"]
    assert findings(lab)["card.xid"].status is Status.PASS


def test_what_is_in_the_part_of_a_log_that_is_left_is_read() -> None:
    lost = document("c9-gsp-timeout")
    entry = lost["commands"]["dmesg-nvidia"]
    before = findings(lost)["card.xid"]
    entry["stdout_cut"] = "head"
    assert findings(lost)["card.xid"] == before
    assert before.status is Status.FAIL


def test_one_whole_log_beside_one_that_was_cut_is_enough(lab: Document) -> None:
    lab["commands"]["dmesg-nvidia"] = {"argv": ["dmesg"], "rc": 0, "stdout": "", "stdout_cut": "head"}
    lab["commands"]["journal-nvidia"] = {"argv": ["journalctl"], "rc": 0, "stdout": "NVRM: loading"}
    xid = findings(lab)["card.xid"]
    assert (xid.status, "journal-nvidia" in xid.evidence[0]) == (Status.PASS, True)


@pytest.mark.parametrize(
    ("command", "unknown"),
    [
        ("toolkit-packages", ("toolkit.installed", "toolkit.one-version", "toolkit.safe-version")),
        ("held-packages", ("toolkit.held",)),
        ("image-inspect", ("image.present",)),
        ("nvidia-smi-list", ()),
        ("nvidia-smi-xml", ()),
        ("driver-packages", ()),
        ("dkms-status", ()),
        ("modinfo-nvidia", ()),
        ("docker-unit", ()),
        ("docker-show", ()),
        ("dpkg-audit", ()),
        ("run-gpus-all", ("container.run-gpus-all",)),
        ("run-gpus-first", ("container.run-gpus-first",)),
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_what_is_not_in_the_part_of_a_list_that_is_left_is_not_missing(
    lab: Document, command: str, unknown: tuple[str, ...], share: float
) -> None:
    entry = lab["commands"][command]
    entry.update(stdout=entry["stdout"][: int(len(entry["stdout"]) * share)], stdout_cut="tail")
    assert failing(lab) == set()
    for name in unknown:
        assert findings(lab)[name].status is Status.SKIP, name


@pytest.mark.parametrize("name", ["run-gpus-all", "run-gpus-first", "run-runtime", "run-cdi"])
@pytest.mark.parametrize(
    ("rc", "stderr", "said"),
    [
        (125, "docker: Error response from daemon: boom", "boom"),
        (1, "docker: Error response from daemon: boom", "boom"),
        (1, "", "exit status 1"),
        (137, "", "exit status 137"),
    ],
)
def test_a_container_that_lists_cards_and_fails_is_not_well(
    lab: Document, name: str, rc: int, stderr: str, said: str
) -> None:
    lab["commands"][name].update(rc=rc, stderr=stderr)
    found = findings(lab)[f"container.{name}"]
    assert found.status is Status.FAIL
    assert said in found.summary
    assert "lists" in found.summary


def test_a_card_with_a_corrupt_inforom_is_given_all_the_same(lab: Document) -> None:
    lab["commands"]["run-gpus-all"]["rc"] = 14
    assert findings(lab)["container.run-gpus-all"].status is Status.PASS


def test_a_container_that_did_not_start_shows_nothing_of_those_that_do_not_ask(lab: Document) -> None:
    lab["commands"]["run-none"].update(rc=125, stdout="", stderr="docker: something of its own")
    assert findings(lab)["container.run-none"].status is Status.FAIL
