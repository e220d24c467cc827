"""Sixteen hosts over SSH: down, failing, hanging at once or later; none of them hides the others."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.live.fleet_lab import DOWN, FAILED, FAILING, GOOD, HANGING, LATE, LATE_S, NAMES, Fleet, Ran

if TYPE_CHECKING:
    from collections.abc import Iterator

STATES = dict.fromkeys(GOOD, "pass") | {
    DOWN: "unreachable",
    FAILING: "collection failed",
    HANGING: "timed out",
    LATE: "no answer",
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    made = Fleet()
    try:
        made.make()
        yield made
    finally:
        made.remove()


@pytest.fixture(scope="module")
def first(fleet: Fleet) -> Ran:
    """Return the run over all of them."""
    return fleet.verify()


@pytest.fixture(scope="module")
def second(fleet: Fleet, first: Ran) -> tuple[Ran, list[str]]:
    """Return the run over those that failed, two of them mended, and the hosts that it collected from."""
    assert failed_hosts(fleet), first.printed[-6000:]
    kept = {name: collected(fleet, name) for name in NAMES}
    fleet.mend(FAILING)
    fleet.mend(LATE)
    again = fleet.verify("--limit", f"@{fleet.evidence}/failed.hosts,localhost")
    return again, [name for name in kept if collected(fleet, name) != kept[name]]


def collected(fleet: Fleet, name: str) -> int:
    """Tell one run's collection from the next one's: reports are written anew for all, and this is copied."""
    return (fleet.evidence / name / "run.json").stat().st_mtime_ns


def shown(fleet: Fleet) -> dict[str, str]:
    """Return each host's state as the page shows it."""
    page = (fleet.evidence / "index.html").read_text()
    rows = re.findall(r"<tbody.*?</tbody>", page.partition("</table>")[0], re.DOTALL)
    found = [re.search(r'rowheader">([^< ]+).*?data-n="state">([^<]+)', row, re.DOTALL) for row in rows]
    return {one[1]: one[2].strip() for one in found if one}


def failed_hosts(fleet: Fleet) -> list[str]:
    return (fleet.evidence / "failed.hosts").read_text().split()


def recap(ran: Ran) -> set[str]:
    """Return the hosts that Ansible touched."""
    return set(re.findall(r"(?m)^(\S+)\s*: ok=", ran.printed.partition("PLAY RECAP")[2]))


def test_the_run_ends_and_fails(first: Ran) -> None:
    assert first.status == 2, first.printed[-6000:]
    assert recap(first) == {*NAMES, "localhost"}


def test_the_page_shows_every_host_with_its_state(fleet: Fleet, first: Ran) -> None:
    assert shown(fleet) == STATES, first.printed[-6000:]


def test_the_second_look_reached_the_good_ones(first: Ran) -> None:
    failed = re.findall(r"FAILED \S+test_raw\.py::\S+\[ssh://([^]]+)\]", first.printed)
    assert set(failed) == {LATE}, first.printed[-6000:]


def test_the_report_fails_and_names_them(fleet: Fleet, first: Ran) -> None:
    report = fleet.report()
    assert report.status == 1, first.printed[-6000:] + report.printed
    assert [name for name in NAMES if name not in report.printed] == []


def test_failed_hosts_are_exactly_those_four(fleet: Fleet, first: Ran) -> None:
    assert failed_hosts(fleet) == FAILED, first.printed[-6000:]


def test_the_good_ones_have_their_evidence_and_the_others_a_reason(fleet: Fleet, first: Ran) -> None:
    assert {name: fleet.judged(name)["outcome"] for name in NAMES} == dict.fromkeys([*GOOD, LATE], "ok") | {
        DOWN: "unreachable",
        FAILING: "failed",
        HANGING: "timed-out",
    }, first.printed[-6000:]
    for name in [*GOOD, LATE]:
        kept = {path.name for path in (fleet.evidence / name).iterdir()}
        assert kept >= {"recording-host.json", "recording-container.json", "findings.json", "run.json"}, name
    assert "python3: cannot run" in fleet.judged(FAILING)["detail"]
    assert fleet.judged(DOWN)["detail"]
    assert fleet.judged(HANGING)["detail"]


def test_a_host_that_hangs_once_it_was_recorded_says_so(fleet: Fleet, first: Ran) -> None:
    run = json.loads((fleet.evidence / LATE / "run.json").read_text())
    assert run["second_look"]["outcome"] == "no-answer", first.printed[-6000:]
    assert f"did not answer within {LATE_S} s" in run["second_look"]["detail"]
    assert f"did not answer within {LATE_S} s" in fleet.report().printed.replace("\n", " ")
    assert fleet.processes(LATE).count("sleep 900") == 0


def test_going_on_touches_those_alone(second: tuple[Ran, list[str]]) -> None:
    again, renewed = second
    assert again.status == 2, again.printed[-6000:]
    assert recap(again) == {*FAILED, "localhost"}
    assert renewed == FAILED


def test_the_page_still_shows_all_sixteen(fleet: Fleet, second: tuple[Ran, list[str]]) -> None:
    again, _ = second
    assert shown(fleet) == STATES | {FAILING: "pass", LATE: "pass"}, again.printed[-6000:]
    assert failed_hosts(fleet) == [DOWN, HANGING]
    assert fleet.report().status == 1
