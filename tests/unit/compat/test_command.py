"""``gpu-verify compat`` as people call it: the tables, a host, a need, both, and what is no question."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from verify import cli

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: str) -> tuple[int, str, str]:
        status = cli.main(["compat", *arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return call


def document(ask: Ask, *arguments: str) -> dict[str, Any]:
    _, out, _ = ask(*arguments, "--json")
    found: dict[str, Any] = json.loads(out)
    assert found["schema"] == 1
    return found


HOST = ("--driver", "535.261.03", "--card", "10de:2684")


@pytest.mark.parametrize(
    ("demand", "status", "refused"),
    [
        ("cuda>=12.0", 0, "lets it pass"),
        ("cuda>=13.9", 0, "depends on the driver's own CUDA"),
        ("cuda<12", 1, "refuses it"),
    ],
)
def test_what_a_driver_beyond_the_table_carries_is_at_least_the_newest(
    ask: Ask, demand: str, status: int, refused: str
) -> None:
    _, out, _ = ask("--driver", "999.0")
    assert "it carries at least CUDA" in out
    assert "the newest that our table knows" in out
    assert (
        document(ask, "--driver", "999.0")["carries_at_least"],
        document(ask, *HOST)["carries_at_least"],
    ) == (
        True,
        False,
    )
    found, said, _ = ask("--driver", "999.0", "--image-require", demand)
    assert (found, refused in said) == (status, True)


def test_without_a_question_the_tables_are_printed_with_their_sources(ask: Ask) -> None:
    status, out, _ = ask()
    assert status == 0
    for words in (
        "Which CUDA on which driver",
        "525.60.13",
        "CVE-2026-24260",
        "cuda-compat",
        "[1] ",
        "2026-",
    ):
        assert words in out


def test_a_terminal_without_utf_8_gets_plain_signs() -> None:
    environment = {"PYTHONIOENCODING": "ascii", "COLUMNS": "100", "PATH": ""}
    for arguments in ((), HOST, ("--torch", "2.14")):
        done = subprocess.run(
            [sys.executable, "-m", "verify.cli", "compat", *arguments],
            env=environment,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.isascii()


def test_the_tables_as_a_document_have_source_and_date(ask: Ask) -> None:
    tables = document(ask)["tables"]
    assert set(tables) == {"cuda", "forward", "torch", "cards", "peaks", "driver", "toolkit", "engine"}
    for sections in tables.values():
        for section in sections.values():
            assert all(row["source"] and row["date"] for row in section)


def test_what_a_host_can_run(ask: Ask) -> None:
    status, out, _ = ask(*HOST)
    assert status == 0
    for words in (
        "GeForce RTX 4090 (Ada, compute capability 8.9)",
        "R535 (LTS) ended 2026-06",
        "below 535.309.01",
        "12.3 to 12.9",
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "needs driver 580.65.06 or newer",
        'pip install "torch==2.14.*" --index-url https://download.pytorch.org/whl/cu126',
        "which does not run here",
    ):
        assert words in out


def ways(ask: Ask, *host: str) -> dict[str, str]:
    return {row["cuda"]: row["how"] for row in document(ask, *host)["cuda"]}


def test_e5_a_data_centre_card_runs_newer_cuda_by_the_package(ask: Ask) -> None:
    found = ways(ask, "--driver", "535.261.03", "--card", "H100")
    assert found["12.2"] == "runs"
    assert found["12.8"] == "minor-version compatibility"
    assert found["13.0"] == "forward compatibility"
    assert ways(ask, *HOST)["13.0"] == "no"


def test_e5_where_the_name_does_not_tell_forward_compatibility_is_only_mentioned(ask: Ask) -> None:
    found = document(ask, "--driver", "535.261.03", "--card", "RTX A6000")
    row = next(row for row in found["cuda"] if row["cuda"] == "13.0")
    assert row["how"] == "no"
    assert "the name does not say" in row["note"]


def test_e5_one_card_that_may_not_use_the_package_keeps_all_from_it(ask: Ask) -> None:
    assert ways(ask, "--driver", "535.261.03", "--card", "H100", "--card", "10de:2684")["13.0"] == "no"


def test_e2_cuda_13_is_not_for_cards_before_turing(ask: Ask) -> None:
    found = document(ask, "--driver", "580.95.05", "--card", "P40")
    row = next(row for row in found["cuda"] if row["cuda"] == "13.0")
    assert row["how"] == "no"
    assert "begin with compute capability 7.5" in row["why"]
    assert {build["index"] for build in found["torch"]} == {"cu118", "cu121", "cu124", "cu126"}


def test_a_card_that_the_branch_does_not_know_any_more_runs_nothing(ask: Ask) -> None:
    found = document(ask, "--driver", "595.71.05", "--card", "V100")
    assert "R580 is the last branch that knows it" in found["warnings"][0]
    assert {row["how"] for row in found["cuda"]} == {"no"}
    assert found["torch"] == []


def test_a_driver_that_is_older_than_its_card_is_told(ask: Ask) -> None:
    found = document(ask, "--driver", "535.261.03", "--card", "5090")
    assert "570.26" in found["warnings"][0]
    assert document(ask, "--driver", "580.95.05", "--card", "5090")["warnings"] == []


def test_an_unknown_branch_is_not_guessed(ask: Ask) -> None:
    found = document(ask, "--driver", "700.10.01", "--card", "4090")
    assert found["branch"] is None
    assert found["security"].startswith("no bulletin")


def test_a_card_alone_is_a_question_too(ask: Ask) -> None:
    status, out, _ = ask("--card", "10de:2684")
    assert status == 0
    for words in (
        "GeForce RTX 4090 (Ada, compute capability 8.9)",
        "the open kernel module or the proprietary one",
        "Builds of torch that run on it",
        "whl/cu126",
        "│ GeForce RTX 4090 │ 82.6 ",
        "Ada whitepaper",
    ):
        assert words in out
    assert "H200" not in out
    found = document(ask, "--card", "10de:2684")
    assert [row["name"] for row in found["peaks"]] == ["GeForce RTX 4090"]
    assert found["card"]["compute_capabilities"] == ["8.9"]


def test_e2_what_an_old_card_alone_can_run_ends_with_its_branch_and_its_cuda(ask: Ask) -> None:
    found = document(ask, "--card", "P40")
    assert (found["last_branch"], found["last_cuda"]) == (580, "12.9")
    assert {build["index"] for build in found["torch"]} == {"cu118", "cu121", "cu124", "cu126"}
    assert found["module"].startswith("the proprietary kernel module alone")
    _, out, _ = ask("--card", "P40")
    assert "R580 is the last branch that knows it" in out
    assert "a newer one do not know it any more" in out
    assert "`gpu-verify compat --peaks` prints it" in out


def test_of_a_card_alone_nothing_is_guessed(ask: Ask) -> None:
    kepler = document(ask, "--card", "10de:1180")
    assert (kepler["torch"], kepler["peaks"]) == ([], [])
    assert (kepler["first_cuda"], kepler["last_cuda"]) == (None, None)
    assert kepler["module"].startswith("no kernel module")
    undecided = document(ask, "--card", "10de:2980")
    assert len(undecided["card"]["compute_capabilities"]) > 1
    assert (undecided["first_cuda"], undecided["first_driver"]) == ("12.8", "570.26")
    assert "on all that it may be" in ask("--card", "10de:2980")[1]


def test_a_name_of_several_cards_has_the_peaks_of_each(ask: Ask) -> None:
    names = {row["name"] for row in document(ask, "--card", "A100")["peaks"]}
    assert {"A100 PCIe 40GB", "A100 SXM4 80GB"} <= names


def test_the_table_of_peaks_alone(ask: Ask) -> None:
    status, out, _ = ask("--peaks")
    assert status == 0
    assert "H200 SXM 141GB" in out
    assert "Which CUDA on which driver" not in out
    assert set(document(ask, "--peaks")["tables"]) == {"peaks"}


def test_a_driver_alone_is_a_question_too(ask: Ask) -> None:
    found = document(ask, "--driver", "550.163.01")
    assert found["cards"] == []
    assert found["carries_cuda"] == "12.4"
    assert found["torch"][0]["index"] == "cu126"


def test_what_a_cuda_needs(ask: Ask) -> None:
    found = document(ask, "--cuda", "12.8.1")
    assert (found["lowest_driver"], found["full_driver"]) == ("525.60.13", "570.26")
    assert found["forward_compatibility_branches"] == [535]
    left = document(ask, "--cuda", "13.0")["architectures"]
    assert {row["architecture"] for row in left if row["runs"] is None} == {"Maxwell", "Pascal", "Volta"}


def test_what_a_build_of_torch_needs(ask: Ask) -> None:
    found = document(ask, "--torch", "2.9.1+cu128")
    assert (found["lowest_driver"], found["oldest_compute_capability"]) == ("525.60.13", "7.0")
    assert found["build"]["cudnn"] == "9.10.2.21"
    assert found["install"] == "pip install torch==2.9.1 --index-url https://download.pytorch.org/whl/cu128"
    left = {row["architecture"] for row in found["architectures"] if row["runs"] is None}
    assert left == {"Maxwell", "Pascal"}


def test_the_build_on_pypi_is_meant_where_none_is_named(ask: Ask) -> None:
    assert document(ask, "--torch", "2.15")["build"]["index"] == "cu132"


@pytest.mark.parametrize("patch", ["2.9.7", "2.9.99+cu128", "2.6.1+cu124"])
def test_a_patch_that_the_table_does_not_know_is_not_installed(ask: Ask, patch: str) -> None:
    found, release = document(ask, "--torch", patch), patch[:3]
    number = patch.partition("+")[0]
    assert any(f"does not know {number}: the newest patch" in note for note in found["notes"])
    assert number not in found["install"]
    assert f'"torch=={release}.*"' in found["install"]
    assert "torch==2.9.1 " in document(ask, "--torch", "2.9.1")["install"]


def test_what_an_image_needs(ask: Ask) -> None:
    text = "cuda>=12.8 brand=tesla,driver>=535,driver<536"
    found = document(ask, "--image-require", text)
    assert found["alternatives"][1][0] == {"name": "brand", "operator": "=", "value": "tesla"}
    assert found["cuda_need"]["lowest_driver"] == "525.60.13"
    status, out, _ = ask("--image-require", f"NVIDIA_REQUIRE_CUDA={text}")
    assert status == 0
    assert "brand exactly tesla and driver at least 535 and driver below 536" in out


@pytest.mark.parametrize(
    ("question", "status", "word"),
    [
        (("--cuda", "12.2"), 0, "it runs"),
        (("--cuda", "12.8"), 0, "it runs by minor-version compatibility"),
        (("--cuda", "13.0"), 1, "it will not run"),
        (("--torch", "2.14+cu126"), 0, "it runs by minor-version compatibility"),
        (("--torch", "2.15"), 1, "it will not run"),
        (
            ("--image-require", "cuda>=12.8"),
            1,
            "the legacy runtime refuses it; asked for by CDI, it runs by minor",
        ),
        (
            ("--image-require", "cuda=12.2,cuda>=99.9"),
            1,
            "the legacy runtime refuses it; asked for by CDI, it runs",
        ),
        (("--image-require", "cuda<12"), 1, "the legacy runtime refuses it; asked for by CDI, it runs"),
        (("--image-require", "cuda>=13.0"), 1, "it will not run"),
        (("--image-require", "driver>=535"), 0, "lets it pass"),
        (("--image-require", "driver>=550"), 1, "the legacy runtime refuses it; asked for by CDI, it runs"),
    ],
)
def test_a_need_on_a_host_is_answered_by_the_exit_status_too(
    ask: Ask, question: tuple[str, str], status: int, word: str
) -> None:
    found, out, _ = ask(*HOST, *question)
    assert found == status
    assert word in out


def test_e2_a_build_without_code_for_the_card_will_not_run(ask: Ask) -> None:
    status, out, _ = ask("--driver", "580.95.05", "--card", "V100", "--torch", "2.11+cu128")
    assert status == 1
    assert "no code for compute capability 7.0" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--cuda", "12.8", "--card", "4090"), "--cuda and --card go with --driver"),
        (("--image-require", "cuda>=12.8", "--card", "4090"), "--image-require and --card go with --driver"),
        (("--card", "4090", "--card", "P40"), "several --card go with --driver"),
        (("--card", "Radeon"), "lspci -nn"),
        (("--peaks", "--card", "4090"), "goes with --json alone"),
        (("--peaks", "--driver", "535.261.03"), "goes with --json alone"),
        (("--peaks", "--torch", "2.9"), "goes with --json alone"),
        (("--driver", "12.2"), "no version of a driver"),
        (("--driver", "535"), "no version of a driver"),
        (("--driver", "many"), "no version of a driver"),
        (("--driver", "535.1", "--card", "Radeon"), "lspci -nn"),
        (("--cuda", "12"), "write it as 12.8"),
        (("--cuda", "12.7"), "there is no CUDA 12.7"),
        (("--cuda", "99.1"), "not in our table"),
        (("--torch", "newest"), "no version of torch"),
        (("--torch", "1.9"), "it has 2.4 to 2.15"),
        (("--torch", "2.9+cu99"), "it has cu126, cu128, cu130"),
        (("--torch", "2.14", "--machine", "aarch64"), "no build on PyPI for aarch64"),
        (("--image-require", ""), "is empty"),
        (("--image-require", "cuda>=12.8 nonsense"), "'nonsense' is no condition"),
        (("--image-require", "cuda~12.8"), "is no condition"),
        (("--cuda", "12.8", "--torch", "2.9"), "not allowed with"),
    ],
)
def test_what_is_no_question_is_one_sentence(ask: Ask, arguments: tuple[str, ...], words: str) -> None:
    status, out, err = ask(*arguments)
    assert status == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
    assert err.startswith("gpu-verify: ")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(["--driver", "--cuda", "--torch", "--image-require"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=15).filter(
        lambda text: not text.startswith("-")
    ),
)
def test_whatever_is_asked_there_is_an_answer_or_a_sentence(ask: Ask, option: str, value: str) -> None:
    status, out, err = ask(option, value)
    assert (status, bool(out)) in ((0, True), (2, False))
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "question",
    [
        ("--driver", "550.163.01x"),
        ("--driver", "\u0665\u0665\u0660.163"),
        ("--cuda", "12.8abc"),
        ("--torch", "\u0662.9.1"),
        ("--torch", "2.9.1x+cu128"),
        ("--torch", f"2.{'9' * 5000}"),
    ],
)
def test_a_version_with_something_behind_it_is_refused(ask: Ask, question: tuple[str, str]) -> None:
    status, _, err = ask(*question)
    assert status == 2
    assert "is no version of" in err
    assert "Traceback" not in err


def test_a_card_as_lspci_writes_it(ask: Ask) -> None:
    found = document(ask, "--driver", "550.163.01", "--card", "[10de:2684]")
    assert found["cards"] == [{**document(ask, "--driver", "550.163.01", "--card", "10de:2684")["cards"][0],
                               "asked": found["cards"][0]["asked"]}]  # fmt: skip
