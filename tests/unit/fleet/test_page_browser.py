"""index.html in a real browser: sorted, filtered, opened, harmless; wide, narrow, dark, black and white.

GPU_HOST_PICTURES=FOLDER keeps the pictures, to be looked at.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.fleet.driven import drive
from tests.unit.fleet.generated import write_fleet
from tests.unit.fleet.test_page import drawn, hostile
from tests.unit.race import browser

NARROW, BETWEEN, WIDE = 360, 1000, 1600


@pytest.fixture(scope="module")
def chromium() -> str:
    found = browser.find()
    if found is None and os.environ.get("CI"):
        pytest.fail("CI has no browser: scripts/browser.sh installs one")
    if found is None:
        pytest.skip("no chromium here: scripts/browser.sh installs it on Debian")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return drawn(write_fleet(tmp_path_factory.mktemp("evidence"), 21))


def keep(picture: Path) -> Path:
    if folder := os.environ.get("GPU_HOST_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, folder)
    return picture


SHOWN = """[...page.querySelectorAll("tbody.one")].filter(b => !b.hidden)
  .map(b => b.querySelector("th").textContent.trim().slice(0, 8))"""
CLICK = """const heads = [...page.querySelectorAll("#hosts thead th")];
const click = name => heads.find(h => h.textContent.trim() === name).querySelector("button").click();
const sorted = () => heads.filter(h => h.hasAttribute("aria-sort"))
  .map(h => [h.textContent.trim(), h.getAttribute("aria-sort")]);"""


def test_a_click_sorts_and_a_second_one_turns_it_round(chromium: str, tmp_path: Path, page: str) -> None:
    found: dict[str, Any] = drive(
        chromium,
        tmp_path,
        page,
        f"""{CLICK}
        const before = {SHOWN}; click("driver version"); const up = {SHOWN}, first = sorted();
        click("driver version"); const down = {SHOWN}, second = sorted();
        click("race: one training"); const race = {SHOWN}, third = sorted();
        return {{before, up, down, first, second, race, third}};""",
    )
    assert found["before"] == [f"node-{k:03}" for k in range(21)]
    assert found["first"] == [["driver version", "ascending"]]
    assert found["second"] == [["driver version", "descending"]]
    assert found["third"] == [["race: one training", "ascending"]]
    assert found["up"][0] == "node-002"  # 550, the simulated one
    assert found["up"][1] == "node-007"  # 580.126.09 comes before 580.159.03
    unknown = found["up"][-2:]
    assert set(unknown) & {"node-019"}
    assert found["down"][-1] == found["up"][-1]  # what is not known stands last, both ways
    assert sorted(found["down"]) == sorted(found["before"]) == sorted(found["race"])
    assert found["race"][0] in {"node-000", "node-001", "node-004"}  # 104 ms


def test_the_filter_keeps_what_fits_and_says_how_many(chromium: str, tmp_path: Path, page: str) -> None:
    found = drive(
        chromium,
        tmp_path,
        page,
        f"""const by = id => page.getElementById(id), said = () => by("shown").textContent;
        const type = text => {{ by("find").value = text; by("find").dispatchEvent(new Event("input",
          {{bubbles: true}})); }};
        const all = said(); type("node-00 a10"); const a10 = {SHOWN}; type("");
        by("failed").click(); const failed = {SHOWN}, count = said(); by("failed").click();
        by("drifting").click(); return {{all, a10, failed, count, drifting: {SHOWN}}};""",
    )
    assert found["all"] == "21 of 21 shown"
    assert found["a10"] == ["node-002"]
    assert {"node-002", "node-019"} <= set(found["failed"])
    assert "node-000" not in found["failed"]
    assert found["count"] == f"{len(found['failed'])} of 21 shown"
    assert "node-007" in found["drifting"]
    assert "node-001" not in found["drifting"]


def test_a_row_opens_its_evidence_with_every_check(chromium: str, tmp_path: Path, page: str) -> None:
    found = drive(
        chromium,
        tmp_path,
        page,
        """const one = page.querySelectorAll("tbody.one")[1], details = one.querySelector("details");
        one.rows[0].cells[3].click(); await later();
        const list = [...details.querySelectorAll("ul li")].map(li => li.textContent);
        const smi = details.querySelector("pre.smi").textContent, open = details.open;
        one.rows[0].cells[3].click(); one.querySelector("summary").click(); await later();
        return {open, list, smi, again: details.querySelectorAll("ul li").length};""",
    )
    assert found["open"] is True
    assert len(found["list"]) > 50
    assert any(line.startswith("driver.answers pass: driver 580.159.03") for line in found["list"])
    assert "NVIDIA-SMI 580.159.03" in found["smi"]
    assert found["again"] == len(found["list"])


def test_all_of_it_is_reached_by_the_keyboard(chromium: str, tmp_path: Path, page: str) -> None:
    found = drive(
        chromium,
        tmp_path,
        page,
        """const all = [...page.querySelectorAll("button, input, tbody.one summary")];
        const styles = all.map(e => { e.focus({focusVisible: true});
          return [e === page.activeElement, getComputedStyle(e).outlineStyle]; });
        return {heads: page.querySelectorAll("#hosts thead button").length,
          columns: page.querySelectorAll("#hosts thead th").length,
          focused: styles.every(pair => pair[0]), seen: styles.every(pair => pair[1] === "solid")};""",
    )
    assert found["heads"] == found["columns"] == 19
    assert found["focused"]
    assert found["seen"]


def test_without_its_script_everything_is_there_but_the_tools(
    chromium: str, tmp_path: Path, page: str
) -> None:
    still = page[: page.rindex("<script>")] + page[page.rindex("</script>") :]
    found = drive(
        chromium,
        tmp_path,
        still,
        """const details = page.querySelectorAll("tbody.one details")[19]; details.open = true;
        return {tools: page.getElementById("tools").getBoundingClientRect().height,
          hosts: page.querySelectorAll("tbody.one").length, buttons: page.querySelectorAll("button").length,
          step: details.querySelector("ol").innerText};""",
    )
    assert found["tools"] == found["buttons"] == 0
    assert found["hosts"] == 21
    assert "make site LIMIT=@evidence/failed.hosts" in found["step"]


def test_hostile_texts_do_nothing(chromium: str, tmp_path: Path) -> None:
    (tmp_path / "evidence").mkdir()
    found = drive(
        chromium,
        tmp_path,
        hostile(tmp_path / "evidence"),
        """for (const details of page.querySelectorAll("details")) details.open = true; await later();
        return {hit: window.hit ?? null, images: page.images.length, scripts: page.scripts.length,
          tools: page.getElementById("tools").hidden, rows: page.querySelectorAll("tbody.one").length,
          checks: page.querySelectorAll("tbody.one ul li").length};""",
    )
    assert found["hit"] is None
    assert found["images"] == 0
    assert found["scripts"] == 2
    assert found["tools"] is False  # our own script ran
    assert found["rows"] == 3
    assert found["checks"] > 50


@pytest.mark.parametrize("width", [NARROW, BETWEEN, WIDE])
def test_nothing_is_wider_than_its_window(chromium: str, tmp_path: Path, page: str, width: int) -> None:
    found = drive(
        chromium,
        tmp_path,
        page,
        """for (const details of page.querySelectorAll("details")) details.open = true; await later();
        const root = page.documentElement;
        const sizes = [...page.querySelectorAll("tbody.one > tr:first-child > *")];
        return {scroll: root.scrollWidth, client: root.clientWidth,
          out: sizes.filter(cell => cell.scrollWidth > cell.clientWidth + 2 && cell.clientWidth)
            .map(cell => cell.textContent)};""",
        width,
    )
    assert found["client"] == width
    assert found["scroll"] <= width
    assert found["out"] == []


def test_pictures(chromium: str, tmp_path: Path, page: str) -> None:
    wide = keep(browser.shoot(chromium, tmp_path, page, "fleet-wide", WIDE))
    dark = keep(browser.shoot(chromium, tmp_path, page, "fleet-dark", WIDE, dark=True))
    narrow = browser.framed({"narrow": page}, NARROW, 1390)
    small = keep(browser.shoot(chromium, tmp_path, narrow, "fleet-narrow", 500))
    light = [sum(map(sum, found)) / (765 * len(found)) for found in map(browser.pixels, (wide, dark))]
    assert light[0] > 0.8
    assert light[1] < 0.3
    assert len(set(browser.pixels(small))) > 50


def test_each_mark_is_told_apart_in_black_and_white(chromium: str, tmp_path: Path, page: str) -> None:
    unstyled = page[: page.index("<meta http")] + page[page.index("<meta name") :]
    grey = unstyled.replace("</style>", "html{filter:grayscale(1)}</style>", 1)
    found = browser.pixels(keep(browser.shoot(chromium, tmp_path, grey, "fleet-grey", WIDE)))
    assert all(max(colour) - min(colour) <= 2 for colour in set(found))
    marks = drive(
        chromium,
        tmp_path,
        page,
        """return [...page.querySelectorAll(".legend .mark")].map(mark => {
          const style = getComputedStyle(mark);
          return [mark.textContent, [style.borderStyle, style.borderRadius, style.borderWidth,
            style.backgroundImage, style.borderColor].join()]; });""",
    )
    letters, shapes = zip(*marks, strict=True)
    assert sorted(letters) == sorted("PWFEBS")
    assert len(set(shapes)) == 6
