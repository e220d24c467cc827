from __future__ import annotations

from xml.etree import ElementTree as ET

from tests.unit.report.helpers import FINDINGS, host_report
from verify.report.junit import junit


def suite(text: str) -> ET.Element:
    found = ET.fromstring(text).find("testsuite")  # noqa: S314  # our own
    assert found is not None
    return found


def test_one_case_a_finding_with_its_outcome() -> None:
    found = suite(junit(host_report(*FINDINGS).document()))
    assert found.attrib == {
        "name": "sim-lab-1 (simulated)",
        "tests": "6",
        "failures": "1",
        "errors": "0",
        "skipped": "3",
    }
    outcome = {case.attrib["name"]: [child.tag for child in case] for case in found}
    assert outcome == {
        "driver.answers": ["system-out"],
        "engine.cdi": ["system-out"],
        "runtime.not-registered": ["failure"],
        "container.run-runtime": ["skipped"],
        "framework.cpu-build": ["skipped"],
        "race.ran": ["skipped"],
    }


def test_failure_says_everything() -> None:
    failure = suite(junit(host_report(*FINDINGS).document())).find("*/failure")
    assert failure is not None
    assert failure.text is not None
    for part in (
        "runc only",
        "between: engine and runtime",
        "next: sudo nvidia-ctk",
        'docker-info: "Runtimes"',
    ):
        assert part in failure.text


def test_expected_and_blocked_say_so() -> None:
    text = junit(host_report(*FINDINGS).document())
    assert "expected failure: torch 2.13.0+cpu has no CUDA" in text
    assert "blocked by runtime.not-registered" in text


def test_characters_that_xml_forbids_are_replaced() -> None:
    assert "\x1b" not in junit(host_report(*FINDINGS).document())


def test_no_clock() -> None:
    text = junit(host_report(*FINDINGS).document())
    assert "timestamp" not in text
    assert 'time="0"' in text
