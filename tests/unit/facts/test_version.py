from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.facts.version import Version


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("418.87.01", (418, 87, 1)),
        ("515.57", (515, 57)),
        ("550.107.02-0ubuntu0.24.04.1", (550, 107, 2)),
        ("525.85.12-1", (525, 85, 12)),
        ("510.60.02-0lambda0~20.04.1", (510, 60, 2)),
        ("3:580.65.06-1.el10", (580, 65, 6)),
        ("26.1.5+dfsg1", (26, 1, 5)),
        ("20.10.24+dfsg1-1+deb12u1+b6", (20, 10, 24)),
        ("1.20.2-1", (1, 20, 2)),
        ("1.20.0~rc.1-1", (1, 20, 0)),
        ("v29.4.3", (29, 4, 3)),
        (" 12.4\n", (12, 4)),
        ("580", (580,)),
    ],
)
def test_every_spelling(text: str, parts: tuple[int, ...]) -> None:
    version = Version.parse(text)
    assert version
    assert version.parts == parts


@pytest.mark.parametrize("text", [None, "", "N/A", "[Not Supported]", "unknown", "-1", ".5", "1.2.3.4.5.6.7"])
def test_what_is_no_version(text: str | None) -> None:
    assert Version.parse(text) is None


def test_order_is_by_number() -> None:
    assert Version.of("570.86") > Version.of("570.9")
    assert Version.of("12.10") > Version.of("12.8")
    assert Version.of("1.20") == Version.of("1.20.0")
    assert hash(Version.of("1.20")) == hash(Version.of("1.20.0"))
    assert Version.of("1.20") < Version.of("1.20.1")
    assert Version.of("535.54.03") != "535.54.03"


def test_leading_zeros_are_kept_for_people() -> None:
    assert str(Version.of("550.163.01-2")) == "550.163.01"


def test_our_own_tables_must_hold_versions() -> None:
    with pytest.raises(ValueError, match="'latest' is not a version"):
        Version.of("latest")


@given(
    st.lists(st.integers(0, 9999), min_size=1, max_size=5),
    st.lists(st.integers(0, 9999), min_size=1, max_size=5),
)
def test_comparing_agrees_with_padded_tuples(one: list[int], other: list[int]) -> None:
    def padded(parts: list[int]) -> list[int]:
        return parts + [0] * (5 - len(parts))

    versions = [Version.of(".".join(map(str, parts))) for parts in (one, other)]
    assert (versions[0] < versions[1]) == (padded(one) < padded(other))


@given(st.text(max_size=30))
def test_any_text_is_a_version_or_none(text: str) -> None:
    version = Version.parse(text)
    assert version is None or version.parts


@pytest.mark.parametrize("text", ["\u0665\u0665\u0660.1", "\uff15\uff15\uff10.1", "\u00b2.1"])
def test_digits_of_other_scripts_are_no_version(text: str) -> None:
    assert Version.parse(text) is None
    assert Version.typed(text) is None


@pytest.mark.parametrize("text", ["550.163.01", " 550.163.01 ", "v550.163.01"])
def test_what_a_person_types_is_the_number_alone(text: str) -> None:
    assert Version.typed(text) == Version.of("550.163.01")


@pytest.mark.parametrize("text", ["550.163.01x", "550.163.01-1", "12.8 or so", "12.8.", "12..8", ""])
def test_what_stands_behind_a_number_is_not_guessed_away(text: str) -> None:
    assert Version.typed(text) is None
