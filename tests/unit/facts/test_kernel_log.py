from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.facts.build import recording, said
from verify.facts.kernel_log import KernelLog, kernel_log, slot

PREFIXES = (
    "",
    "[   14.551002] ",
    "[Sun May 17 15:55:50 2026] ",
    "May 18 19:02:39 node7 kernel: ",
    "<4>[ 9.1] ",
)
SHORT = "NVRM: GPU 0000:44:00.0: GPU has fallen off the bus."


def log(text: str, **other: str) -> KernelLog:
    commands = {"dmesg-nvidia": said(text), **{name: said(words) for name, words in other.items()}}
    return kernel_log(recording(commands=commands))


@pytest.mark.parametrize(
    "spelling",
    ["0000:44:00", "PCI:0000:44:00", "0000:44:00.0", "00000000:44:00.0", "44:00.0", "0000:44:00.1"],
)
def test_an_address_is_the_same_in_every_spelling(spelling: str) -> None:
    assert slot(spelling) == "0000:44:00"
    assert slot("10000:3B:00.0") == "0000:3b:00"


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus.", 79),
        ("NVRM: Xid (0000:44:00): 31, Ch 0000000b, engmask 00000120, intr 10000000", 31),
        ("NVRM: Xid (PCI:0000:44:00 GPU-I:05): 119, pid=12, name=a, Timeout waiting for RPC from GSP!", 119),
    ],
)
def test_c9_an_xid_with_any_prefix(prefix: str, line: str, number: int) -> None:
    (xid,) = log(f"{prefix}{line}\n").xids
    assert (xid.slot, xid.number) == ("0000:44:00", number)


def test_c9_an_xid_that_repeats_is_one() -> None:
    line = "NVRM: Xid (PCI:0000:44:00): 31, Ch 1\n"
    assert len(log(line * 3).xids) == 1


@pytest.mark.parametrize("prefix", PREFIXES)
def test_c9_a_sentence_over_several_lines_is_one(prefix: str) -> None:
    lines = (
        "NVRM: The NVIDIA GPU 0000:44:00.0 (PCI ID: 10de:26b5)",
        "NVRM: installed in this system has",
        "NVRM: fallen off the bus and is not responding to commands.",
    )
    assert [place for place, _ in log("".join(f"{prefix}{line}\n" for line in lines)).off_bus] == [
        "0000:44:00"
    ]
    raw = f"{prefix}{lines[0]}\n               {lines[1]}\n               {lines[2]}\n"
    assert [place for place, _ in log(raw).off_bus] == ["0000:44:00"]


def test_c9_the_form_without_an_xid() -> None:
    assert [place for place, _ in log(f"[ 9.1] {SHORT}\n").off_bus] == ["0000:44:00"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (
            "is not supported by open\n{i}NVRM: nvidia.ko because it does not include the required GPU\n",
            "not-open",
        ),
        ("requires use of the NVIDIA open kernel modules.\n", "only-open"),
    ],
)
def test_c6_a_card_that_the_module_does_not_take(words: str, reason: str) -> None:
    indent = " " * 15
    text = (
        "[ 5.5] NVRM: The NVIDIA GPU 0000:09:00.0 (PCI ID: 10de:1d01)\n"
        f"{indent}NVRM: installed in this system {words.format(i=indent)}"
    )
    (refused,) = log(text).refused_cards
    assert (refused.slot, refused.device, refused.reason) == ("0000:09:00", "1d01", reason)


def test_c6_a_branch_that_is_too_new() -> None:
    text = (
        "[ 5.5] NVRM: The NVIDIA GeForce GT 710 GPU installed in this system is\n"
        "[ 5.5] NVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please\n"
    )
    (refused,) = log(text).refused_cards
    assert (refused.reason, refused.branch, refused.device) == ("legacy", 470, None)


@pytest.mark.parametrize(
    "line",
    [
        "Loading of module with unavailable key is rejected",
        "Loading of unsigned module is rejected",
        "Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7",
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        "modprobe: ERROR: could not insert 'nvidia': Required key not available",
        "Failed to insert module 'nvidia': Key was rejected by service",
    ],
)
def test_c3_a_module_that_was_refused(line: str) -> None:
    assert log(f"[ 9.1] {line}\n").refused_module
    assert log("", **{"modules-load": line + "\n"}).refused_module


def test_c3_a_module_that_taints_the_kernel_was_not_refused() -> None:
    text = "nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
    assert log(text).refused_module is None


def test_c1_both_versions_of_a_mismatch() -> None:
    text = (
        "NVRM: API mismatch: the client has the version 535.54.03, but NVRM: this kernel module has the "
        "version 530.30.02.  Please\n"
    )
    found = log(text).mismatch
    assert found
    assert found[:2] == ("535.54.03", "530.30.02")


def test_the_journal_answers_where_dmesg_may_not_be_read() -> None:
    commands = {
        "dmesg-nvidia": said("", 1, "dmesg: read kernel buffer failed: Operation not permitted\n"),
        "journal-nvidia": said(f"May 18 19:02:39 node7 kernel: {SHORT}\n"),
    }
    found = kernel_log(recording(commands=commands))
    assert (found.recorded, found.source, len(found.off_bus)) == (True, "journal-nvidia", 1)


@pytest.mark.parametrize(
    "commands",
    [
        {},
        {"dmesg-nvidia": said("", 1)},
        {"dmesg-nvidia": {"argv": ["dmesg"], "missing": True}},
        {"dmesg-nvidia": {"argv": ["dmesg"], "timed_out": True}},
        {"modules-load": said("")},
    ],
)
def test_nobody_could_read_the_log(commands: dict[str, object]) -> None:
    assert kernel_log(recording(commands=commands)).recorded is False


@given(st.text(alphabet="NVRM: Xid(PC0)79,\n.openGPU", max_size=120))
def test_no_text_breaks_it(text: str) -> None:
    log(text)
