"""docs/offers.md: what it prints is what the command prints, and what it names is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.unit.offer.derive import MADE
from verify.cli import main

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs/offers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ ((?:[^\n]*\\\n)*[^\n]*)\n(.*?)```", TEXT, re.DOTALL)
PRINTED = [(command.replace("\\\n", " "), out) for command, out in BLOCKS if out]


@pytest.mark.parametrize(("command", "printed"), PRINTED, ids=[c[11:30] for c, _ in PRINTED])
def test_a_command_prints_what_the_page_says(
    command: str, printed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    assert main(shlex.split(command)[1:]) == 0
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == printed.splitlines()


def test_the_page_shows_one_offer_and_a_comparison() -> None:
    assert len(BLOCKS) == 4
    assert ["--compare" in command for command, _ in PRINTED] == [False, True]


def test_every_option_named_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["offer", "--help"]) == 0
    known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out))
    page = re.sub(r"`(?:--gpus|--runtime=nvidia)`", "", TEXT)
    options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", re.sub(r"^│.*$", "", page, flags=re.MULTILINE)))
    assert options <= known


def test_every_question_and_every_kind_is_on_the_page() -> None:
    for question in ("an image of your own", "a real Docker daemon", "builds images", "a private registry",
                     "the card in containers", "the driver and its CUDA", "a volume that stays",
                     "several containers", "Compose with a card"):  # fmt: skip
        assert f"| {question} |" in TEXT
    assert len(MADE) == 12
