from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.race import fakes
from verify.race.cache import reusable
from verify.race.settings import settings_for

SETTINGS = settings_for().document()
KEY: dict[str, Any] = {"card": "A card", "driver": "550.1", "image_digest": "sha256:1", "settings": SETTINGS}
OLD = json.loads(json.dumps(fakes.race(
    [{"name": "network", "lanes": [{"status": "ran"}, {"status": "absent"}]}], settings=SETTINGS
)))  # fmt: skip
LATE = {"id": "no-budget", "budget_s": 60.0}
SHORT = {"id": "no-budget-share", "seconds": 9.0, "share_s": 12.0, "budget_s": 60.0}


def test_the_same_is_reused() -> None:
    assert reusable(OLD, **KEY)


@pytest.mark.parametrize(
    "change",
    [
        {"card": "another"},
        {"card": None},
        {"driver": "580.1"},
        {"image_digest": None},
        {"settings": settings_for(7).document()},
        {"settings": settings_for(budget_s=30.0).document()},
        {"settings": settings_for(quick=True).document()},
    ],
    ids=str,
)
def test_anything_else_is_run_again(change: dict[str, Any]) -> None:
    assert not reusable(OLD, **{**KEY, **change})


@pytest.mark.parametrize(
    "old",
    [
        {},
        {**OLD, "schema": 1},
        {**OLD, "versions": {"race": 1}},
        {**OLD, "contestants": None},
        {**OLD, "contestants": [{"lanes": [{"status": "ran"}, {"status": "failed"}]}]},
        {**OLD, "contestants": [{"lanes": [{"status": "ran"}, {"status": "invalid"}]}]},
        {**OLD, "contestants": [{"lanes": [{"status": "ran"}, {"status": "absent", "reason": LATE}]}]},
        {**OLD, "contestants": [{"lanes": [{"status": "ran"}, {"status": "absent", "reason": SHORT}]}]},
        {**OLD, "contestants": [{"lanes": [{"status": "ran"}, {"status": "absent", "reason": "words"}]}]},
        {**OLD, "contestants": [{"lanes": [{"status": "absent"}]}]},
        {**OLD, "card": "A card"},
    ],
    ids=[
        "empty",
        "schema",
        "version",
        "damaged",
        "failed lane",
        "invalid lane",
        "no budget left",
        "too little of a share",
        "old reason",
        "nothing ran",
        "card of another shape",
    ],
)
def test_an_old_or_a_broken_race_is_run_again(old: dict[str, Any]) -> None:
    assert not reusable(old, **KEY)


def test_without_a_card_then_and_now() -> None:
    assert reusable({**OLD, "card": None}, **{**KEY, "card": None, "driver": None})
