"""Tables and options that nobody should give: each refused in one sentence, soon."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from verify.race import __main__ as program
from verify.race import fraud_data, fraud_read
from verify.race.fraud_raw import Refused, Shape, number

if TYPE_CHECKING:
    from pathlib import Path


def refusal(file: str) -> str:
    with pytest.raises(Refused) as refused:
        fraud_data.read(None, file, "y")
    return str(refused.value)


def test_no_name_at_all() -> None:
    assert refusal("") == "--fraud-data is empty: give one CSV or Parquet file"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a pipe or a device: save the table to a file first" in refusal(str(tmp_path / "pipe"))
    assert "is a pipe or a device" in refusal("/dev/zero")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,y\r1,2,0\r", "new-line character"),
        ("h" * 200_000 + ",y\n1,0\n", "field larger than field limit"),
    ],
    ids=["line ends of the first Macs", "a name without end"],
)
def test_a_first_line_that_is_no_csv(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text, newline="")
    found = refusal(str(tmp_path / "t.csv"))
    assert "cannot be read as CSV: its first line" in found
    assert said in found
    assert "\n" not in found


def test_a_wide_table_is_looked_at_column_by_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it took two minutes: every name was counted among all the others."""

    class Name(str):
        __slots__ = ()
        asked = 0

        def __eq__(self, other: object) -> bool:
            Name.asked += 1
            return super().__eq__(other)

        __hash__ = str.__hash__

    names = tuple(Name(f"c{i}") for i in range(2_000))
    monkeypatch.setattr(fraud_read, "shape", lambda _: Shape("csv", (*names, *names[:1]), 1))
    (tmp_path / "t.csv").write_text("x")
    assert "more than one column named 'c0'" in refusal(str(tmp_path / "t.csv"))
    assert Name.asked < 10 * len(names)


def test_a_name_without_end_is_cut_in_a_refusal(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("h" * 90_000 + ",b\n1,0\n")
    assert len(refusal(str(tmp_path / "t.csv"))) < 500


def test_what_pandas_takes_for_a_number() -> None:
    assert (number("1_000"), number("1e3"), number(" True ")) == (None, 1000.0, 1.0)


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--budget", "9" * 400], "is no time"),
        (["--device-arg", "--on"], "--device-arg is for --script FILE, which is not given: give both"),
        (["--script-args", "--rows 1"], "--script-args is for --script FILE, which is not given"),
        (["--only", "network", "--fraud-data", "t.csv", "--target", "y"], "the table is for fraud: name it"),
        (["--script", ""], "--script is empty: no file: give the path of a Python script"),
        (["--script", "/dev/zero"], "--script /dev/zero: no file"),
        (["--script", "a\0b"], "--script a\0b cannot be read (embedded null"),
    ],
    ids=lambda value: " ".join(value)[:30].replace("\0", "NUL") if isinstance(value, list) else "",
)
def test_options_that_contradict(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert program.main([*argv, "--out", "-"]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
