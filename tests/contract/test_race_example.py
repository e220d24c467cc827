"""The example of race.svg is what the code draws, and passes for nobody's measurement."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[2]


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("race_example", ROOT / "scripts" / "race_example.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_picture_is_what_the_code_draws() -> None:
    made = script()
    text = (ROOT / "docs" / "race-example.svg").read_text(encoding="utf-8")
    assert text == made.example(), "draw it again: .venv/bin/python scripts/race_example.py"


def test_it_says_that_its_times_are_made_up_and_shows_no_card() -> None:
    picture = ET.parse(ROOT / "docs" / "race-example.svg").getroot()  # noqa: S314  # our own
    said = " ".join("".join(element.itertext()) for element in picture.iter() if element.tag.endswith("text"))
    assert "made-up times" in said
    assert "absent" in said
    assert "times as fast" not in said
