from __future__ import annotations

import json

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.extensions import cuda_tag, package_facts
from verify.facts.framework import framework_facts
from verify.facts.image_python import image_python
from verify.facts.inside import inside_facts
from verify.facts.peers import parse_topology, peer_facts
from verify.facts.probe import capability, cuda_version, full_uuid
from verify.facts.visible import Visible, visible

TWO = ["GPU-1c2d3e4f-0000", "GPU-2d3e4f5a-0000"]


@pytest.mark.parametrize(
    ("number", "version"),
    [
        (11040, "11.4"), (12040, "12.4"), (12080, "12.8"), (13000, "13.0"), (6050, "6.5"),
        (0, None), (-1, None), (None, None), (10**9, None),
    ],
)  # fmt: skip
def test_e3_cudas_number_is_decoded(number: int | None, version: str | None) -> None:
    found = cuda_version(number)
    assert (str(found) if found else None) == version


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", Visible(0, "")),
        ("-1", Visible(0, "-1")),
        ("NoDevFiles", Visible(0, "NoDevFiles")),
        ("0,-1,1", Visible(1, "-1")),
        ("2", Visible(0, "2")),
        ("1,0", Visible(2, None)),
        ("0,0", Visible(0, "0")),
        ("1gpu2,0ampere", Visible(2, None)),
        ("GPU-1c", Visible(1, None)),
        ("GPU-", Visible(0, "GPU-")),
        ("GPU-abc", Visible(0, "GPU-abc")),
        ("MIG-1c2d", Visible(None, None)),
    ],
)
def test_e6_what_a_value_leaves_visible(value: str, shown: Visible) -> None:
    assert visible(value, TWO) == shown


@pytest.mark.parametrize(
    ("value", "pair"),
    [
        ([8, 9], (8, 9)), ("8.9", (8, 9)), ("12.0", (12, 0)),
        ("[N/A]", None), ([8], None), (None, None), ("8.x", None),
    ],
)  # fmt: skip
def test_capability_in_both_spellings(value: object, pair: tuple[int, int] | None) -> None:
    assert capability(value) == pair


def test_a_uuid_is_written_as_nvidia_smi_does() -> None:
    assert (full_uuid("1c"), full_uuid("GPU-1c"), full_uuid("MIG-1c"), full_uuid(None)) == (
        "GPU-1c", "GPU-1c", "MIG-1c", None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: N/A      |", "N/A"),
        ("| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: ERR!     |", "ERR!"),
        ("| NVIDIA-SMI 550.54.14   Driver Version: 550.54.14   CUDA Version: 12.4     |", None),
        ("<cuda_version>N/A</cuda_version>", "N/A"),
    ],
)
def test_d11_the_header_without_libcuda(text: str, missing: str | None) -> None:
    assert inside_facts(recording("container", commands={"nvidia-smi": said(text)})).cuda_missing == missing


def test_a_probe_that_was_ended_keeps_what_it_had_said() -> None:
    lines = '{"library": "/l", "init": null, "asking": "cuInit"}\n{"half of an obj'
    entry = {"argv": ["python3"], "timed_out": True, "seconds": 30.0, "stdout": lines}
    found = inside_facts(recording("container", commands={"cuda": entry}))
    assert (found.library, found.init, found.stuck) == ("/l", None, "no answer within 30 s at cuInit")


@pytest.mark.parametrize("stdout", ["", "null", "[]", '{"init": "0", "count": true, "devices": 3}'])
def test_wrong_types_are_unknown(stdout: str) -> None:
    found = inside_facts(recording("container", commands={"cuda": said(stdout)}))
    assert (found.init, found.count, found.devices, found.cuda) == (None, None, (), None)


def test_d9_shm_in_all_its_states() -> None:
    def shm(**disks: object) -> tuple[int | None, bool]:
        found = inside_facts(recording("container", **disks))
        return found.shm_bytes, found.shm_missing

    path = "/dev/shm"  # noqa: S108
    assert shm() == (None, False)
    assert shm(disks={path: {"total": 67108864}}) == (67108864, False)
    assert shm(disks={path: {"missing": True}}) == (None, True)
    assert shm(disks={path: {"error": "timed out"}}) == (None, False)


def test_an_environment_that_was_not_recorded_is_not_an_empty_one() -> None:
    assert inside_facts(recording("container")).env is None
    assert inside_facts(recording("container", env={})).env == {}


def _torch(**answer: object) -> dict[str, object]:
    return said(json.dumps(answer) + "\n")


