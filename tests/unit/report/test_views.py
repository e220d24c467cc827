from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from tests.unit.report.helpers import FINDINGS, RACE, host_report
from verify.findings import Finding, Layer, Status
from verify.report.markdown import fleet_page
from verify.report.model import Fleet, HostReport
from verify.report.stack_view import print_doctor, verdict_style
from verify.report.terminal import print_fleet, race_rows

EXPECTED = Finding("framework.cpu-build", Layer.FRAMEWORK, Status.FAIL, "CPU build", expected=True)
GOOD = (FINDINGS[0], EXPECTED)


def shown(view: str, *reports: HostReport) -> str:
    stream = io.StringIO()
    out = Console(file=stream, width=160)
    if view == "doctor":
        print_doctor(reports[0], out)
    else:
        print_fleet(Fleet(reports), out)
    return stream.getvalue()


def test_verdicts() -> None:
    assert host_report(*GOOD).verdict == "pass (1 expected failure)"
    assert host_report(FINDINGS[0], FINDINGS[1]).verdict == "pass (1 warning)"
    assert host_report(*FINDINGS).verdict == "FAIL: runtime"
    assert host_report(*FINDINGS, outcome="unreachable").verdict == "FAIL: unreachable"
    assert host_report(FINDINGS[5]).verdict == "FAIL: nothing passed"
    assert host_report(*GOOD, FINDINGS[5]).verdict == "pass (1 expected failure, 1 of 11 layers skipped)"


def test_a_pass_of_which_most_was_skipped_says_so_and_is_not_green() -> None:
    skips = [Finding(f"{layer}.x", layer, Status.SKIP, "not recorded") for layer in Layer]
    report = host_report(FINDINGS[0], *(skip for skip in skips if skip.layer is not Layer.DRIVER))
    assert (report.verdict, report.failed, report.mostly_skipped) == (
        "pass (10 of 11 layers skipped)",
        False,
        True,
    )
    assert verdict_style(report) != verdict_style(host_report(*GOOD)) != verdict_style(host_report(*FINDINGS))
    # A layer of which one thing was judged is not skipped.
    assert host_report(FINDINGS[0], *skips).skipped == 10
    for view in ("doctor", "fleet"):
        assert "10 of 11 layers skipped" in " ".join(shown(view, report).split())


def test_fleet_without_a_host_has_failed() -> None:
    assert Fleet(()).failed
    assert not Fleet((host_report(*GOOD),)).failed
    assert Fleet((host_report(*GOOD), host_report(*FINDINGS))).failed


def test_table_has_a_row_a_host_and_says_simulated() -> None:
    text = shown(
        "fleet", host_report(*GOOD, race=RACE), host_report(*FINDINGS, host="lab-2", simulated=False)
    )
    for part in (
        "sim-lab-1",
        "(simulated)",
        "pass (1 expected",
        "lab-2",
        "FAIL: runtime",
        "2 x NVIDIA A10",
        "0.21 s",
        "absent",
    ):
        assert part in text
    assert "sudo nvidia-ctk runtime configure --runtime=docker" in text


def test_table_without_race_or_cards() -> None:
    text = shown("fleet", host_report(*GOOD, cards=()))
    assert "not run" in text
    assert "none seen" in text


def test_markup_in_recorded_text_is_text() -> None:
    odd = replace(FINDINGS[2], summary="[bold]not markup[/bold] [/]")
    assert "[bold]not markup[/bold] [/]" in shown("doctor", host_report(odd))


def test_doctor_has_a_line_a_layer_and_opens_the_culprit_only() -> None:
    lines = shown("doctor", host_report(*FINDINGS)).splitlines()
    layers = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert layers[:-1] == ["driver", "engine", "runtime", "container", "framework", "race"]
    assert layers[-1] == "warn:"  # what the words mean
    text = "\n".join(lines)
    assert text.count("next") == 1
    assert "between   engine and runtime disagree" in text
    assert "evidence  docker-info" in text
    assert "blocked  by runtime.not-registered" in text
    assert "framework  expected fails, as was said before: torch" in text
    assert "(simulated)" in lines[0]
    assert "\x1b" not in text


def test_page_has_rows_findings_and_next_steps() -> None:
    page = fleet_page(Fleet((host_report(*FINDINGS, race=RACE),)))
    assert "1 host(s), 1 failed." in page
    assert "| sim-lab-1 (simulated) | FAIL: runtime | 2 x NVIDIA A10 (simulated) |" in page
    assert "the running daemon has runc only \\| not nvidia" in page
    assert "    sudo nvidia-ctk runtime configure --runtime=docker" in page
    assert "fail, expected" in page
    assert "**Simulated.**" in page
    assert "sha256:abc" in page


def test_page_of_real_hosts_does_not_say_simulated() -> None:
    assert "imulated" not in fleet_page(Fleet((host_report(FINDINGS[0], simulated=False, cards=("A10",)),)))


def test_race_rows_never_show_a_number_that_was_not_measured() -> None:
    rows = {row[0]: row for row in race_rows(RACE)}
    assert rows["network"] == ("network", "210 ms", "absent", None)
    assert rows["fraud"] == ("fraud", "absent", "absent", None)
    assert race_rows({}) == []


def test_warnings_and_expected_failures_have_a_line_each_below_the_table() -> None:
    out = Console(file=io.StringIO(), width=100)
    warning = Finding("driver.branch", Layer.DRIVER, Status.WARN, "past its end")
    print_fleet(Fleet((host_report(*GOOD, EXPECTED, warning),)), out)
    text = out.file.getvalue()  # type: ignore[attr-defined]
    assert "expected: framework.cpu-build: CPU build" in text
    assert "warn: driver.branch: past its end" in text
    print_fleet(Fleet((host_report(*GOOD),)), quiet := Console(file=io.StringIO(), width=100))
    assert "warn" not in quiet.file.getvalue()  # type: ignore[attr-defined]
