"""What the README says is there, is there."""

from __future__ import annotations

import html
import re
import tomllib
from pathlib import Path

import pytest

from verify.cli import main

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONSOLE = "\n".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))


def test_every_make_target_named_exists() -> None:
    named = set(re.findall(r"make ([a-z-]+)", README))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"site", "test", "verify", "remove", "clean", "race-here", "plan"} <= named
    # "make turns", "makes": prose is not a command
    assert {name for name in named if f"`make {name}" in README or f"$ make {name}" in README} <= targets


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_every_role_is_in_the_table() -> None:
    roles = {path.parent.name for path in ROOT.glob("roles/*/meta")}
    assert roles == set(re.findall(r"\]\(roles/([a-z_]+)/README.md\)", README))


@pytest.mark.parametrize("command", re.findall(r"\.venv/bin/gpu-verify (\w+)", CONSOLE))
def test_every_gpu_verify_command_exists(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    help_text = capsys.readouterr().out
    line = next(line for line in CONSOLE.splitlines() if f"gpu-verify {command}" in line)
    for option in re.findall(r" (--[a-z-]+)", line):
        assert option in help_text


def test_the_script_that_the_readme_calls_is_declared() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts == {"gpu-verify": "verify.cli:entry"}


def test_the_picture_says_simulated_and_gives_no_ratio_for_a_card_that_did_not_run() -> None:
    text = html.unescape("".join(re.findall(r">([^<]+)</text>", (ROOT / "docs" / "site.svg").read_text())))
    text = text.replace("\xa0", " ")
    assert "sim-lab-1" in text
    assert "(simulated)" in text
    assert "absent" in text
    assert not re.search(r"ratio \d", text)
