"""Every reason for which a lane is absent."""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from tests.unit.race import fakes
from verify.race import libraries
from verify.race.libraries import CPU, CUDA, absent_reason

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

CUDA_BUILD = fakes.torch("2.13.0+cu126", cuda="12.6", available=True)


def test_a_card_and_a_cuda_build_run() -> None:
    assert absent_reason("torch", CUDA, fakes.libraries(CUDA_BUILD)) is None


@pytest.mark.parametrize("device", [CPU, CUDA])
def test_no_torch(device: str) -> None:
    assert absent_reason("torch", device, fakes.libraries(None)) == "torch is not installed for this Python"


def test_a_cpu_build_blocks_the_card_and_not_the_cpu() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cpu"))
    assert absent_reason("torch", CPU, found) is None
    assert (
        absent_reason("torch", CUDA, found) == "torch 2.13.0+cpu is a CPU build: install a CUDA build of it"
    )


def test_a_cpu_build_with_a_card_is_still_a_cpu_build() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cpu", available=True))
    assert "CPU build" in str(absent_reason("torch", CUDA, found))


def test_no_card() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cu126", cuda="12.6"))
    assert "finds no card" in str(absent_reason("torch", CUDA, found))


def test_no_scikit_learn_leaves_the_torch_lanes() -> None:
    found = libraries.Libraries({"numpy": fakes.module("2.4.6"), "torch": CUDA_BUILD})
    assert absent_reason("sklearn", CPU, found) == "scikit-learn is not installed for this Python"
    assert absent_reason("torch", CPU, found) is None


def test_no_numpy() -> None:
    found = libraries.Libraries({"torch": CUDA_BUILD})
    assert absent_reason("torch", CPU, found) == "numpy is not installed for this Python"


def importing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> libraries.Libraries:
    def refuse(_name: str) -> ModuleType:
        raise error

    monkeypatch.setattr(importlib, "import_module", refuse)
    return libraries.load()


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importing(monkeypatch, ModuleNotFoundError("No module named 'torch'", name="torch"))
    assert found.errors["torch"] == "torch is not installed for this Python"


def test_what_it_needs_and_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importing(monkeypatch, ModuleNotFoundError("No module named 'sympy'", name="sympy"))
    assert found.errors["torch"] == "torch cannot be imported: sympy is not installed"


def test_a_broken_library_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importing(monkeypatch, OSError("libcudart.so.12: cannot open shared object file\nmore"))
    assert (
        found.errors["torch"] == "torch cannot be imported: libcudart.so.12: cannot open shared object file"
    )
    assert "torch" not in found


def test_importing_the_race_imports_none_of_them() -> None:
    check = "[m for m in ('numpy', 'torch', 'sklearn') if m in sys.modules]"
    code = f"import sys, verify.race.__main__; print({check})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_machine_without_a_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def none() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none)
    libraries.name_a_temporary_folder(tmp_path / "not-there")
    assert tempfile.tempdir is None
    libraries.name_a_temporary_folder(tmp_path)
    assert tempfile.gettempdir() == str(tmp_path)
