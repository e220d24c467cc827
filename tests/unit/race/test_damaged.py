"""A race.json that was cut or changed by hand: drawn, compared and asked, or refused in one sentence."""

from __future__ import annotations

import json
import random
import xml.dom.minidom
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.race import recorded
from verify import compare
from verify.cli import main
from verify.errors import VerifyError
from verify.race import table
from verify.race.markdown import markdown
from verify.race.page import page
from verify.race.svg import svg

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]
HOSTILE = "\x1b[31m</svg><script>\u202e|`\n# head"
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 5e-324, float("nan"), float("inf"), 10**400, "", "x" * 3000, HOSTILE,
    [], {}, [[]], {"a": 1}, [None], [1e308] * 3, [0, 0], {"id": "failed"}, {"id": "spread", "values": 5},
)  # fmt: skip
ADVISE = ["advise", "--rows", "1M", "--columns", "30", "--model"]
NETWORK = ["mlp", "--parameters", "1M", "--card", "RTX 3060"]
WHOLE = sorted(path.stem for path in recorded.FOLDER.glob("*.json"))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inside:
        yield from places(entry, (*path, key))


def damaged(seed: int) -> Json:
    """Return a race in which one place to three are gone, or hold something else."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    race = recorded.document(chance.choice(WHOLE))
    for _ in range(chance.choice((1, 1, 3))):
        *above, last = chance.choice(list(places(race)))
        holder: Any = race
        for key in above:
            holder = holder[key]
        if chance.random() < 0.15:
            del holder[last]
        else:
            holder[last] = chance.choice(VALUES)
    return race


def one_sentence(status: int, printed: Any) -> None:
    assert status in {0, 1, 2}, printed.err
    assert "\x1b" not in printed.err
    assert "Traceback" not in printed.err
    if status == 2:
        assert printed.err.count("\n") == 1
        assert len(printed.err) < 4000
        assert printed.out == ""


@pytest.mark.parametrize("seed", range(60))
def test_it_is_compared_and_asked_or_refused(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd, whole = tmp_path / "odd.json", tmp_path / "whole.json"
    odd.write_text(json.dumps(damaged(seed)))
    whole.write_text(json.dumps(recorded.document(WHOLE[seed % len(WHOLE)])))
    for words in (
        ["race", "compare", str(odd), str(whole)],
        ["race", "compare", str(odd), str(odd), "--lang", "fr"],
        [*ADVISE, "logistic", "--race", str(odd)],
        [*ADVISE, *NETWORK, "--race", str(odd)],
    ):
        one_sentence(main(words), capsys.readouterr())
    status = main(["race", "compare", str(odd), str(odd), "--json"])
    printed = capsys.readouterr()
    one_sentence(status, printed)
    if status != 2:
        assert json.loads(printed.out, parse_constant=pytest.fail)["lanes"] is not None


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("contestants", 0, "lanes", 0, "name"), True, "a contestant or a lane in it has no name"),
        (("contestants", 0, "lanes", 0, "name"), None, "a contestant or a lane in it has no name"),
        (("contestants", 0, "lanes"), 5, "a contestant or a lane in it has no name"),
        (("contestants", 0, "lanes", 0, "median"), [], "is no whole race.json (TypeError"),
        (("contestants", 0, "lanes", 0, "samples", 0), 5e-324, "is no whole race.json (OverflowError"),
        (("contestants", 0, "lanes", 0, "median"), float("nan"), "is no JSON (NaN is no number of JSON)"),
        (("schema",), 1, "schema 1"),
        (("schema",), 99, "schema 99"),
    ],
)
def test_what_is_damaged_is_said(
    path: tuple[Any, ...], value: Any, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    race = recorded.document("gaming-card")
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(race))
    holder: Any = race
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    (tmp_path / "odd.json").write_text(json.dumps(race))
    assert main(["race", "compare", str(tmp_path / "odd.json"), str(whole)]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    one_sentence(2, printed)


def test_a_number_beyond_all_numbers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "race.json").write_text('{"contestants": [], "elapsed_s": 1e999}')
    with pytest.raises(VerifyError, match="1e999 is no number of JSON"):
        compare.read(tmp_path)


@pytest.mark.parametrize("part", ["cpu", "card"])
@pytest.mark.parametrize("value", ["text", 5, [[]]])
def test_advice_refuses_what_is_no_machine(
    part: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "race.json").write_text(json.dumps({**recorded.document("gaming-card"), part: value}))
    assert main([*ADVISE, "logistic", "--race", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert "is no whole race.json" in printed.err
    one_sentence(2, printed)


@pytest.mark.parametrize("name", ["no-card", "gaming-card"])
def test_what_a_script_said_last_steers_nothing(name: str) -> None:
    race = {**recorded.document(name), "host": HOSTILE}
    for contestant in race["contestants"]:
        for lane in contestant["lanes"]:
            lane["reason"] = HOSTILE
    assert "\x1b" not in page(race) + svg(race)
    for drawn in (markdown(race), table.text(race)):
        assert "\x1b" not in drawn
        assert "\u202e" not in drawn
        assert not any(line.startswith("# head") for line in drawn.splitlines())
    assert "<script" not in markdown(race)
    assert "<script>\u202e" not in page(race)
    xml.dom.minidom.parseString(svg(race).encode())  # noqa: S318  # our own
