"""docs/when-a-gpu.md: every command on it is run, and prints what the page says it prints.

The race itself runs without torch here: its lanes are absent, and what follows from that is read all the
same.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from verify.cli import main

PAGE = Path(__file__).resolve().parents[3] / "docs" / "when-a-gpu.md"
TEXT = PAGE.read_text(encoding="utf-8")


def commands(text: str) -> list[tuple[str, str]]:
    """Return every command of the page with the lines that it prints."""
    found: list[tuple[str, str]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
            command = " ".join(line.rstrip("\\").strip() for line in lines[: last + 1])
            found.append((command, "\n".join(lines[last + 1 :]).strip()))
    return found


COMMANDS = commands(TEXT)
STANDALONE = [(c, out) for c, out in COMMANDS if c.startswith("gpu-verify advise") and "--race" not in c]
# Chapter by chapter: what the page is there to say.
NEEDED, NOT_NEEDED = TEXT.split("## Where it is not")


def told(out: str) -> str:
    return " ".join(out.split())


@pytest.mark.parametrize(("command", "printed"), STANDALONE, ids=[c[18:60] for c, _ in STANDALONE])
def test_a_command_prints_what_the_page_says(
    command: str, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    status = main(shlex.split(command)[1:])
    captured = capsys.readouterr()
    assert captured.err == ""
    assert printed
    assert told(captured.out) == told(printed)  # all of it, the notes at the end too
    assert status == ("will not fit" in printed)
    verdict = told(printed).removeprefix("verdict ")
    if command in {c for c, _ in commands(NOT_NEEDED)}:
        assert verdict.startswith("CPU is enough")
    else:
        assert verdict.startswith(("GPU:", "will not fit in this card's memory"))


def test_one_training_of_the_search_is_not_worth_a_card(capsys: pytest.CaptureFixture[str]) -> None:
    search = next(command for command, _ in STANDALONE if "--trainings 300" in command)
    assert main(shlex.split(search.replace("--trainings 300", "--trainings 1"))[1:]) == 0
    assert "CPU is enough" in capsys.readouterr().out


def test_four_situations_and_four_others() -> None:
    assert len(re.findall(r"^### \d\. ", NEEDED, re.MULTILINE)) == 4
    assert len(re.findall(r"^### ", NOT_NEEDED, re.MULTILINE)) == 4
    assert sum("GPU:" in out for _, out in commands(NEEDED)) == 4
    assert len(STANDALONE) == 9


def test_the_race_its_advice_and_its_comparison_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    others = [command for command, _ in COMMANDS if (command, _) not in STANDALONE]
    assert [command.split()[1] for command in others] == ["race", "advise", "race", "race"]
    for command in others:
        arguments = shlex.split(command)[1:]
        is_race = arguments[0] == "race" and arguments[1] != "compare"
        status = main([*arguments, "--quick", "--repeats", "2"] if is_race else arguments)
        captured = capsys.readouterr()
        assert status in ({0, 1} if is_race else {0}), captured.err
        assert captured.out
    assert {path.name for path in tmp_path.iterdir()} == {"before", "now"}


def test_every_example_of_a_price_has_a_date_and_a_source() -> None:
    rows = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if re.match(r"\| .* \| \d", line)]
    assert len(rows) > 4
    for what, price, date, source in rows:
        assert what
        assert float(price) > 0
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", date)
        assert source.startswith(("[", "the same"))
    assert "not truth" in TEXT


def test_every_command_of_the_page_is_in_a_block_that_is_run() -> None:
    named = len(re.findall(r"^\$ gpu-verify ", TEXT, re.MULTILINE))
    assert named == len(COMMANDS) == len(STANDALONE) + 4
