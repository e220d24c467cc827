"""A burn-in judged: each rule fails somewhere, and what no card tells is skipped. Figures are simulated."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.unit.report.cards import document
from verify import burn_in
from verify.checks import EXPECTED_MISSING, exit_status
from verify.errors import VerifyError
from verify.findings import Status
from verify.recording import Recording

Json = dict[str, Any]
UUIDS = ("GPU-00000000-0000-4000-8000-000000000001", "GPU-00000000-0000-4000-8000-000000000002")
RAN = {"status": "ran", "seconds": 120.0, "cards": [{"index": 0, "products": 800, "wrong": 0}]}
OLD = "[1.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=python, MMU Fault\n"


def gpu(place: int = 0, **told: Any) -> str:
    """Return one simulated card of ``nvidia-smi -q -x``; what is None is not told at all."""
    told = {
        "busy": "0 %",
        "clock": "210 MHz",
        "most": "2000 MHz",
        "heat": "40 C",
        "limit": "90 C",
        "watts": "30.00 W",
        "active": "gpu_idle",
        "uncorrected": "0",
        "corrected": "0",
        "rows": "0",
        "processes": "",
    } | told

    def element(name: str, text: str | None) -> str:
        return "" if text is None else f"<{name}>{text}</{name}>"

    reasons = "".join(
        element(f"clocks_event_reason_{name}", "Active" if name == told["active"] else "Not Active")
        for name in ("gpu_idle", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown")
    )
    ecc = element("dram_uncorrectable", told["uncorrected"]) + element("dram_correctable", told["corrected"])
    return (
        f'<gpu id="00000000:{0x3B + place:02X}:00.0"><product_name>simulated card</product_name>'
        f"<uuid>{UUIDS[place]}</uuid>"
        f"<utilization>{element('gpu_util', told['busy'])}</utilization>"
        f"<temperature>{element('gpu_temp', told['heat'])}{element('gpu_temp_slow_threshold', told['limit'])}"
        f"</temperature>{element('clocks_event_reasons', reasons if told['active'] is not None else None)}"
        f"<gpu_power_readings>{element('instant_power_draw', told['watts'])}"
        f"<current_power_limit>300.00 W</current_power_limit></gpu_power_readings>"
        f"<clocks>{element('sm_clock', told['clock'])}</clocks>"
        f"<max_clocks>{element('sm_clock', told['most'])}</max_clocks>"
        f"<ecc_errors><volatile>{ecc}</volatile></ecc_errors>"
        f"<remapped_rows>{element('remapped_row_unc', told['rows'])}</remapped_rows>"
        f"<processes>{told['processes']}</processes></gpu>"
    )


def look(*gpus: str, log: str | None = OLD) -> Json:
    text = f"<nvidia_smi_log><driver_version>580.65.06</driver_version>{''.join(gpus)}</nvidia_smi_log>"
    said = document(text, **({} if log is None else {"dmesg_nvidia": log}))
    said["commands"].pop("nvidia-smi-list")
    return said


def at_work(place: int = 0, **told: Any) -> str:
    base = {
        "busy": "100 %",
        "clock": "1900 MHz",
        "heat": "70 C",
        "watts": "290.00 W",
        "active": "sw_power_cap",
    }
    return gpu(place, **(base | told))


def burnt(
    *during: Json, before: Json | None = None, after: Json | None = None, work: Json | None = None
) -> Json:
    return {
        "schema": 1,
        "seconds": 120,
        "refused": None,
        "before": before or look(gpu()),
        "during": list(during) or [look(at_work())],
        "after": after or look(gpu()),
        "work": RAN if work is None else work,
    }


def found(document: Json, *expected: str) -> dict[str, tuple[Status, str]]:
    return {f.id.removeprefix("burn-in."): (f.status, f.summary) for f in burn_in.judge(document, expected)}


def test_a_healthy_card_passes_everything_and_the_figures_are_said() -> None:
    findings = burn_in.judge(burnt())
    assert {f.id: f.status for f in findings} == dict.fromkeys(burn_in.ids(), Status.PASS)
    said = found(burnt())
    assert said["ran"][1].endswith("drew up to 290 W (before 30 W, limit 300 W)")
    assert (
        said["clock"][1]
        == "card 0 (simulated card) at 1900 to 1900 of 2000 MHz; held back by its power limit"
    )
    assert all(f.remedy is None for f in findings)


@pytest.mark.parametrize(
    ("name", "document", "status", "words"),
    [
        (
            "clock",
            burnt(look(at_work(clock="900 MHz", active=""))),
            Status.FAIL,
            "900 to 900 of 2000 MHz, and 1 time(s) nothing",
        ),
        ("clock", burnt(look(at_work(clock="900 MHz"))), Status.PASS, "held back by its power limit"),
        (
            "throttle",
            burnt(look(at_work(active="hw_thermal_slowdown"))),
            Status.FAIL,
            "the hardware slows it down",
        ),
        (
            "throttle",
            burnt(look(at_work(active="hw_slowdown"))),
            Status.FAIL,
            "the hardware has cut the clocks",
        ),
        ("throttle", burnt(look(at_work(active="sw_thermal_slowdown"))), Status.WARN, "because of heat"),
        ("heat", burnt(look(at_work(heat="90 C"))), Status.FAIL, "reached 90 °C, 0 below"),
        ("heat", burnt(look(at_work(heat="86 C"))), Status.WARN, "reached 86 °C, 4 below"),
        (
            "ecc",
            burnt(after=look(gpu(uncorrected="2"))),
            Status.FAIL,
            "2 memory error(s) that could not be corrected",
        ),
        ("ecc", burnt(after=look(gpu(corrected="3"))), Status.WARN, "3 memory error(s) corrected, 0 row(s)"),
        ("ecc", burnt(after=look(gpu(rows="1"))), Status.WARN, "0 memory error(s) corrected, 1 row(s)"),
        ("ran", burnt(look(gpu())), Status.FAIL, "never more than 50 % busy: card 0 (simulated card)"),
        (
            "ran",
            burnt(work={"status": "absent", "reason": "torch is a CPU build"}),
            Status.FAIL,
            "did not run: torch is a CPU build",
        ),
        ("ran", burnt(work={}), Status.FAIL, "did not run: it said nothing"),
        (
            "result",
            burnt(work={**RAN, "cards": [{"index": 1, "products": 800, "wrong": 5}]}),
            Status.FAIL,
            "card 1: 5 of 800",
        ),
        ("result", burnt(work={**RAN, "cards": []}), Status.SKIP, "no product"),
        ("cards", burnt(after=look(gpu(1))), Status.FAIL, "gone after: card 0 (simulated card)"),
        (
            "xid",
            burnt(after=look(gpu(), log=OLD + OLD.replace("1.0", "9.0").replace("31", "48"))),
            Status.FAIL,
            "Xid 48 (double bit ECC error)",
        ),
        ("xid", burnt(after=look(gpu(), log=OLD + OLD.replace("1.0", "9.0"))), Status.WARN, "Xid 31"),
        (
            "xid",
            burnt(after=look(gpu(), log=OLD + OLD.replace("1.0", "9.0").replace("31", "9999"))),
            Status.WARN,
            "not in our table",
        ),
        ("xid", burnt(after=look(gpu(), log=None)), Status.SKIP, "could not be read"),
    ],
)
def test_each_rule(name: str, document: Json, status: Status, words: str) -> None:
    said = found(document)
    assert said[name][0] is status, said
    assert words in said[name][1]
    one = next(f for f in burn_in.judge(document) if f.id == f"burn-in.{name}")
    assert (one.remedy is not None) == (status in (Status.FAIL, Status.WARN))


@pytest.mark.parametrize(
    ("name", "untold"),
    [
        ("clock", {"clock": None}),
        ("clock", {"most": "[N/A]"}),
        ("throttle", {"active": None}),
        ("heat", {"heat": "[N/A]"}),
        ("heat", {"limit": None}),
    ],
)
def test_what_a_card_does_not_tell_is_skipped_and_never_passed(name: str, untold: Json) -> None:
    assert found(burnt(look(at_work(**untold))))[name][0] is Status.SKIP


def test_a_card_without_ecc_is_skipped() -> None:
    none = look(gpu(uncorrected=None, corrected=None, rows=None))
    assert found(burnt(before=none, after=none))["ecc"][0] is Status.SKIP


def test_a_card_that_does_not_tell_its_use_is_not_called_idle() -> None:
    said = found(burnt(look(at_work(busy=None))))
    assert said["ran"][0] is Status.PASS
    assert said["clock"][0] is Status.PASS


def test_the_worst_card_stands_for_all_and_is_named_alone() -> None:
    both = look(gpu(), gpu(1))
    status, said = found(burnt(look(at_work(), at_work(1, heat="91 C")), before=both, after=both))["heat"]
    assert status is Status.FAIL
    assert said.startswith("card 1 ")
    assert "card 0" not in said


def test_nothing_begins_without_a_card_or_on_one_in_use() -> None:
    process = "<process_info><pid>7</pid><process_name>python</process_name></process_info>"
    assert "describes no card" in (burn_in.refusal(Recording.from_document(look())) or "")
    used = burn_in.refusal(Recording.from_document(look(gpu(processes=process))))
    assert used is not None
    assert used.startswith("in use, and not disturbed: card 0")
    assert burn_in.refusal(Recording.from_document(look(gpu()))) is None


def test_a_refused_burn_in_is_one_skip_and_proves_nothing() -> None:
    findings = burn_in.judge({**burnt(), "refused": "in use"})
    assert [(f.id, f.status) for f in findings] == [("burn-in.ran", Status.SKIP)]
    assert exit_status(findings) == 1


def test_what_is_expected_to_fail_and_does_not_is_a_failure() -> None:
    broken = burnt(work={"status": "absent", "reason": "CPU build"})
    assert exit_status(burn_in.judge(broken)) == 1
    assert exit_status(burn_in.judge(broken, ["burn-in.ran", "framework.cpu-build"])) == 0
    missing = burn_in.judge(burnt(), ["burn-in.ran"])
    assert [f.id for f in missing if f.status is Status.FAIL] == [EXPECTED_MISSING]


def test_expected_findings_of_a_burn_in_that_was_refused_are_not_missed() -> None:
    assert len(burn_in.judge({**burnt(), "refused": "in use"}, ["burn-in.ran"])) == 1


@pytest.mark.parametrize("damage", [{"schema": 2}, {"work": None}, {"before": []}, {"during": [{}]}])
def test_a_damaged_document_is_a_sentence(damage: Json) -> None:
    with pytest.raises(VerifyError):
        burn_in.judge({**burnt(), **damage})


def test_every_finding_is_explained_and_no_other() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs/operations.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(burn-in\.[a-z]+)` \|", text, re.MULTILINE) == list(burn_in.ids())
