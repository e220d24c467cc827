"""The peaks are a limit that measurements are held against: a slip of a digit would refuse a good one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from verify.compat.cards import architecture, name_of
from verify.compat.table import rows

PEAKS = rows("peaks", "peaks")
TFLOPS = ("float32_tflops", "float64_tflops", "tf32_tflops", "bfloat16_tflops", "float16_tflops")
# What the readers are most likely to have.
EXPECTED = {
    *("1db1", "1db4", "1eb8", "2236", "20b1", "20b5", "20b0", "20b2", "27b8", "26b9"),
    *("2331", "2330", "2335", "2901"),
    *("1e04", "2503", "2484", "2206", "2204", "2882", "2786", "2704", "2684", "2f04", "2c02", "2b85"),
    *("24b0", "2231", "2230", "26b1"),
}

by_name = pytest.mark.parametrize("row", PEAKS, ids=lambda row: str(row["name"]))


def test_no_id_has_two_peaks_and_none_is_missing() -> None:
    ids = [device for row in PEAKS for device in row["ids"]]
    assert len(ids) == len(set(ids))
    assert set(ids) >= EXPECTED


@by_name
def test_every_id_is_a_card_of_that_name(row: dict[str, Any]) -> None:
    for device in row["ids"]:
        called = name_of(device)
        assert called is not None
        # V100s differ in memory alone, a 3060 may have another chip: the name begins alike.
        assert called.startswith(row["name"]), (called, row["name"])


@by_name
def test_a_row_has_what_a_limit_needs_and_says_where_it_was_read(row: dict[str, Any]) -> None:
    assert row["float32_tflops"] is not None
    assert row["memory_gbs"] is not None
    assert row["source"]


@by_name
def test_the_precisions_are_in_order(row: dict[str, Any]) -> None:
    """What was not found is null, and says nothing of the rest."""
    order = ("float64_tflops", "float32_tflops", "tf32_tflops", "float16_tflops")
    known = [row[key] for key in order if row[key] is not None]
    assert all(one <= two for one, two in pairwise(known)), known
    assert row["bfloat16_tflops"] in {None, row["float16_tflops"]}
    assert all(row[key] is None or row[key] > 0 for key in (*TFLOPS, "memory_gbs", "l2_mib"))


@by_name
def test_float32_is_two_operations_a_core_and_tick(row: dict[str, Any]) -> None:
    if row["cores"] is None or row["boost_mhz"] is None:
        return
    assert row["float32_tflops"] == pytest.approx(2 * row["cores"] * row["boost_mhz"] / 1e6, rel=0.01)


@by_name
def test_only_a_big_chip_calculates_quickly_in_float64(row: dict[str, Any]) -> None:
    found = architecture(row["ids"][0])
    assert found is not None
    if row["float64_tflops"] is None:
        return
    share = row["float64_tflops"] / row["float32_tflops"]
    big = set(found.capabilities) & {(7, 0), (8, 0), (9, 0), (10, 0)}
    assert (
        share >= 0.45 if big else share == pytest.approx(1 / (32 if found.name == "turing" else 64), rel=0.05)
    )


@by_name
def test_a_card_without_a_unit_has_no_figure_for_it(row: dict[str, Any]) -> None:
    found = architecture(row["ids"][0])
    assert found is not None
    if found.capabilities[0] < (8, 0):
        assert row["tf32_tflops"] is None
        assert row["bfloat16_tflops"] is None
