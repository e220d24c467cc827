"""One unreachable, one hanging, one failing, one not recorded: each has its row, none hides another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.fleet.generated import write_host
from verify import cli
from verify.fleet.member import WAY_ON

STATES = {
    "node-000": "pass",
    "node-001": "unreachable",
    "node-002": "timed out",
    "node-003": "collection failed",
    "node-004": "no recording",
    "node-005": "fail",
}


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """One of each kind."""
    write_host(tmp_path, 0, "healthy-lab-host", "healthy-lab-container", race="prices")
    for number, outcome in enumerate(("unreachable", "timed-out", "failed"), 1):
        write_host(tmp_path, number, None, outcome=outcome)
    write_host(tmp_path, 4, None)
    write_host(tmp_path, 5, "driver-not-installed")
    return tmp_path


def rows(page: str) -> dict[str, str]:
    """Return each host's part of the page, by its name."""
    parts = re.findall(r"<tbody.*?</tbody>", page.partition("</table>")[0], re.DOTALL)
    return {re.findall(r'role="rowheader">([^<]+)', part)[0].strip(): part for part in parts}


def test_the_exit_status_is_1_and_each_has_its_row(evidence: Path) -> None:
    assert cli.main(["report", "--from", str(evidence)]) == 1
    found = rows((evidence / "index.html").read_text())
    states = {name: re.findall(r'data-n="state">([^<]+)', part)[0].strip() for name, part in found.items()}
    assert states == STATES


def test_failed_hosts_holds_those_that_failed_and_no_other(evidence: Path) -> None:
    cli.main(["report", "--from", str(evidence)])
    assert (evidence / "failed.hosts").read_text().split() == [n for n in STATES if STATES[n] != "pass"]


@pytest.mark.parametrize(
    ("host", "said", "step"),
    [
        ("node-001", "No route to host", "ssh node-001  #"),
        ("node-002", "no recording within 120 s", "ssh node-002 nvidia-smi  #"),
        ("node-003", "the recorder printed no recording", "gpu-verify doctor --host node-003  #"),
        ("node-004", "there is no recording of this host", "gpu-verify record --host USER@HOST"),
        ("node-005", "driver.answers", "make site LIMIT=HOST  #"),
    ],
)
def test_each_says_why_and_what_to_do_next(evidence: Path, host: str, said: str, step: str) -> None:
    cli.main(["report", "--from", str(evidence)])
    part = rows((evidence / "index.html").read_text())[host]
    assert said in part
    steps = re.findall(r"<li><pre>(.*?)</pre></li>", part, re.DOTALL)
    assert steps[0].startswith(step)
    assert len(steps) >= 2
    assert steps[-1] == WAY_ON


def test_one_that_passes_has_nothing_to_do(evidence: Path) -> None:
    cli.main(["report", "--from", str(evidence)])
    assert "What to do next" not in rows((evidence / "index.html").read_text())["node-000"]


def test_all_pass_is_0_and_nothing_is_left_in_failed_hosts(tmp_path: Path) -> None:
    write_host(tmp_path, 0, "healthy-lab-host", "healthy-lab-container")
    assert cli.main(["report", "--from", str(tmp_path)]) == 0
    assert (tmp_path / "failed.hosts").read_text() == ""
    assert WAY_ON not in (tmp_path / "index.html").read_text()


def test_a_host_whose_race_is_damaged_fails_and_the_others_are_shown(evidence: Path) -> None:
    (evidence / "node-000" / "race.json").write_text("{}")
    assert cli.main(["report", "--from", str(evidence)]) == 1
    found = rows((evidence / "index.html").read_text())
    assert list(found) == list(STATES)
    assert "make verify RACE=always LIMIT=node-000" in found["node-000"]
    assert "node-000" in (evidence / "failed.hosts").read_text()


def test_a_name_cannot_leave_the_command_that_is_shown(evidence: Path) -> None:
    run = evidence / "node-001" / "run.json"
    run.write_text(run.read_text().replace("node-001", "a; rm -r ~"))
    cli.main(["report", "--from", str(evidence)])
    page = (evidence / "index.html").read_text()
    assert "ssh &#x27;a; rm -r ~&#x27;  #" in page
