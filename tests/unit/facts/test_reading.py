from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.facts.reading import number, whole, word

SENTINELS = (
    "[N/A]",
    "N/A",
    "[Not Supported]",
    "Not Supported",
    "[Unknown Error]",
    "Unknown Error",
    "ERR!",
    "Unknown",
    "[Not Found]",
    "[Insufficient Permissions]",
    "[Requested functionality has been deprecated]",
    "[GPU is lost]",
    "",
    "  ",
)


@pytest.mark.parametrize("text", SENTINELS)
def test_a_sentinel_is_none_never_zero(text: str) -> None:
    assert number(text) is None
    assert whole(text) is None
    assert word(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("20.50", 20.5),
        (" 31 ", 31.0),
        ("23028 MiB", 23028.0),
        ("3 %", 3.0),
        ("41 C", 41.0),
        ("150.00 W", 150.0),
    ],
)
def test_a_number_with_or_without_its_unit(text: str, value: float) -> None:
    assert number(text) == value


@pytest.mark.parametrize("text", ["1e999", "0x10", "12 34", "nan", "inf", "16380\n5"])
def test_what_is_no_number(text: str) -> None:
    assert number(text) is None


def test_what_is_not_there() -> None:
    assert (number(None), whole(None), word(None)) == (None, None, None)


@given(st.text(max_size=40))
def test_any_text_is_a_finite_number_or_none(text: str) -> None:
    found = number(text)
    assert found is None or math.isfinite(found)
