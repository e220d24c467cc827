"""A key is trusted by its full fingerprint alone, and exactly one key is."""

from __future__ import annotations

from plugins.module_utils.gpu_host_keys import FULL, normal, objection

NEEDED = "C95B321B61E88C1809C4F759DDCAE044F796ECB0"
OTHER = "9DC858229FC7DD38854AE2D88D81803C0EBFCD88"


def test_fingerprints_are_compared_as_gpg_prints_them() -> None:
    assert normal("c95b 321b 61e8 8c18 09c4  f759 ddca e044 f796 ecb0") == NEEDED
    assert FULL.match(NEEDED)
    assert not FULL.match("DDCAE044F796ECB0")


def test_the_one_needed_key_is_accepted() -> None:
    assert objection([NEEDED], NEEDED, "url") is None


def test_b4_another_key_a_second_key_and_no_key_are_refused() -> None:
    another = objection([OTHER], NEEDED, "url") or ""
    assert OTHER in another
    assert NEEDED in another
    assert "Nothing was trusted" in another
    assert objection([NEEDED, OTHER], NEEDED, "url")
    assert "no OpenPGP key" in (objection([], NEEDED, "url") or "")
