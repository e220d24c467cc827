"""nvidia-smi in the field: under WSL, by an old driver, with a warning, with its table alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.facts.build import recording, said
from tests.unit.facts.test_smi import ROW, line
from verify.facts.card import QUERY_FIELDS
from verify.facts.driver import driver_facts
from verify.facts.host import host_facts
from verify.facts.smi import asked_fields, parse_query
from verify.facts.trouble import Trouble

MISSING: dict[str, Any] = {"argv": ["nvidia-smi"], "missing": True}
LIST = "GPU 0: NVIDIA A10 (UUID: GPU-51515151-0000-4000-8000-000000000000)\n"
UNKNOWN = 'Field "compute_cap" is not a valid field to query.\n\n'
SHORT = [field for field in QUERY_FIELDS if field != "compute_cap"]


def test_f4_the_tool_is_found_where_wsl_has_it() -> None:
    tool = {**said(LIST), "argv": ["/usr/lib/wsl/lib/nvidia-smi", "-L"]}
    found = driver_facts(recording(commands={"nvidia-smi-list": MISSING, "nvidia-smi-wsl": tool}))
    assert found.answers
    assert "only as /usr/lib/wsl/lib/nvidia-smi" in found.partial[0]


def test_f4_the_tool_on_path_comes_first() -> None:
    commands = {"nvidia-smi-list": said("", 9), "nvidia-smi-wsl": said(LIST)}
    assert not driver_facts(recording(commands=commands)).answers


def test_f4_both_missing_is_not_installed() -> None:
    found = driver_facts(recording(commands={"nvidia-smi-list": MISSING, "nvidia-smi-wsl": MISSING}))
    assert found.trouble is Trouble.NOT_INSTALLED


@pytest.mark.parametrize(
    "files",
    [
        {"/proc/sys/kernel/osrelease": {"text": "4.19.84-Microsoft\n"}},
        {"/proc/version": {"text": "Linux version 5.15.153.1-microsoft-standard-WSL2 (root@x)\n"}},
    ],
)
def test_f4_either_file_tells_wsl(files: dict[str, Any]) -> None:
    assert host_facts(recording(files=files)).wsl


def test_f6_a_query_without_the_field_that_an_old_driver_does_not_know() -> None:
    row = [value for field, value in zip(QUERY_FIELDS, ROW, strict=True) if field != "compute_cap"]
    old = {**said(line(*row)), "argv": ["nvidia-smi", f"--query-gpu={','.join(SHORT)}", "--format=csv"]}
    commands = {
        "nvidia-smi-list": said(LIST),
        "nvidia-smi-query": said(UNKNOWN, 2),
        "nvidia-smi-query-old": old,
    }
    found = driver_facts(recording(commands=commands))
    (card,) = found.cards
    assert (card.memory_total_mib, card.compute_capability, card.power_w) == (23028, None, 20.5)
    assert (found.answers, found.partial) == (True, ())


def test_f6_the_fields_are_those_that_were_asked_for() -> None:
    assert asked_fields(["nvidia-smi", "--query-gpu=index,name", "--format=csv"]) == ("index", "name")
    assert asked_fields(["x"]) == QUERY_FIELDS
    assert [card.name for card in parse_query("0, A10\n1, A30\n", ("index", "name"))] == ["A10", "A30"]


@pytest.mark.parametrize("text", ["| NVIDIA-SMI 580.1  Driver Version: 580.1  CUDA Version: 13.0 |\n", ""])
def test_f2_the_table_for_people_alone_lists_no_card(text: str) -> None:
    found = driver_facts(recording(commands={"nvidia-smi": said(text)}))
    assert (found.recorded, found.answers) == (False, False)


@pytest.mark.parametrize("rc", [0, 6])
def test_f8_an_error_on_stdout_is_an_error_whatever_the_status(rc: int) -> None:
    found = driver_facts(recording(commands={"nvidia-smi": said("No devices were found\n", rc)}))
    assert (found.recorded, found.trouble) == (True, Trouble.NO_CARD)


def test_f8_the_card_with_the_corrupt_inforom_is_named() -> None:
    warning = "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n"
    found = driver_facts(recording(commands={"nvidia-smi-list": said(LIST + warning, 14)}))
    assert (found.answers, found.inforom, found.inforom_cards) == (True, True, ("0000:B3:00.0",))


def test_f6_the_header_of_branch_610_names_kernel_and_user_mode() -> None:
    text = "| NVIDIA-SMI 610.43.02     KMD Version: 610.43.02     CUDA UMD Version: 13.3     |\n"
    found = driver_facts(recording(commands={"nvidia-smi": said(text)}))
    assert (str(found.version), str(found.cuda)) == ("610.43.02", "13.3")
