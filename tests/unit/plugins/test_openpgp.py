"""Keys without gpg: the same fingerprints as gpg's, and anything that is no whole public key is none."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_openpgp import (
    KeyFormatError,
    armoured,
    binary,
    fingerprint,
    packets,
    primary_keys,
)
from tests.unit.plugins.keys import NEEDED, NEEDED_KEY, OTHER, OTHER_KEY, SIXTH, SIXTH_KEY

PACKETS = binary(NEEDED_KEY.encode())


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (NEEDED_KEY, [NEEDED]),
        (SIXTH_KEY, [SIXTH]),
        (NEEDED_KEY + OTHER_KEY, [NEEDED, OTHER]),
        (NEEDED_KEY.replace("\n\n", "\nVersion: GnuPG v2\nComment: a\n\n", 1), [NEEDED]),
        (NEEDED_KEY.replace("\n", "\r\n"), [NEEDED]),
        (f"Here is the key.\n{NEEDED_KEY}Bye.\n", [NEEDED]),
        (f"\n\n{NEEDED_KEY}", [NEEDED]),
    ],
)
def test_armoured_keys_as_gpg_reads_them(data: str, found: list[str]) -> None:
    assert primary_keys(data.encode()) == found


def test_the_same_key_in_binary() -> None:
    assert primary_keys(PACKETS) == [NEEDED]
    assert primary_keys(PACKETS + binary(OTHER_KEY.encode())) == [NEEDED, OTHER]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html><body>404</body></html>",
        b"# Unsupported distribution!\n",
        b'{"message": "Not Found"}',
        NEEDED_KEY.encode()[:-100],
        NEEDED_KEY.replace("PUBLIC", "PRIVATE").encode(),
        NEEDED_KEY.replace("mDMEaw", "mDMEax").encode(),
        NEEDED_KEY.replace("iJAE", "i%AE").encode(),
        PACKETS[:-1],
        PACKETS + b"\x00",
        b"\x94" + PACKETS[1:],  # a secret key
        b"\x98\x01\x03",  # version 3
        PACKETS[packets(PACKETS)[0][1].__len__() + 2 :],  # a signature first
    ],
)
def test_b3_what_is_no_whole_public_key_is_none(data: bytes) -> None:
    assert primary_keys(data) == []


@given(st.binary(max_size=80))
def test_any_bytes_are_an_answer(data: bytes) -> None:
    assert isinstance(primary_keys(data), list)


@given(st.integers(min_value=0, max_value=len(PACKETS) - 1), st.integers(min_value=1, max_value=255))
def test_b4_a_changed_byte_of_the_key_itself_is_another_fingerprint(at: int, change: int) -> None:
    head = len(packets(PACKETS)[0][1]) + 2
    changed = bytearray(PACKETS)
    changed[at] ^= change
    if at < head:
        assert primary_keys(bytes(changed)) != [NEEDED]


@given(st.binary(max_size=300))
def test_armour_there_and_back(data: bytes) -> None:
    assert binary(armoured(data)) == data


def test_armour_is_the_one_that_gpg_writes() -> None:
    assert armoured(PACKETS).decode() == NEEDED_KEY


@pytest.mark.parametrize(
    ("header", "size"),
    [(b"\x98\x33", 51), (b"\x99\x00\x33", 51), (b"\x9a\x00\x00\x00\x33", 51), (b"\xc6\x33", 51),
     (b"\xc6\xff\x00\x00\x00\x33", 51), (b"\xc6\xc0\x00", 192), (b"\xc6\xc1\x00", 448)],
)  # fmt: skip
def test_every_form_of_length(header: bytes, size: int) -> None:
    assert packets(header + b"\x04" * size) == [(6, b"\x04" * size)]


@pytest.mark.parametrize("header", [b"\x9b\x04", b"\xc6\xe0\x04", b"\x9a\x00", b"\xc6\xc0", b"\xc6"])
def test_lengths_that_keys_do_not_have(header: bytes) -> None:
    with pytest.raises(KeyFormatError):
        packets(header)


def test_only_versions_whose_rule_is_known() -> None:
    with pytest.raises(KeyFormatError):
        fingerprint(b"\x05" + bytes(20))


def test_a_checksum_may_be_left_out_but_not_wrong() -> None:
    lines = NEEDED_KEY.splitlines(keepends=True)
    assert primary_keys("".join(line for line in lines if not line.startswith("=")).encode()) == [NEEDED]
    wrong = base64.b64encode(b"abc").decode()
    assert primary_keys(NEEDED_KEY.replace("=Ujy/", f"={wrong}").encode()) == []
