"""The table for people: aligned, in the width that there is, and no Markdown."""

from __future__ import annotations

import pytest

from tests.unit.race import recorded
from verify.race.sentence import sentence
from verify.race.table import text

WIDTH = 100


@pytest.mark.parametrize("document", recorded.NAMES)
@pytest.mark.parametrize("lang", ["en", "fr"])
@pytest.mark.parametrize("width", [60, WIDTH, 160])
def test_no_line_is_wider_than_the_terminal_and_none_is_markdown(
    document: str, lang: str, width: int
) -> None:
    lines = text(recorded.document(document), lang, width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any(line.startswith(("|", "#")) or "---|" in line for line in lines)
    assert "{" not in "".join(lines)


def test_the_columns_stand_below_their_names() -> None:
    lines = text(recorded.document("prices")).splitlines()
    assert lines[0] == "The race on simulated-4090-prices (simulated card)"
    head = next(line for line in lines if line.startswith("contestant"))
    row = next(line for line in lines if line.startswith("the small network  "))
    for name, cell in (("CPU", "2.1 s"), ("card", "104 ms"), ("ratio", "20.1 (19.7 to 20.5, 92%)")):
        assert head.index(f"  {name} ") + 2 == row.index(cell)
    assert any(line.startswith("- the small network: the card was 97% busy") for line in lines)


def test_it_has_the_sentence_the_notes_and_the_warnings() -> None:
    race = recorded.document("few-cores")
    said = " ".join(text(race).split())
    assert " ".join(sentence(race).split()) in said
    assert "Warnings - network, cpu: the CPU lane ran on 2 of 64 cores" in said
    without = text(recorded.document("no-card"))
    assert "- (1) torch 2.13.0+cpu is a CPU build" in without
    assert "absent (1)" in without
    assert "Warnings" not in without


def test_a_race_that_nobody_named_is_of_this_machine() -> None:
    race = {**recorded.document("no-card"), "host": "here"}
    assert text(race).startswith("The race on this machine\n")
    assert text(race, "fr").startswith("La course sur cette machine\n")


def test_what_would_move_the_cursor_is_kept_from_the_terminal() -> None:
    race = recorded.document("no-card")
    race["host"] = "a\x1b[2Jb"
    assert "\x1b" not in text(race)
