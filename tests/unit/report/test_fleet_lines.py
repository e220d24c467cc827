"""Drift and failed hosts, where a person reads the table: the terminal, evidence/README.md, --json."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from rich.console import Console

from tests.unit.fleet.generated import write_host
from tests.unit.report.helpers import FINDINGS, host_report
from verify.fleet.write import write_lock
from verify.report.evidence import write
from verify.report.fleet_lines import fleet_lines
from verify.report.model import Fleet
from verify.report.terminal import print_fleet

if TYPE_CHECKING:
    from pathlib import Path


def three_and_a_dead_one(folder: Path) -> Path:
    """Write two hosts alike, number 7 with another driver (generated.py), and one that is gone."""
    for number in (1, 2, 7):
        write_host(folder, number, "healthy-lab-host", "healthy-lab-container")
    write_host(folder, 3, None, outcome="unreachable")
    return folder


def printed(fleet: Fleet) -> str:
    print_fleet(fleet, Console(file=(stream := io.StringIO()), width=200))
    return stream.getvalue()


def test_drift_is_one_line_with_what_is_and_what_should_be(tmp_path: Path) -> None:
    fleet = write(three_and_a_dead_one(tmp_path))
    assert list(fleet.drifts) == ["node-007"]
    line = fleet_lines(fleet)[0]
    assert line.startswith("node-007: drifts: driver is 580.126.09, should be 580.")
    assert line.endswith("(2 of 3 hosts, not known of 1)")
    for text in (printed(fleet), (tmp_path / "README.md").read_text(encoding="utf-8")):
        assert line in text
    rows = {row["host"]: row["drift"] for row in fleet.document()["hosts"]}
    assert rows["node-001"] is rows["node-003"] is None
    assert str(rows["node-007"]).startswith("driver is 580.126.09")


def test_the_lock_file_is_named_where_it_decides(tmp_path: Path) -> None:
    three_and_a_dead_one(tmp_path)
    write_lock(tmp_path, "node-007")
    drifts = write(tmp_path).drifts
    assert list(drifts) == ["node-001", "node-002"]
    assert "should be 580.126.09 (the lock file, from node-007)" in drifts["node-001"]


def test_failed_hosts_are_named_with_the_way_on(tmp_path: Path) -> None:
    fleet = write(three_and_a_dead_one(tmp_path))
    line = "1 of 4 failed: node-003. To go on with these: make site LIMIT=@evidence/failed.hosts"
    assert fleet_lines(fleet)[-1] == line
    for text in (printed(fleet), (tmp_path / "README.md").read_text(encoding="utf-8")):
        assert line in text


def test_of_many_failed_hosts_the_first_are_named_and_all_are_counted() -> None:
    hosts = tuple(host_report(*FINDINGS, host=f"lab-{number:03}") for number in range(500))
    line = fleet_lines(Fleet(hosts))[0]
    assert line.startswith("500 of 500 failed: lab-000, ")
    assert "lab-011 and 488 more." in line


def test_a_fleet_of_which_nothing_is_to_be_said_has_no_line() -> None:
    fleet = Fleet((host_report(FINDINGS[0]),))
    assert fleet_lines(fleet) == []
    assert "drifts" not in printed(fleet)


def test_of_one_host_that_failed_the_table_has_said_it() -> None:
    assert fleet_lines(Fleet((host_report(*FINDINGS),))) == []
