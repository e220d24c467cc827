"""The page in a real browser: nothing cut off, nothing upon another, light, dark, narrow, black and white.

GPU_HOST_PICTURES=FOLDER keeps the pictures, to be looked at.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.race import browser
from tests.unit.race.recorded import NAMES, document
from verify.race.page import page

NARROW, WIDE = 360, 1100
_HAIR = 1.5  # pixels that two boxes of text may share: a line's own room above and below its letters


@pytest.fixture(scope="module")
def chromium() -> str:
    found = browser.find()
    if found is None and os.environ.get("CI"):
        pytest.fail("CI has no browser: scripts/browser.sh installs one")
    if found is None:
        pytest.skip("no chromium here: scripts/browser.sh installs it on Debian")
    return found


def keep(picture: Path) -> None:
    if folder := os.environ.get("GPU_HOST_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder)


def crossed(texts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairs that stand upon one another."""
    return [
        (one["said"], other["said"])
        for k, one in enumerate(texts)
        for other in texts[k + 1 :]
        if min(one["right"], other["right"]) - max(one["left"], other["left"]) > _HAIR
        and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 3 * _HAIR
    ]


@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_every_text_has_its_place(chromium: str, tmp_path: Path, width: int, lang: str) -> None:
    pages = {name: page(document(name), lang) for name in NAMES}
    found = browser.measure(chromium, tmp_path, pages, width)
    assert [entry["name"] for entry in found] == list(NAMES)
    for entry in found:
        assert entry["client"] == width, entry["name"]
        assert entry["scroll"] <= entry["client"], f"{entry['name']} is wider than its window"
        assert len(entry["texts"]) > 10
        outside = [
            text["said"]
            for text in entry["texts"]
            if text["left"] < 0 or text["right"] > entry["width"] or text["bottom"] > entry["height"]
        ]
        assert not outside, entry["name"]
        assert not crossed(entry["texts"]), entry["name"]


def light(picture: Path) -> float:
    """Return how light a picture is, from 0 to 1."""
    found = browser.pixels(picture)
    return sum(map(sum, found)) / (3 * 255 * len(found))


def test_pictures_wide_and_dark(chromium: str, tmp_path: Path) -> None:
    shown = page(document("prices"))
    wide = browser.shoot(chromium, tmp_path, shown, "race-wide", WIDE)
    dark = browser.shoot(chromium, tmp_path, shown, "race-dark", WIDE, dark=True)
    for picture in (wide, dark):
        keep(picture)
    assert light(wide) > 0.8
    assert light(dark) < 0.3


def test_pictures_narrow(chromium: str, tmp_path: Path) -> None:
    shown = browser.framed({"narrow": page(document("gaming-card"), "fr")}, NARROW, 1390)
    picture = browser.shoot(chromium, tmp_path, shown, "race-narrow", 500)
    keep(picture)
    assert len(set(browser.pixels(picture))) > 50


def test_pictures_in_black_and_white(chromium: str, tmp_path: Path) -> None:
    grey = page(document("gaming-card")).replace("</style>", "html{filter:grayscale(1)}</style>", 1)
    picture = browser.shoot(chromium, tmp_path, grey, "race-grey", WIDE)
    keep(picture)
    assert all(max(colour) - min(colour) <= 2 for colour in set(browser.pixels(picture)))
