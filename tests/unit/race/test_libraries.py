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
from verify.race.words import text

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

CUDA_BUILD = fakes.torch("2.13.0+cu126", cuda="12.6", available=True)


def said(library: str, device: str, found: libraries.Libraries) -> str:
    return text(absent_reason(library, device, found) or {})


def test_a_card_and_a_cuda_build_run() -> None:
    assert absent_reason("torch", CUDA, fakes.libraries(CUDA_BUILD)) is None


@pytest.mark.parametrize("device", [CPU, CUDA])
def test_no_torch(device: str) -> None:
    assert said("torch", device, fakes.libraries(None)) == "torch is not installed for this Python"


def test_a_cpu_build_blocks_the_card_and_not_the_cpu() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cpu"))
    assert absent_reason("torch", CPU, found) is None
    assert said("torch", CUDA, found) == "torch 2.13.0+cpu is a CPU build: install a CUDA build of it"


def test_a_cpu_build_with_a_card_is_still_a_cpu_build() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cpu", available=True))
    assert "CPU build" in said("torch", CUDA, found)


def test_no_card() -> None:
    found = fakes.libraries(fakes.torch("2.13.0+cu126", cuda="12.6"))
    assert "finds no card" in said("torch", CUDA, found)


@pytest.mark.parametrize(
    ("capability", "built_for", "runs"),
    [
        ((8, 9), ("sm_80", "sm_86", "sm_90"), True),
        ((8, 0), ("sm_86", "sm_90"), False),
        ((12, 0), ("sm_80", "sm_90"), False),
        ((12, 0), ("sm_90", "compute_90"), True),
        ((7, 0), ("sm_75", "compute_75"), False),
        ((9, 0), ("sm_90a",), True),
        ((12, 0), ("sm_100", "sm_120"), True),
        ((8, 6), (), True),
        ((8, 6), ("gfx90a_new",), True),
    ],
)
def test_code_for_the_card(capability: tuple[int, int], built_for: tuple[str, ...], runs: bool) -> None:  # noqa: FBT001
    build = fakes.torch("2.13.0", cuda="12.6", available=True, capability=capability, built_for=built_for)
    reason = absent_reason("torch", CUDA, fakes.libraries(build))
    assert (reason is None) is runs
    if reason:
        assert f"compute capability {capability[0]}.{capability[1]} (it has {', '.join(built_for)})" in text(
            reason
        )


def test_no_scikit_learn_leaves_the_torch_lanes() -> None:
    found = libraries.Libraries({"numpy": fakes.module("2.4.6"), "torch": CUDA_BUILD})
    assert said("sklearn", CPU, found) == "scikit-learn is not installed for this Python"
    assert absent_reason("torch", CPU, found) is None


def test_no_numpy() -> None:
    found = libraries.Libraries({"torch": CUDA_BUILD})
    assert said("torch", CPU, found) == "numpy is not installed for this Python"


def importing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> libraries.Libraries:
    def refuse(_name: str) -> ModuleType:
        raise error

    monkeypatch.setattr(importlib, "import_module", refuse)
    return libraries.load()


def test_what_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importing(monkeypatch, ModuleNotFoundError("No module named 'torch'", name="torch"))
    assert text(found.errors["torch"]) == "torch is not installed for this Python"


def test_what_it_needs_and_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importing(monkeypatch, ModuleNotFoundError("No module named 'sympy'", name="sympy"))
    assert text(found.errors["torch"]) == "torch cannot be imported: sympy is not installed"


def test_a_broken_library_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importing(monkeypatch, OSError("libcudart.so.12: cannot open shared object file\nmore"))
    assert (
        text(found.errors["torch"])
        == "torch cannot be imported: libcudart.so.12: cannot open shared object file"
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


def test_what_is_installed_and_never_imported_has_its_version() -> None:
    assert libraries.distribution_version("pytest") == pytest.__version__
    assert libraries.distribution_version("gpu-host-no-such-distribution") is None
