"""race.md: every number from its document, in both languages, and nothing where nothing was measured."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.unit.race import recorded
from verify.race import decision, price, shares, why
from verify.race.markdown import markdown
from verify.race.words import LANGUAGES, catalogue, text

everywhere = pytest.mark.parametrize("document", recorded.NAMES)
in_both = pytest.mark.parametrize("lang", LANGUAGES)


def lines(document: str, lang: str = "en") -> list[str]:
    return markdown(recorded.document(document), lang).splitlines()


def row(page: list[str], start: str) -> list[str]:
    found = next(line for line in page if line.startswith(f"| {start}"))
    return [cell.strip() for cell in found.strip("|").split("|")]


@everywhere
@in_both
def test_tables_are_whole_and_the_page_is_the_same_every_time(document: str, lang: str) -> None:
    page = markdown(recorded.document(document), lang)
    assert page == markdown(recorded.document(document), lang)
    width = 0
    for line in page.splitlines():
        cells = line.count("|") if line.startswith("|") else 0
        assert not cells or not width or cells == width, line
        width = cells


@everywhere
@in_both
def test_no_message_is_left_without_words(document: str, lang: str) -> None:
    page = markdown(recorded.document(document), lang)
    assert not re.search(r"\b[a-z]+(-[a-z0-9]+)+: \w+=", page)
    assert "{" not in page
    assert "None" not in page


@everywhere
def test_every_message_is_in_the_catalogue(document: str) -> None:
    race = recorded.document(document)
    peak = (race["card"] or {}).get("peak")
    found = [reason for reasons in why.reasons(race).values() for reason in reasons]
    found += decision.decide(race).values()
    for contestant in race["contestants"]:
        bill = price.bill(contestant, race["prices"])
        found += price.lines(bill) if bill else []
        found += [fact for lane in contestant["lanes"] for fact in shares.facts(lane, peak)]
    assert [message["id"] for message in found if message["id"] not in catalogue("en")] == []
    assert [message for message in found if text(message).startswith(f"{message['id']}:")] == []


@everywhere
def test_french_has_no_decimal_point(document: str) -> None:
    # What has a version, a date or a document's name in it is copied as it is.
    kept = re.compile(r"torch \d|versions|pilote|mesuré le|capacité|\.md")
    page = [line for line in lines(document, "fr") if not kept.search(line)]
    assert [line for line in page if re.search(r"\d\.\d", line)] == []


@everywhere
def test_french_has_none_of_the_english_headings(document: str) -> None:
    english = [line for line in lines(document) if line.startswith("## ") and line != "## Conditions"]
    assert english
    assert not set(english) & set(lines(document, "fr"))


def test_the_table_that_people_commit() -> None:
    page = lines("prices")
    assert row(page, "contestant") == [
        "contestant",
        "CPU",
        "card",
        "ratio",
        "copy",
        "cost of a thousand",
        "sentence",
    ]
    assert row(page, "the small network") == [
        "the small network",
        "2.1 s",
        "104 ms",
        "20.1 (19.7 to 20.5, 92%)",
        "4.3%",
        "0.0261 EUR against 0.117 EUR",
        (
            "the card was 97% busy and reached 41% of a peak, the factory really works; "
            "mixed precision (bfloat16) is 1.7 times as fast (not in the ratio); "
            "take it only above 6,700 to 7,000 trainings a day (machines rented by the started hour)"
        ),
    ]


def test_a_machine_without_a_card_has_the_reason_and_no_figure_for_it() -> None:
    page = lines("no-card")
    reason = "torch 2.13.0+cpu is a CPU build: install a CUDA build of it"
    assert row(page, "the small network") == [
        *("the small network", "2.1 s", "absent (1)", "-", "-", "-", "-")
    ]
    assert row(page, "network | cuda (torch, float32)") == [
        *("network", "cuda (torch, float32)", "absent (1)", "-", "-", "-", "-")
    ]
    assert f"- (1) {reason}" in page
    assert "- No card in the sweep: see (1)" in page
    assert "\n".join(page).count(reason) == 2  # in the sentence, and in the note that all cells refer to
    assert not any(line in page for line in ("## Why", "## What it costs"))
    assert page[0] == "# The race on example-1"


def test_a_simulated_card_is_called_one_where_a_person_looks_first() -> None:
    assert lines("gaming-card")[0] == "# The race on simulated-4090 (simulated card)"
    assert lines("gaming-card", "fr")[0] == "# La course sur simulated-4090 (carte simulée)"


def test_an_impossible_figure_is_in_no_cell() -> None:
    page = lines("over-peak")
    assert row(page, "the small network")[2] == "not valid (1)"
    assert any(line.startswith("- (1) 1640 TFLOPS is more") for line in page)
    assert row(page, "the small network")[3:6] == ["-", "-", "-"]


def test_a_lane_has_its_interval_with_the_confidence_its_first_call_and_its_copies() -> None:
    page = lines("gaming-card")
    assert row(page, "network | cuda (torch, float32)") == [
        *("network", "cuda (torch, float32)", "100 ms", "99 ms to 101 ms (94%)", "840 ms", "4 ms, 500 µs"),
        "loss 0.31, accuracy 0.941",
    ]
    assert "cuda-mixed (torch, bfloat16; not in the ratio)" in row(page, "network | cuda-mixed")[1]
    assert any(
        line.startswith("- network, cuda: a kernel running 97% of the time (NVML), clock 2490 to 2520 MHz")
        for line in page
    )


def test_one_repeat_has_no_interval_and_no_precision_is_no_word() -> None:
    race = recorded.document("gaming-card")
    recorded.lane(race, "network", "cuda").update(confidence=0.0, precision=None)
    page = markdown(race).splitlines()
    assert row(page, "network | cuda (torch)")[3] == "-"
    assert row(page, "the small network")[3] == "20"


def test_the_sweep_says_from_which_size_with_and_without_the_copy() -> None:
    page = lines("gaming-card")
    assert "- Matrix product, n: the card wins without the copy from 118 on (104 to 133)" in page
    assert "- Matrix product, n: the card wins with the copy from 287 on (260 to 318)" in page
    assert row(page, "matrix product, n | 1,024") == [
        "matrix product, n",
        "1,024",
        "3.2 ms",
        "60 µs",
        "960 µs",
    ]
    alone = lines("no-card")
    assert row(alone, "matrix product, n | 64")[2:] == ["4 µs", "-", "-"]
    assert not [line for line in alone if "the card wins with" in line]  # there was no card


def test_a_point_of_the_sweep_that_was_refused_has_no_figure() -> None:
    race = recorded.document("gaming-card")
    point = race["sweep"]["operations"][0]["points"][-1]
    point.update(status="invalid", reason={"id": "no-time"})
    cells = row(markdown(race).splitlines(), "matrix product, n | 4,096")
    assert cells[2] == "190 ms"
    assert cells[3:] == ["not valid (1)"] * 2
    assert any(line.startswith("- (1) a repeat took no time") for line in markdown(race).splitlines())


def test_warnings_stand_by_their_lane() -> None:
    assert "- network, cpu: the CPU lane ran on 2 of 64 cores" in lines("few-cores")
    assert "## Warnings" not in lines("gaming-card")


def test_what_the_race_ran_on() -> None:
    page = "\n".join(lines("few-cores"))
    assert "- CPU: Simulated CPU, 64 of 64 cores, a quota of 2 cores, torch threads: 2, load 0.2" in page
    assert "82.6 TFLOPS (NVIDIA Ada GPU architecture whitepaper" in page
    assert "in 58.4 s of a budget of 60 s" in page
    race = recorded.document("no-card")
    race["settings"]["quick"] = True
    race["elapsed_s"] = None
    race["image_digest"] = "sha256:abc"
    said = markdown(race)
    assert "the numbers say little" in said
    assert "- card: none seen" in said
    assert "- image: sha256:abc" in said
    assert "- taken 2026-12-02T10:00:00Z\n" in said


def test_what_would_break_a_table_is_kept_from_it() -> None:
    race: dict[str, Any] = recorded.document("no-card")
    lane = recorded.lane(race, "network", "cuda")
    lane.update(status="failed", reason={"id": "failed", "error": "a | b\nc"})
    (found,) = [line for line in markdown(race).splitlines() if line.startswith("| network | cuda (torch, f")]
    assert "failed (1) |" in found
    assert "- (1) a | b c" in markdown(race).splitlines()
    lane["library"] = "to|rch\n2"
    assert r"to\|rch 2" in markdown(race)
