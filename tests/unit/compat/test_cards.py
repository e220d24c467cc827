"""Which card is meant, and what its id or name tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.compat.cards import architecture, device_id, name_of
from verify.compat.choice import card_of
from verify.errors import VerifyError


@pytest.mark.parametrize(
    ("device", "name", "capabilities"),
    [
        ("0x2684", "ada", ((8, 9),)),
        ("2684", "ada", ((8, 9),)),
        ("10de:2684", "ada", ((8, 9),)),
        ("10DE:20B0", "ampere", ((8, 0),)),
        ("2204", "ampere", ((8, 6),)),
        ("1eb8", "turing", ((7, 5),)),
        ("1db4", "volta", ((7, 0),)),
        ("15f8", "pascal", ((6, 0),)),
        ("1b06", "pascal", ((6, 1),)),
        ("1380", "maxwell", ((5, 0),)),
        ("13c0", "maxwell", ((5, 2),)),
        ("2330", "hopper", ((9, 0),)),
        ("2901", "blackwell", ((10, 0),)),
        ("3182", "blackwell", ((10, 3),)),
        ("2b00", "blackwell", ((11, 0),)),
        ("2b85", "blackwell", ((12, 0),)),
        ("2e12", "blackwell", ((12, 1),)),
        ("102d", "kepler", ()),
    ],
)
def test_the_id_tells_architecture_and_capability(
    device: str, name: str, capabilities: tuple[tuple[int, int], ...]
) -> None:
    found = architecture(device)
    assert found is not None
    assert (found.name, found.capabilities) == (name, capabilities)


@pytest.mark.parametrize("device", ["13f9", "29bc", "3340"])
def test_where_the_id_does_not_decide_every_capability_stays(device: str) -> None:
    found = architecture(device)
    assert found is not None
    assert len(found.capabilities) > 1


@pytest.mark.parametrize("device", ["9999", "ffff", "0000", "", "nonsense", "8086:2684", "10de:26840", None])
def test_what_no_range_holds_is_not_guessed(device: str | None) -> None:
    assert architecture(device) is None
    assert name_of(device) is None


@given(st.integers(0, 0xFFFF))
def test_any_spelling_of_an_id_is_the_same_card(number: int) -> None:
    spellings = [f"{number:04x}", f"0x{number:04X}", f"10de:{number:04x}", f"0x10de:0x{number:04x}"]
    spellings += [f"[10de:{number:04x}]", f"[{number:04X}]"]
    assert {device_id(text) for text in spellings} == {number}
    assert len({architecture(text) for text in spellings}) == 1


@given(st.text(max_size=20))
def test_any_text_is_a_card_or_a_sentence(text: str) -> None:
    said = ""
    try:
        card_of(text)
    except VerifyError as error:
        said = str(error)
    assert said == "" or said.startswith("--card ")


@pytest.mark.parametrize(
    ("asked", "name", "capabilities"),
    [
        ("10de:2684", "GeForce RTX 4090", ((8, 9),)),
        ("RTX 4090", "GeForce RTX 4090", ((8, 9),)),
        ("NVIDIA GeForce RTX 3060", "GeForce RTX 3060", ((8, 6),)),
        ("t4", "Tesla T4", ((7, 5),)),
        ("A10", "A10", ((8, 6),)),
        ("P40", "Tesla P40", ((6, 1),)),
        ("3090", None, ((8, 6),)),  # of several names, and an id of nothing
        ("2080", None, ((7, 5),)),
        ("A100", None, ((8, 0),)),
    ],
)
def test_a_part_of_the_name_is_enough_where_it_means_one_kind(
    asked: str, name: str | None, capabilities: tuple[tuple[int, int], ...]
) -> None:
    found = card_of(asked)
    assert (found.name, found.capabilities) == (name, capabilities)
    assert (found.alike > 1) is (name is None)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("RTX 4000", ["several kinds", "Quadro RTX 4000 (10de:1eb1)", "RTX 4000 Ada Generation"]),
        ("MX", ["several kinds", "and 19 more"]),
        ("Radeon", ["no PCI id", "lspci -nn"]),
        ("10de:9999", ["in no range", "compute_cap"]),
        ("", ["no PCI id"]),
    ],
)
def test_a_refusal_says_what_to_give(asked: str, words: list[str]) -> None:
    with pytest.raises(VerifyError) as refused:
        card_of(asked)
    for word in words:
        assert word in str(refused.value)
