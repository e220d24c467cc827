from __future__ import annotations

import re

import pytest

from plugins.module_utils import gpu_host_daemon_change, gpu_host_daemon_merge
from verify.compat import cuda, driver, engine, toolkit
from verify.compat.table import rows
from verify.facts.version import Version

TABLES = {
    "toolkit": ("safe_floor", "cves", "field_bugs", "cdi_refresh", "cdi_schemas", "obsolete"),
    "toolkit_repositories": ("repositories", "same_as"),
    "engine": ("features",),
    "engine_packages": ("packages", "repositories"),
    "driver": ("security_floors", "branches", "unbuildable"),
    "xid": ("xids",),
    "cards": ("architectures", "devices", "unknown", "switches"),
    "repositories": ("repositories",),
    "driver_packages": ("packages", "pinning", "fabric_manager", "numbered"),
    "cuda": ("minimum_drivers", "packaged_drivers"),
}


@pytest.mark.parametrize(("table", "section"), [(t, s) for t, sections in TABLES.items() for s in sections])
def test_every_row_names_its_source_and_date(table: str, section: str) -> None:
    for row in rows(table, section):
        assert row["source"]
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", row["date"]), row


@pytest.mark.parametrize(
    ("version", "safe"),
    [("1.17.8", False), ("1.19.0", False), ("1.19.1", True), ("1.20.2", True), ("1.9.0", False)],
)
def test_toolkit_floor(version: str, *, safe: bool) -> None:
    assert (Version.of(version) >= toolkit.SAFE_FLOOR) is safe
    assert bool(toolkit.cves(Version.of(version))) is not safe


def test_toolkit_holes_by_version() -> None:
    assert toolkit.cves(Version.of("1.17.7")) == ("CVE-2025-23266", "CVE-2025-23267", "CVE-2026-24260")
    assert toolkit.cves(Version.of("1.17.8")) == ("CVE-2026-24260",)


@pytest.mark.parametrize(
    ("version", "known"), [("1.19.0", False), ("1.19.1", True), ("1.20.0", True), ("1.20.1", False)]
)
def test_toolkit_field_bug(version: str, *, known: bool) -> None:
    assert bool(toolkit.field_bug(Version.of(version))) is known


@pytest.mark.parametrize(
    ("version", "cdi", "feature"),
    [
        ("20.10.24", False, False),
        ("24.0.9", False, False),
        ("25.0.3", True, True),
        ("28.1.1", True, True),
        ("28.2.0", True, False),
        ("29.4.3", True, False),
    ],
)
def test_engine(version: str, *, cdi: bool, feature: bool) -> None:
    found = Version.of(version)
    assert (engine.has_cdi(found), engine.needs_cdi_feature(found)) == (cdi, feature)


@pytest.mark.parametrize(
    ("version", "month", "ended"),
    [
        ("535.309.01", "2026-06", False),
        ("535.309.01", "2026-07", True),
        ("535.309.01", None, False),
        ("550.163.01", None, True),
        ("580.159.03", "2026-12", False),
        ("999.1", "2026-12", False),
    ],
)
def test_driver_branches(version: str, month: str | None, *, ended: bool) -> None:
    assert bool(driver.end_of_life(Version.of(version), month)) is ended


def test_driver_floor() -> None:
    below = driver.below_floor(Version.of("580.65.06"))
    assert below
    assert str(below.floor) == "580.159.03"
    assert driver.below_floor(Version.of("580.159.03")) is None
    assert driver.below_floor(Version.of("550.163.01")) is None


@pytest.mark.parametrize(
    ("built_for", "minimum"),
    [("11.8", "450.80.02"), ("12.6", "525.60.13"), ("13.0", "580.65.06"), ("99.0", None)],
)
def test_minor_version_compatibility(built_for: str, minimum: str | None) -> None:
    assert cuda.minimum_driver(Version.of(built_for)) == Version.parse(minimum)


@pytest.mark.parametrize(("version", "by_cdi"), [("28.5.1", False), ("29.1.9", False), ("29.2.0", True)])
def test_engine_gpus(version: str, *, by_cdi: bool) -> None:
    assert engine.gpus_by_cdi(Version.of(version)) is by_cdi


def test_the_modules_on_the_target_know_the_same_versions() -> None:
    """They cannot read the table, which stays on the controller."""
    since = {row["name"]: tuple(map(int, row["since"].split("."))) for row in rows("engine", "features")}
    assert since == {
        "validate": gpu_host_daemon_change.VALIDATES,
        "cdi": gpu_host_daemon_merge.NO_CDI_BEFORE,
        "cdi-by-default": gpu_host_daemon_merge.CDI_BY_DEFAULT,
        "gpus-by-cdi": gpu_host_daemon_merge.GPUS_BY_CDI,
    }
