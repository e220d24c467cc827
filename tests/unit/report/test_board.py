from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from tests.unit.report.cards import ECC, HELD, HOPPER, LOG, PS, UUID, document, xml
from verify.facts.usage import CardUsage, usage_facts
from verify.recording import Recording
from verify.report.board import NO_CARD, documents, print_board
from verify.report.words import heat, rows, short, work


def card(text: str, **commands: str) -> CardUsage:
    (found,) = usage_facts(Recording.from_document(document(text, **commands))).cards
    return found


def shown(recording: dict[str, Any], width: int = 100) -> str:
    out = Console(file=io.StringIO(), width=width)
    read = Recording.from_document(recording)
    print_board(usage_facts(read), read.taken_at, out)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_a_card_in_use_in_words_and_numbers() -> None:
    text = shown(
        document(xml(active="sw_power_cap", more=ECC), gpu_processes=HELD, docker_ps=PS, dmesg_nvidia=LOG)
    )
    flat = " ".join(text.split())
    for part in (
        "as they were at 2026-12-01T10:00:00Z",
        "card 0: NVIDIA A100",
        "work working: 97 % busy",
        "memory 4.0 GiB free of 40.0 GiB, 35.5 GiB used: room for the weights of about 2.1 billion",
        "heat hot: 84 °C, 5 °C below the point where this card slows itself down (89 °C)",
        "power 287 W of the 400 W that it may draw; held back by its power limit",
        "uncorrected memory errors: 3 since the driver was loaded, 7 in its life",
        "4 remapped rows; a memory repair waits for a reset of the card",
        "Xid errors in the kernel's log: 31 (GPU memory page fault), 94 (",
        "used by python train.py --epochs 3 (pid 71, user alice, container alice-train, 20.0 GiB)",
        "the driver lists it on none: /usr/bin/nvidia-persistenced --verbose (pid 99, user root)",
    ):
        assert part in flat
    assert "\x1b" not in text
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize(
    ("util", "word"),
    [("0 %", "asleep"), ("4 %", "asleep"), ("5 %", "half awake"), ("50 %", "working"), ("N/A", None)],
)
def test_work(util: str, word: str | None) -> None:
    assert work(card(xml(util=util))) == word


def test_asleep_while_somebody_is_on_it() -> None:
    assert dict(rows(card(xml(util="0 %"))))["work"].endswith("does nothing, though a process is on it")
    assert dict(rows(card(xml(util="0 %", processes=""))))["work"].endswith("and does nothing")


@pytest.mark.parametrize(
    ("margin", "word"),
    [(-1, "burning"), (0, "burning"), (9, "hot"), (10, "warm"), (35, "cool"), (None, None)],
)
def test_heat(margin: float | None, word: str | None) -> None:
    own = card(xml())
    assert heat(replace(own, heat=replace(own.heat, margin=margin))) == word


def test_a_card_that_slows_itself_because_of_heat_burns_whatever_it_tells() -> None:
    assert heat(card(xml(HOPPER, active="hw_thermal_slowdown"))) == "burning"


def cards_of(*gpus: str) -> dict[str, Any]:
    """Return a recording with several cards, each as its own XML says."""
    body = re.compile(r"<gpu id=.*</gpu>", re.DOTALL)
    made = []
    for index, text in enumerate(gpus):
        one = body.search(text)
        assert one
        made.append(one.group().replace("0000:3B:", f"0000:{index:02X}:").replace(UUID, uuid_of(index)))
    whole = body.sub(lambda _: "".join(made), xml())
    names = [re.findall("<product_name>(.*)</product_name>", text)[0] for text in gpus]
    listed = "".join(f"GPU {n}: {name} (UUID: {uuid_of(n)})\n" for n, name in enumerate(names))
    return document(whole, nvidia_smi_list=listed)


def uuid_of(index: int) -> str:
    return f"{UUID[:-1]}{index:x}"


IDLE = xml(HOPPER, util="0 %", processes="")


def test_eight_cards_of_which_the_same_is_said_are_said_once() -> None:
    text = shown(cards_of(*[IDLE] * 8))
    assert "8 x NVIDIA A100: cards 0 to 7, of which the same is said" in text
    assert text.count("asleep:") == 1
    assert "card 3" not in text


