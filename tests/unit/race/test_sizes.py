"""The sizes of the race image: what counts where, what nobody knows, what is too large."""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
import yaml

from tests.unit.standins.load import load

ROOT = Path(__file__).resolve().parents[3]
FILES = ROOT / "roles/race_image/files"


@pytest.fixture(scope="module")
def sizes() -> Any:
    before = list(sys.path)
    module = load("race_image_sizes", FILES / "sizes.py")
    sys.path[:] = before
    return module


def parts(sizes: Any, **known: int) -> dict[str, int | None]:
    return {**dict.fromkeys(sizes.TITLES), **{name.replace("_", "-"): size for name, size in known.items()}}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("torch", "torch"),
        ("triton", "torch"),
        ("nvidia-cublas-cu12", "cuda-wheels"),
        ("nvidia-cublas", "cuda-wheels"),
        ("cuda-bindings", "cuda-wheels"),
        ("nvidia-ml-py", "rest"),
        ("scipy", "science"),
        ("scikit-learn", "science"),
        ("sympy", "rest"),
    ],
)
def test_every_wheel_belongs_to_one_part(sizes: Any, name: str, wanted: str) -> None:
    assert sizes.part(name) == wanted
    found = sizes.summed([sizes.wheels.Wheel(name, "1", 10, 30)], "unpacked")
    assert found == parts(sizes) | {wanted: 30}


def test_a_wheel_counts_with_what_the_image_keeps(sizes: Any, tmp_path: Path) -> None:
    file = tmp_path / "scipy-1.0-py3-none-any.whl"
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        archive.writestr("scipy/linalg.so", "a" * 1000)
        archive.writestr("scipy/linalg/tests/test_all.py", "a" * 5000)
        archive.writestr("torch/include/ATen.h", "a" * 5000)
        archive.writestr("nvidia/cu13/lib/libcudart_static.a", "a" * 5000)
        archive.writestr("nvidia/cu13/lib/libcudart.so.13", "a" * 500)
    found = sizes.wheels.of_file(file)
    assert (found.name, found.version, found.unpacked) == ("scipy", "1.0", 1500)
    assert 0 < found.packed < 1500


def test_what_is_left_out_is_what_the_dockerfile_removes(sizes: Any) -> None:
    dockerfile = (FILES / "Dockerfile").read_text(encoding="utf-8")
    removed = re.findall(r"rm -rf (torch/.*); \\", dockerfile)[0].split()
    assert len(removed) > 4
    for pattern in removed:
        inside = pattern.replace("[Tt]", "t").replace("*", "x") + ("/x" if "." not in pattern else "")
        assert sizes.wheels.LEFT_OUT.match(inside), pattern
    tested = re.findall(r"find ([\w ]+) -type d -name tests", dockerfile)[0].split()
    assert [name for name in tested if not sizes.wheels.LEFT_OUT.match(f"{name}/a/tests/b.py")] == []
    assert not sizes.wheels.LEFT_OUT.match("torch/testing/__init__.py")
    assert not sizes.wheels.LEFT_OUT.match("torch/lib/libtorch_cpu.so")


def test_other_wheels_than_the_lock_s_are_refused(
    sizes: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lock = tmp_path / "cu1.txt"
    lock.write_text("# a lock\na==1 --hash=sha256:aa\n")
    one = {"download_info": {"archive_info": {"hashes": {"sha256": "bb"}}}}
    monkeypatch.setattr(sizes.wheels, "resolved", lambda *_: [one])
    with pytest.raises(SystemExit, match=r"other wheels than cu1\.txt names: make the lock anew"):
        sizes.wheels.locked(lock)
    lock.write_text("# a lock\na==1 --hash=sha256:bb\n")
    monkeypatch.setattr(sizes.wheels, "measured", lambda found: found)
    assert sizes.wheels.locked(lock) == [one]


def test_what_nobody_could_measure_is_said_and_is_not_zero(sizes: Any) -> None:
    said = sizes.table({"a": parts(sizes, torch=547_000_000, cuda_base=0)})
    assert "| torch, triton | 547 |" in said
    assert "| CUDA's libraries in the base image | 0 |" in said
    assert "| Python, from apt | not known here |" in said
    assert "**more than 547**" in said
    whole = sizes.table({"a": dict.fromkeys(sizes.TITLES, 1_000_000_000)})
    assert "**7 000**" in whole


def test_an_image_within_its_budget_passes_and_a_larger_one_is_told_which_part(sizes: Any) -> None:
    most = yaml.safe_load(sizes.BUDGET.read_text(encoding="utf-8"))["megabytes"]
    assert set(most) == {*sizes.TITLES, "whole"}
    within = {name: most[name] * 1_000_000 for name in sizes.TITLES}
    within["torch"] -= (sum(within.values()) - most["whole"] * 1_000_000) if sum(within.values()) > 1e9 else 0
    assert sizes.over("race:1", within) == []
    [grown] = sizes.over("race:1", {**within, "science": within["science"] + 1, "base": 0})
    assert f"scikit-learn, scipy, numpy: {most['science']} MB" in grown
    assert f"allows {most['science']} MB" in grown
    assert "raise the budget" in grown
    every = sizes.over("race:1", dict.fromkeys(sizes.TITLES, 2_000_000_000))
    assert len(every) == len(most)
    assert "the whole image" in "".join(every)


def test_the_table_takes_its_place_in_the_document_and_nothing_else(
    sizes: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    document = tmp_path / "race-image.md"
    document.write_text(f"before\n{sizes.BEGIN}\nold\n{sizes.END}\nafter\n")
    monkeypatch.setattr(sizes, "DOCUMENT", document)
    found = {"a": {"packed": parts(sizes), "unpacked": parts(sizes, torch=1)}}
    sizes.keep(sizes.written(found, date(2026, 12, 2)))
    text = document.read_text()
    assert text.startswith(f"before\n{sizes.BEGIN}\nMade on 2026-12-02 by ")
    assert text.endswith(f"{sizes.END}\nafter\n")
    assert "old" not in text
    document.write_text("no place")
    with pytest.raises(SystemExit, match="for the table to stand between"):
        sizes.keep("x")


def test_the_document_has_every_variant_flavour_and_part(sizes: Any) -> None:
    text = sizes.DOCUMENT.read_text(encoding="utf-8")
    rows = yaml.safe_load((ROOT / "verify/compat/race_images.yml").read_text(encoding="utf-8"))["variants"]
    wanted = {f"{row['name']} {flavour}" for row in rows if row["lock"] for flavour in row["bases"]}
    headers = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| MB |")]
    assert len(headers) == 2, "unpacked and packed"
    for header in headers:
        assert {cell.strip() for cell in header} == {"MB", "CPU-only", *wanted}
    assert [title for title in sizes.TITLES.values() if text.count(f"| {title} |") != 2] == []
