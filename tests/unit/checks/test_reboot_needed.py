"""The role's note that a reboot is due, and the boot that settles it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.checks.cases import Machine
from verify.facts.module import BOOT_ID, MARK
from verify.findings import Finding, Status

NOW = "5b3f7c1e-8a54-4f0a-9c5e-0c6b1f7ad001"


def judged(mark: dict[str, Any], boot_id: str | None = NOW) -> dict[str, Finding]:
    machine = Machine("lab")
    machine.files[MARK] = mark
    machine.files[BOOT_ID] = {"text": f"{boot_id}\n"} if boot_id else {"missing": True}
    return machine.judge()


def note(**given: Any) -> dict[str, Any]:
    return {"text": json.dumps({"boot_id": NOW, "because": "loaded 530.30.02, on disk 535.54.03"} | given)}


def test_g1_the_note_of_this_boot_fails_with_that_remedy_and_blocks_the_driver() -> None:
    found = judged(note())
    due = found["module.reboot-needed"]
    assert due.status is Status.FAIL
    assert "loaded 530.30.02, on disk 535.54.03" in due.summary
    assert (due.remedy or "").startswith("reboot")
    assert {found[name].culprit for name in ("module.loaded", "driver.answers")} == {"module.reboot-needed"}


@pytest.mark.parametrize("mark", [{"missing": True}, note(boot_id="another-boot")])
def test_g1_no_note_or_a_boot_since_then_is_fine(mark: dict[str, Any]) -> None:
    found = judged(mark)
    assert found["module.reboot-needed"].status is Status.PASS
    assert found["driver.answers"].status is Status.PASS


def test_g1_where_nobody_wants_the_role_to_reboot_it_is_a_warning() -> None:
    found = judged(note(asked=False))
    assert found["module.reboot-needed"].status is Status.WARN
    assert found["driver.answers"].status is Status.PASS


@pytest.mark.parametrize(
    ("mark", "boot_id"),
    [(note(), None), (note(boot_id=""), NOW), ({"text": "{"}, NOW), ({"text": "[]"}, NOW)],
)
def test_g1_a_note_that_cannot_be_judged_is_said(mark: dict[str, Any], boot_id: str | None) -> None:
    assert judged(mark, boot_id)["module.reboot-needed"].status is Status.WARN


def test_g1_a_note_that_may_not_be_read_was_not_looked_at() -> None:
    assert judged({"error": "EACCES"})["module.reboot-needed"].status is Status.SKIP
    machine = Machine("lab")
    machine.files.pop(MARK)
    assert machine.judge()["module.reboot-needed"].status is Status.SKIP