@pytest.mark.parametrize(
    "other",
    [
        xml(HOPPER, util="97 %", processes=""),
        xml(HOPPER, util="0 %"),
        xml(HOPPER, util="0 %", processes="", more=ECC),
        xml(HOPPER, util="0 %", processes="", active="hw_thermal_slowdown"),
        xml(HOPPER, util="1 %", processes=""),
        xml(HOPPER, util="0 %", processes="").replace("287.10 W", "301.00 W"),
        xml(HOPPER, util="0 %", processes="").replace("NVIDIA A100", "NVIDIA H200"),
    ],
)
def test_a_card_that_differs_in_one_word_stands_alone(other: str) -> None:
    text = shown(cards_of(IDLE, IDLE, other, IDLE))
    assert "3 x NVIDIA A100: cards 0, 1, 3, of which the same is said" in text
    assert "  card 2: " in text


def test_a_fault_in_the_log_of_one_card_is_not_folded_away() -> None:
    log = "[1.0] NVRM: Xid (PCI:0000:01:00): 94, pid=71, name=python, Contained ECC error\n"
    recording = cards_of(IDLE, IDLE, IDLE)
    recording["commands"]["dmesg-nvidia"] = {"argv": ["dmesg"], "rc": 0, "stdout": log, "stderr": ""}
    text = shown(recording)
    assert "  card 1: " in text
    assert "2 x NVIDIA A100: cards 0, 2," in text


def test_the_document_folds_nothing() -> None:
    read = Recording.from_document(cards_of(*[IDLE] * 8))
    assert [card["index"] for card in documents(usage_facts(read))["cards"]] == list(range(8))


def test_margin_alone() -> None:
    sentence = dict(rows(card(xml(HOPPER))))["heat"]
    assert sentence == "cool: 45 °C, 41 °C below the point where this card slows itself down"


def test_what_a_card_does_not_tell_is_said_and_no_number_stands_there() -> None:
    text = (
        xml(util="N/A", free="").replace("36364 MiB", "N/A").replace("84 C", "N/A").replace("287.10 W", "N/A")
    )
    silent = card(text.replace("400.00 W", "N/A").replace("clocks_throttle", "other"))
    said = dict(rows(silent))
    assert said["work"] == "this card does not tell how busy it is"
    assert said["memory"].startswith("this card does not tell how much memory is free")
    assert said["heat"] == "this card does not tell its temperature"
    assert said["power"].startswith("this card does not tell what it draws")
    assert "0 %" not in " ".join(said.values())
    assert "busy or not: not told" in short(silent)


def test_with_mig_on_the_card_as_a_whole_does_not_tell() -> None:
    text = xml(util="N/A", more="<mig_mode><current_mig>Enabled</current_mig></mig_mode>")
    assert "while MIG is on" in dict(rows(card(text)))["work"]


def test_no_card() -> None:
    assert NO_CARD in shown({"schema": 1, "where": "host"})


def test_the_document_has_the_same_and_null_for_what_is_not_told() -> None:
    recording = Recording.from_document(document(xml(util="N/A"), gpu_processes=HELD, docker_ps=PS))
    told = json.loads(json.dumps(documents(usage_facts(recording))))
    (first,) = told["cards"]
    assert first["utilization_percent"] is None
    assert first["work"] is None
    assert (first["memory_free_mib"], first["heat"], first["slowdown_c"]) == (4096, "hot", 89)
    assert first["xids"] is None
    assert first["processes"][0]["container"] == "alice-train"
    assert set(first["says"]) == {"work", "memory", "heat", "power", "faults"}
    assert told["other_processes"][0]["pid"] == 99


def test_a_process_does_not_steer_the_terminal() -> None:
    text = shown(document(xml(), gpu_processes="71 alice \x1b[31mpython\n"))
    assert "\x1b" not in text


def test_a_card_of_which_only_the_name_is_recorded_has_one_line() -> None:
    text = shown(document(""))
    assert "figures  none in this recording" in text
    assert "does not tell" not in text


RECORDINGS = sorted((Path(__file__).resolve().parents[2] / "recordings").glob("*.json"))


@settings(max_examples=40, deadline=None)
@given(
    path=st.sampled_from(RECORDINGS),
    name=st.sampled_from(
        ["nvidia-smi-xml", "nvidia-smi-query", "gpu-processes", "docker-ps", "dmesg-nvidia"]
    ),
    cut=st.integers(0, 4000),
    odd=st.text(max_size=30),
)
def test_whatever_a_recording_holds_there_is_a_board(path: Path, name: str, cut: int, odd: str) -> None:
    recorded = json.loads(path.read_text())
    entry = recorded.setdefault("commands", {}).setdefault(name, {"argv": [name], "rc": 0, "stdout": xml()})
    text = str(entry.get("stdout") or "")
    entry["stdout"] = text[:cut] + odd + text[cut + len(odd) :]
    shown(recorded, 60)
    json.dumps(documents(usage_facts(Recording.from_document(recorded))))
