from __future__ import annotations

from typing import Any

import pytest

from tests.unit.report.cards import ECC, HELD, HOPPER, LOG, PROCESS, PS, document, xml
from verify.facts import throttle
from verify.facts.reading import _SENTINELS
from verify.facts.usage import CardUsage, UsageFacts, usage_facts
from verify.recording import Recording


def facts(text: str, **commands: str) -> UsageFacts:
    return usage_facts(Recording.from_document(document(text, **commands)))


def one(text: str, **commands: str) -> CardUsage:
    (card,) = facts(text, **commands).cards
    return card


def test_a_card_in_use() -> None:
    card = one(xml(active="sw_power_cap"))
    assert (card.card.utilization_percent, card.memory_free_mib) == (97, 4096)
    assert (card.heat.temperature, card.heat.slowdown, card.heat.shutdown, card.heat.margin) == (
        84,
        89,
        92,
        5,
    )
    assert (card.card.power_w, card.card.power_limit_w) == (287.1, 400)
    assert card.throttle == ("sw_power_cap",)


def test_newer_cards_tell_the_margin_and_no_threshold() -> None:
    heat = one(xml(HOPPER, active="gpu_idle")).heat
    assert (heat.temperature, heat.slowdown, heat.shutdown, heat.margin) == (45, None, None, 41)
    assert one(xml(HOPPER, active="gpu_idle")).throttle == ("gpu_idle",)


def test_who_is_on_it() -> None:
    usage = facts(xml(), gpu_processes=HELD, docker_ps=PS)
    (process,) = usage.cards[0].processes or ()
    assert (process.pid, process.user, process.container) == (71, "alice", "alice-train")
    assert (process.name, process.memory_mib) == ("python train.py --epochs 3", 20480)
    assert [other.pid for other in usage.others] == [99]
    assert usage.others[0].container is None


def test_a_container_that_docker_does_not_name_has_its_id() -> None:
    (process,) = one(xml(), gpu_processes=HELD).processes or ()
    assert process.container == "0123456789ab"


def test_a_process_with_two_rows_is_one() -> None:
    (process,) = one(xml(processes=f"<processes>{PROCESS}{PROCESS}</processes>")).processes or ()
    assert process.memory_mib == 40960


@pytest.mark.parametrize(
    ("processes", "known"),
    [
        ("<processes></processes>", True),
        ("<processes/>", True),
        ("", False),
        ("<processes>N/A</processes>", False),
    ],
)
def test_nobody_is_not_the_same_as_not_told(processes: str, *, known: bool) -> None:
    assert one(xml(processes=processes)).processes == (() if known else None)


def test_faults_and_xids_of_this_card() -> None:
    faults = one(xml(more=ECC), dmesg_nvidia=LOG).faults
    assert (faults.ecc_since_start, faults.ecc_ever, faults.remapped_rows) == (3, 7, 4)
    assert (faults.memory_repair_pending, faults.memory_repair_failed) == (True, False)
    assert faults.xids == (31, 94)


def test_what_nobody_looked_at_is_not_known() -> None:
    faults = one(xml()).faults
    assert faults.xids is None
    assert faults.ecc_since_start is None
    assert faults.retired_pages is None
    assert faults.memory_repair_pending is None
    assert one(xml(), dmesg_nvidia="").faults.xids == ()


@pytest.mark.parametrize("sentinel", [s for s in sorted(_SENTINELS) if s] + ["[N/A]", "[Unknown Error]"])
def test_a_sentinel_is_none_and_never_nought(sentinel: str) -> None:
    text = xml(util=sentinel, free=f"<free>{sentinel}</free>").replace("36364 MiB", sentinel)
    text = text.replace("84 C", sentinel).replace("89 C", sentinel).replace("287.10 W", sentinel)
    card = one(text)
    told: list[Any] = [card.card.utilization_percent, card.memory_free_mib, card.heat.temperature]
    assert [*told, card.heat.slowdown, card.heat.margin, card.card.power_w] == [None] * 6
    assert card.heat.shutdown == 92  # one missing field costs no other


def test_free_without_the_drivers_word_is_what_is_not_used() -> None:
    assert one(xml(free="")).memory_free_mib == 40960 - 36364


def test_a_mask_of_the_query() -> None:
    assert throttle.from_mask("0x0000000000000000") == ()
    assert throttle.from_mask("0x0000000000000044") == ("sw_power_cap", "hw_thermal_slowdown")
    assert throttle.from_mask("0x0000000000008001") == ("gpu_idle", "0x8000")
    assert throttle.from_mask(None) is None
    assert throttle.from_mask("N/A") is None
    assert "0x8000" in throttle.words("0x8000")


@pytest.mark.parametrize("text", ["", "<gpu", "<gpu></gpu>", xml()[:400], "No devices were found"])
def test_a_document_that_was_cut_or_is_none(text: str) -> None:
    for card in facts(text).cards:
        assert card.memory_free_mib is None
        assert card.processes is None


def test_nothing_recorded_gives_no_card() -> None:
    empty = Recording.from_document({"schema": 1, "where": "host"})
    assert usage_facts(empty) == UsageFacts((), ())
