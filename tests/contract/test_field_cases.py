"""Every case of the letters a to g and i has tests that carry its id, and docs/field-cases.md lists them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from scripts.field_cases import names_by_case, page, verdicts_by_case

ROOT = Path(__file__).resolve().parents[2]
# As filed: what users reported and what must be handled.
FILED = [
    "A1", "A2", "A3", "A5", "A6", "A8", "B1", "B3", "B4", "B6", "B7",
    "C1", "C2", "C3", "C4", "C6", "C8", "C9", "C10", "D1", "D2", "D3", "D5", "D6", "D8", "D9", "D11",
    "E1", "E2", "E3", "E5", "E6", "F1", "F2", "F4", "F6", "F8", "F9", "G1", "G2", "G3", "G5", "G7",
    "I1", "I2", "I3",
]  # fmt: skip


def test_every_case_is_listed_once() -> None:
    rows = yaml.safe_load((ROOT / "docs/field-cases.yml").read_text(encoding="utf-8"))
    assert [row["id"] for row in rows] == FILED


@pytest.mark.parametrize("case", FILED)
def test_each_case_has_a_test(case: str) -> None:
    by_name, by_recording = names_by_case(ROOT), verdicts_by_case(ROOT)
    assert case.lower() in by_name or case.lower() in by_recording, f"no test is named test_{case.lower()}_…"


# What the doctor is asked about: a machine's state. Left out is what only a role does, and how we call.
RECORDED = [case for case in FILED if case[0] != "G" and case != "D5"]


@pytest.mark.parametrize("case", RECORDED)
def test_each_case_is_judged_from_a_recording(case: str) -> None:
    assert verdicts_by_case(ROOT).get(case.lower())


def test_the_page_is_what_the_script_makes() -> None:
    made = (ROOT / "docs/field-cases.md").read_text(encoding="utf-8")
    assert made == page(), "run `.venv/bin/python scripts/field_cases.py`"


def test_a_test_without_an_id_counts_for_no_case(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_x.py").write_text(
        "def test_a1_b3_both(): ...\ndef test_a1_more(): ...\ndef test_other(): ...\ndef test_in_a2(): ...\n",
        encoding="utf-8",
    )
    assert names_by_case(tmp_path) == {"a1": ["`tests/test_x.py`"], "b3": ["`tests/test_x.py`"]}
