"""Every row of every table has a source and a date, and none stands there twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from verify.compat.cards import architecture, architectures, names
from verify.compat.cuda import packaged_drivers
from verify.compat.table import rows
from verify.compat.torch import builds
from verify.facts.version import Version

Row = dict[str, Any]
FOLDER = Path(__file__).parents[3] / "verify/compat"
TABLES = sorted([*FOLDER.glob("*.yml"), *FOLDER.glob("*.json")])
DATE = re.compile(r"^20\d\d-[01]\d(-[0-3]\d)?$")
# What tells one row from another, where it is not the whole row.
KEYS = {
    ("cuda", "minimum_drivers"): ("cuda_major",),
    ("cuda", "packaged_drivers"): ("cuda", "update"),
    ("cuda", "toolkit_cards"): ("from",),
    ("forward", "cards"): ("pattern",),
    ("forward", "packages"): ("package",),
    ("torch", "releases"): ("release",),
    ("torch", "builds"): ("release", "index"),
    ("torch", "arch_lists"): ("index", "from", "machine"),
    ("cards", "architectures"): ("name",),
    ("peaks", "peaks"): ("name",),
    ("card_memory", "memory"): ("name",),
    ("cards", "capabilities"): ("architecture",),
    ("cards", "devices"): ("first",),
    ("driver", "branches"): ("branch",),
    ("driver", "security_floors"): ("branch",),
    ("toolkit", "cves"): ("id",),
    ("engine", "features"): ("name",),
    ("xid", "xids"): ("xid",),
    ("cuda_errors", "errors"): ("number",),
}


def sections() -> list[tuple[str, str, list[Row]]]:
    found = []
    for path in TABLES:
        for section, content in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            if isinstance(content, list) and all(isinstance(row, dict) for row in content):
                found.append((path.stem, section, content))
    return found


@pytest.mark.parametrize(("table", "section", "content"), sections(), ids=lambda value: str(value)[:30])
def test_every_row_has_source_and_date(table: str, section: str, content: list[Row]) -> None:
    assert content, f"{table}.{section} is empty"
    for row in content:
        assert str(row.get("source") or "").strip(), row
        assert DATE.match(str(row.get("date"))), row


@pytest.mark.parametrize(("where", "keys"), KEYS.items(), ids=str)
def test_no_row_stands_there_twice(where: tuple[str, str], keys: tuple[str, ...]) -> None:
    seen = [tuple(row[key] for key in keys) for row in rows(*where)]
    assert len(seen) == len(set(seen))


def test_the_ranges_of_ids_follow_each_other() -> None:
    last = -1
    for row in rows("cards", "devices"):
        assert int(row["first"], 16) > last, row
        last = int(row["last"], 16)
        assert last >= int(row["first"], 16), row


def test_a_range_has_capabilities_of_its_architecture() -> None:
    known = architectures()
    for row in rows("cards", "devices"):
        of_card = architecture(row["first"])
        assert of_card is not None
        assert set(of_card.capabilities) <= set(known[row["architecture"]].capabilities), row


def test_every_card_with_a_name_is_in_a_range() -> None:
    assert [device for device in names() if architecture(device) is None] == []
    assert all(re.fullmatch(r"[0-9a-f]{4}", device) for device in names())


def test_a_name_is_not_given_to_an_id_twice() -> None:
    given = [device for row in rows("card_names", "names") for device in row["cards"]]
    assert len(given) == len(set(given))


def test_newer_cuda_comes_with_newer_drivers() -> None:
    found = packaged_drivers()
    assert [cuda for cuda, _ in found] == sorted(cuda for cuda, _ in found)
    assert [driver for _, driver in found] == sorted(driver for _, driver in found)


def test_every_build_belongs_to_a_release_and_every_release_has_its_build_on_pypi() -> None:
    releases = {row["release"]: row["pypi"] for row in rows("torch", "releases")}
    offered = {(row["release"], row["index"]) for row in rows("torch", "builds")}
    assert {release for release, _ in offered} == set(releases)
    assert set(releases.items()) <= offered


def test_an_index_is_named_after_its_cuda() -> None:
    for row in rows("torch", "builds"):
        assert row["index"] == "cu" + row["cuda"].replace(".", "")


def test_only_the_release_whose_matrix_is_not_out_has_no_arch_list() -> None:
    assert {str(build.release) for build in builds() if build.archs is None} == {"2.15"}


def test_a_package_goes_on_drivers_that_do_not_carry_its_cuda() -> None:
    packaged = dict(packaged_drivers())
    for row in rows("forward", "packages"):
        assert all(branch < packaged[Version.of(row["package"])].major for branch in row["branches"]), row
