"""findings.json as JUnit: one case a finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(document: Mapping[str, Any]) -> str:
    """Return the JUnit text of one host's findings document."""
    findings = document["findings"]
    cases = [_case(str(document["host"]), finding) for finding in findings]
    suite = ET.Element(
        "testsuite",
        name=str(document["host"]) + (" (simulated)" if document["simulated"] else ""),
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors="0",
        skipped=str(sum(case.find("skipped") is not None for case in cases)),
    )
    suite.extend(cases)
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(host: str, finding: Mapping[str, Any]) -> ET.Element:
    case = ET.Element("testcase", classname=f"{host}.{finding['layer']}", name=finding["id"], time="0")
    status, summary = finding["status"], _clean(finding["summary"])
    if status == "fail" and not finding["expected"]:
        failure = ET.SubElement(case, "failure", type=finding["id"], message=summary)
        failure.text = _clean("\n".join(_details(finding)))
    elif status == "fail":
        ET.SubElement(case, "skipped", message=f"expected failure: {summary}")
    elif status == "blocked":
        ET.SubElement(case, "skipped", message=f"blocked by {finding['culprit']}: {summary}")
    elif status == "skip":
        ET.SubElement(case, "skipped", message=summary)
    else:
        output = ET.SubElement(case, "system-out")
        output.text = f"{status}: {summary}"
    return case


def _details(finding: Mapping[str, Any]) -> list[str]:
    lines = [finding["summary"]]
    if finding["between"]:
        lines.append(f"between: {' and '.join(finding['between'])}")
    if finding["remedy"]:
        lines.append(f"next: {finding['remedy']}")
    return lines + [f"evidence: {line}" for line in finding["evidence"]]


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
