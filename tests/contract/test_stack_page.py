"""The pages for newcomers: every layer has its row, every word its line, and what can be typed exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from verify.findings import Layer

ROOT = Path(__file__).parents[2]
STACK = (ROOT / "docs/stack.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
WORDS = (
    "CDI",
    "PTX",
    "Xid",
    "NVML",
    "DKMS",
    "SASS",
    "arch list",
    "compute capability",
    "minor-version compatibility",
    "forward compatibility",
    "MIG",
    "runtime",
    "toolkit",
)


def rows(heading: str) -> list[str]:
    """Return the first cell of each row of the table below a heading."""
    section = STACK.split(f"## {heading}", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| (.*?) \|", section, re.MULTILINE)[1:]


def test_every_layer_has_its_row_in_stack_order() -> None:
    assert rows("Who does what, and what must agree with what") == [layer.value for layer in Layer]


@pytest.mark.parametrize("word", WORDS)
def test_the_word_is_explained(word: str) -> None:
    assert word in [part for cell in rows("Words of the field") for part in cell.split(", ")]


def test_what_contributing_tells_to_type_exists() -> None:
    commands = re.findall(r"^\$ (.*?)(?:  +#.*)?$", CONTRIBUTING, re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        program, *arguments = command.split()
        assert program.startswith(".venv/bin/")
        paths = [word for word in arguments if word.startswith(("tests/", "scripts/"))]
        assert paths
        assert all((ROOT / path).exists() for path in paths)
        chosen = command.partition(" -k ")[2]
        assert not chosen or (ROOT / "tests/recordings" / f"{chosen.strip()}.json").exists()
