"""The picture: all that was measured is in it, all that was not is said, and it is safe to open anywhere."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.unit.race.recorded import NAMES, Json, contestant, document, lane
from verify.race.drawing import kept
from verify.race.svg import NARROW, WIDE, svg
from verify.race.svg_busy import points_of
from verify.race.svg_sweep import lines

SVG = "{http://www.w3.org/2000/svg}"


def drawn(race: Json, lang: str = "en", width: float = WIDE) -> ET.Element:
    return ET.fromstring(svg(race, lang, width=width))  # noqa: S314  # our own


def words(picture: ET.Element) -> str:
    return " ".join(t.text or "" for t in picture.iter(f"{SVG}text")).replace("\N{NO-BREAK SPACE}", " ")


def fills(picture: ET.Element) -> list[str]:
    """Return the patterns of the bars, in their order."""
    found = (rect.get("fill", "") for rect in picture.iter(f"{SVG}rect") if rect.get("transform"))
    return [match.group(1) for fill in found if (match := re.fullmatch(r"url\(#race-(\w+)\)", fill))]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_every_recorded_race_has_a_picture(name: str, lang: str, width: int) -> None:
    race = document(name)
    picture = drawn(race, lang, width)
    title, description = picture.find(f"{SVG}title"), picture.find(f"{SVG}desc")
    assert title is not None
    assert race["host"] in (title.text or "")
    assert description is not None
    said = (description.text or "").splitlines()
    for each in race["contestants"]:
        for entry in each["lanes"]:
            assert [line for line in said if line.startswith(f"{each['name']}, {entry['name']}")]
    assert picture.get("role") == "img"
    assert picture.get("aria-labelledby") == "race-title race-desc"
    assert "{" not in words(picture)  # a message that its catalogue could not say


@pytest.mark.parametrize("name", NAMES)
def test_nothing_comes_from_outside(name: str) -> None:
    text = svg(document(name)).replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//|@import|<script|<image|<foreignObject|href", text)
    assert set(re.findall(r"url\(([^)]*)\)", text)) <= {
        f"#race-{kind}" for kind in ("plain", "rows", "slanted", "dotted", "crossed")
    }


def test_a_bar_a_lane_that_ran_and_each_kind_has_its_own_pattern() -> None:
    picture = drawn(document("gaming-card"))
    assert fills(picture) == ["plain", "slanted", "dotted", "plain", "rows", "slanted"]


def test_bars_are_as_long_as_the_logarithm_says() -> None:
    race = document("gaming-card")
    network = contestant(race, "network")
    race["contestants"] = [network]
    for entry, seconds in zip(network["lanes"], (1.0, 0.1, 0.01), strict=True):
        entry.update(median=seconds, interval=[seconds, seconds], total=None)
    rects = [r for r in drawn(race).iter(f"{SVG}rect") if "url(" in r.get("fill", "")]
    cpu, card, mixed = (float(rect.get("width", "nan")) for rect in rects)
    assert cpu - card == pytest.approx(card - mixed, abs=0.2)
    assert mixed > 0


def test_the_simulated_card_is_named_so_in_every_part() -> None:
    text = words(drawn(document("gaming-card")))
    assert "a stand-in for tests" in text
    assert text.count("(simulated card)") == 3
    assert "imulated" not in words(drawn(document("no-card")))


def test_absent_lanes_say_why_and_have_no_bar() -> None:
    picture = drawn(document("no-card"))
    assert "cuda: absent (1)" in words(picture)
    assert "No card in the sweep: see (1)" in words(picture)
    assert words(picture).count("(1) torch 2.13.0+cpu is a CPU build") == 1
    assert "slanted" not in fills(picture)
    assert "No lane ran on a card" in words(picture)
    assert "times as fast" not in words(picture)


def test_an_impossible_figure_is_refused_in_the_picture_too() -> None:
    race = document("over-peak")
    assert lane(race, "network", "cuda")["status"] == "invalid"
    picture = drawn(race)
    assert "cuda: not valid (1)" in words(picture)
    assert "(1) 1640 TFLOPS is more" in words(picture)
    assert "slanted" not in fills(picture)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lost", "The card is slower: "),
        ("not-significant", "cannot be told apart"),
        ("gaming-card", "times as fast as lane cpu"),
    ],
)
def test_the_ratio_is_said_as_far_as_its_interval_allows(name: str, said: str) -> None:
    assert said in words(drawn(document(name)))


def test_too_few_repeats_have_no_interval_and_no_winner() -> None:
    race = document("gaming-card")
    for name in ("cpu", "cuda"):
        lane(race, "network", name).update(confidence=0.0)
    race["contestants"] = [contestant(race, "network")]
    text = words(drawn(race))
    assert "oo few repeats" in text
    assert "times as fast as lane" not in text
    assert "2.1 s (" not in text


def test_an_interval_of_less_confidence_says_so() -> None:
    race = document("no-card")
    cpu = lane(race, "network", "cpu")
    for confidence, said in ((0.75, "s, 75% sure)"), (0.96, "2.12 s)"), (None, "2.12 s)")):
        cpu["confidence"] = confidence
        assert said in words(drawn(race))


def test_a_lane_that_copies_nothing_says_nothing_of_copies() -> None:
    race = document("no-card")
    cpu = lane(race, "network", "cpu")
    cpu["total"] = cpu["median"]
    assert "copies" not in words(drawn(race))
    assert "Diamond" in words(drawn(document("gaming-card")))


def test_a_sweep_that_did_not_run_says_why() -> None:
    race = document("no-card")
    race["sweep"] = {"operations": [], "reason": {"id": "no-budget", "budget_s": 40.0}}
    text = words(drawn(race))
    assert "nothing was left of the budget" in text
    assert "Nothing was swept: see (3)" in text
    assert "No card in the sweep" not in text


def test_the_crossing_is_a_band_over_its_uncertainty() -> None:
    race = document("gaming-card")
    picture = drawn(race)
    bands = [r for r in picture.iter(f"{SVG}rect") if r.get("class") == "r-band"]
    assert len(bands) == 4
    for entry in race["sweep"]["operations"]:
        for even in entry["break_even"].values():
            even.update(size=None, low=None, high=None, said="never")
    text = svg(race)
    assert "at no size that was tried" in words(drawn(race))
    assert 'class="r-band"' not in text


def test_the_line_with_the_copy_is_the_card_and_its_copy() -> None:
    operation = document("gaming-card")["sweep"]["operations"][0]
    found = lines(operation)
    copies = {p["size"]: p["copy_s"] for p in operation["points"] if p["lane"] == "cuda"}
    assert [size for size, _, _ in found["cpu"]] == sorted(copies)
    assert found["copy"] == [(size, seconds + copies[size], None) for size, seconds, _ in found["card"]]


def test_a_point_without_a_time_is_left_out() -> None:
    operation = document("gaming-card")["sweep"]["operations"][0]
    operation["points"][0]["seconds"] = None
    operation["points"][1]["status"] = "failed"
    assert sum(map(len, lines(operation).values())) == sum(
        1 + (p["copy_s"] is not None) for p in operation["points"][2:]
    )


def test_a_moment_that_the_card_did_not_tell_is_a_gap() -> None:
    race = document("gaming-card")
    usage = lane(race, "network", "cuda")["usage"]
    shapes = svg(race).count("<polygon")
    usage["points"][len(usage["points"]) // 2][1] = None
    assert svg(race).count("<polygon") == shapes + 1
    for point in usage["points"]:
        point[1] = None
    assert points_of(lane(race, "network", "cuda")) == []
    usage["utilisation"] = None
    assert "nothing tells how busy the card was" in words(drawn(race))


def test_warnings_stand_below_their_bar() -> None:
    race = document("no-card")
    lane(race, "network", "cpu")["warnings"] = [{"id": "spread", "share": 0.31}]
    assert "warning: the repeats vary by 31%" in words(drawn(race))


def test_a_race_in_which_nothing_ran() -> None:
    race = document("no-card")
    for each in race["contestants"]:
        for entry in each["lanes"]:
            entry.update(status="failed", reason={"id": "failed", "error": "out of memory"}, median=None)
    race["sweep"] = None
    text = words(drawn(race))
    assert "No lane gave a time." in text
    assert "cpu: failed (1)" in text
    assert "(1) out of memory" in text


def test_recorded_text_is_text() -> None:
    race = document("no-card")
    race["host"] = 'a"><script>alert(1)</script>\x00\x1b[2J&'
    lane(race, "network", "cpu")["library"] = "<b>torch</b>\ud800"
    picture = drawn(race)
    assert "<script" not in svg(race)
    assert 'a"><script>alert(1)</script>' in words(picture)
    assert "<b>torch</b>" in words(picture)


def test_a_figure_keeps_its_unit() -> None:
    assert kept("93 %, 5 ms : x ; 2 sizes") == "93_%, 5_ms_: x_; 2 sizes".replace("_", "\N{NO-BREAK SPACE}")


def test_it_is_drawn_from_the_document_alone() -> None:
    assert svg(document("prices")) == svg(document("prices"))