def test_e3_the_version_that_torch_found() -> None:
    text = "CUDA initialization: The NVIDIA driver on your system is too old (found version 11040)."
    found = framework_facts(recording("container", commands={"torch": _torch(torch="2", warnings=[text])}))
    assert str(found.found_cuda) == "11.4"
    assert text in found.evidence[-1]


def test_a_question_that_hung_is_an_error_of_that_question() -> None:
    lines = '{"torch": "2.6.0", "available": null, "asking": "available"}\n'
    entry = {"argv": ["python3"], "timed_out": True, "seconds": 50.0, "stdout": lines}
    found = framework_facts(recording("container", commands={"torch": entry}))
    assert found.errors == {"available": "no answer within 50 s"}
    assert (found.version, found.error) == ("2.6.0", None)


def test_an_import_that_crashes_is_the_error_of_torch() -> None:
    entry = said('{"torch": null, "asking": "torch"}\n', -11, "Segmentation fault (core dumped)\n")
    found = framework_facts(recording("container", commands={"torch": entry}))
    assert found.error == "exit status -11: Segmentation fault (core dumped)"


def test_e6_the_second_look_counts_only_where_something_was_cleaned() -> None:
    def clean(**answer: object) -> int | None:
        found = framework_facts(recording("container", commands={"torch-clean": _torch(**answer)}))
        return found.clean_count

    assert clean(cleaned=["CUDA_VISIBLE_DEVICES"], device_count=2) == 2
    assert clean(cleaned=[], device_count=2) is None


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        ("2.13.0+cu130", "130"), ("0.21.0+cu118", "118"), ("2.6.0+cu122torch2.4cxx11abiFALSE", "122"),
        ("2.7.4.post1", None), ("2.5.1+cpu", None), ("0.0.28.post3", None), ("2.8.3+cu12torch2.6", "12"),
    ],
)  # fmt: skip
def test_the_cuda_that_a_build_names(version: str, tag: str | None) -> None:
    assert cuda_tag(version) == tag


def test_an_extension_names_the_torch_that_it_was_made_for() -> None:
    answer = {
        "installed": {
            "torch": {"version": "2.6.0"},
            "torchvision": {"version": "0.21.0", "requires": ["torch==2.6.0"]},
            "flash-attn": {"version": "2.8.3+cu12torch2.6cxx11abiFALSE", "requires": ["torch"]},
            "apex": {"version": None},
        },
        "imports": {"torchvision": {"ok": True}, "flash-attn": {"ok": False, "error": "E"}},
    }
    found = package_facts(recording("container", commands={"python-packages": said(json.dumps(answer))}))
    assert [(one.name, one.for_torch, one.imports) for one in found.extensions] == [
        ("torchvision", "2.6.0", True),
        ("flash-attn", "2.6", False),
    ]


def test_topology_with_network_cards_and_colour() -> None:
    text = (
        "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
        "GPU0\t X \tNV18\tPXB\t0-47\t0\t\tN/A\n"
        "GPU1\tNV18\t X \tSYS\t48-95\t1\t\tN/A\n"
        "NIC0\tPXB\tSYS\t X \t\t\t\t\n\nLegend:\n\n  X    = Self\n"
    )
    assert parse_topology(text) == {(0, 1): "NV18", (1, 0): "NV18"}
    assert parse_topology("") == {}


def test_an_all_reduce_that_never_ended_is_an_error() -> None:
    lines = '{"count": 2, "pairs": [{"from": 0, "to": 1, "right": true}], "asking": "all_reduce"}\n'
    entry = {"argv": ["python3"], "timed_out": True, "seconds": 55.0, "stdout": lines}
    found = peer_facts(recording("container", commands={"torch-peers": entry}))
    assert (found.reduced, found.reduce_error) == (None, "no answer within 55 s")


NO_PROGRAM = 'docker: … exec: "{0}": executable file not found in $PATH: unknown.\n'


def _pythons(three: dict[str, object] | None, two: dict[str, object] | None) -> bool:
    entries = {"image-python3": three, "image-python": two}
    commands = {name: entry for name, entry in entries.items() if entry}
    return image_python(recording(commands=commands)).absent


def test_an_image_with_no_python_that_is_new_enough() -> None:
    gone = said(rc=127, stderr=NO_PROGRAM.format("python3"))
    assert _pythons(gone, said(rc=127, stderr=NO_PROGRAM.format("python")))
    assert _pythons(gone, said("2.7.18\n", 1))
    assert not _pythons(gone, said("3.12.1\n"))
    assert not _pythons(said("3.12.1\n"), None)
    assert not _pythons(None, None)
    # A container that could not be made says nothing of what is in the image.
    assert not _pythons(said(rc=125, stderr="docker: Error response from daemon: no space left\n"), gone)
