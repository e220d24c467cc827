"""The sampler with NVIDIA's own nvidia-ml-py, on the stand-in for the library that it loads."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.standins.load import load
from verify.race.sampler import Sampler

if TYPE_CHECKING:
    from collections.abc import Callable

CARD = Path(__file__).resolve().parents[2] / "standins" / "card"
UUID = "GPU-51515151-0000-4000-8000-00000000000{}"
PATIENCE = 60.0
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpu-host"
HEADERS = sorted(CACHE.glob("nvml-*.h"))
pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not HEADERS,
    reason="no C compiler, or the stand-in hosts were never built here: nvml.h comes with them",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the stand-in as its Dockerfile does."""
    folder = tmp_path_factory.mktemp("nvml")
    generate = load("simulated_card_generate", CARD / "nvml" / "generate.py")
    text = HEADERS[-1].read_text(encoding="utf-8")
    (folder / "nvml.h").write_text(text, encoding="utf-8")
    (folder / "stubs.c").write_text(generate.stubs(generate.functions(text)), encoding="utf-8")
    sources = sorted((CARD / "nvml").glob("*.c"))
    subprocess.run(
        ["cc", "-std=gnu11", "-O0", "-shared", "-fPIC", f"-I{folder}", f"-I{CARD / 'nvml'}",
         "-Wl,-soname,libnvidia-ml.so.1", f"-Wl,--version-script={CARD / 'nvml' / 'exports.map'}",
         "-o", folder / "libnvidia-ml.so.1", *sources, folder / "stubs.c"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def machine(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return what makes this a machine with such cards."""

    def make(text: str) -> None:
        (tmp_path / "etc/gpu-host").mkdir(parents=True)
        (tmp_path / "etc/gpu-host/simulated").write_text(text)
        (tmp_path / "dev").mkdir()
        for number in range(2):
            (tmp_path / f"dev/nvidia{number}").touch()

    monkeypatch.setenv("LD_LIBRARY_PATH", str(library))
    monkeypatch.setenv("GPU_HOST_SIMULATED_ROOT", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return make


def patient(card: str | None = None) -> Sampler:
    return Sampler(0.01, card, start_seconds=PATIENCE, end_seconds=PATIENCE)


def test_a_simulated_card_is_read(machine: Callable[[str], None]) -> None:
    machine(
        "[card 0]\nutilization_percent = 90\nmemory_used_mib = 2048\npower_w = 140\ntemperature_c = 60\n"
        "power_limit_w = 150\n"
    )
    sampler = patient()
    with sampler:
        began = time.perf_counter()
        time.sleep(0.1)
        repeats = [(began, time.perf_counter())]
    seen = sampler.usage(repeats)
    sampler.close()
    assert (sampler.notes, seen is not None) == ([], True)
    assert seen is not None
    assert seen["utilisation"] == {"median": 90, "max": 90}
    assert (seen["memory_mib_max"], seen["temperature_c_max"]) == (2048.0, 60)
    assert seen["power_w_mean"] == pytest.approx(140.0)
    assert seen["energy_from"] == "integrated"  # the stand-in has no counter
    assert seen["throttle"] == []
    assert seen["limits"] == {"power_w": 150.0, "power_default_w": 150.0, "slowdown_c": 95}


def test_what_a_card_does_not_have_is_missing(machine: Callable[[str], None]) -> None:
    machine(
        "[card 0]\nutilization_percent = unsupported\npower_w = error 999\nmemory_used_mib = unsupported\n"
    )
    sampler = patient()
    with sampler:
        pass
    seen = sampler.usage()
    sampler.close()
    assert seen is not None
    named = ("utilisation", "memory_mib_max", "power_w_mean", "energy_j", "throttle")
    assert [seen[name] for name in named] == [None] * len(named)
    assert seen["temperature_c_max"] == 30


def test_of_two_cards_the_named_one_is_read(machine: Callable[[str], None]) -> None:
    machine("[card 0]\ntemperature_c = 40\n[card 1]\ntemperature_c = 70\n")
    sampler = patient(UUID.format(1))
    with sampler:
        pass
    seen = sampler.usage()
    sampler.close()
    assert seen is not None
    assert seen["temperature_c_max"] == 70
    sampler = patient()
    with sampler:
        pass
    assert sampler.reason == {"id": "sampler-which-card", "count": 2}


def test_a_driver_that_is_not_loaded_is_the_reason(machine: Callable[[str], None]) -> None:
    machine("init_return = 9\n[card 0]\n")
    sampler = patient()
    with sampler:
        pass
    assert sampler.reason is not None
    assert sampler.reason["id"] == "sampler-no-nvml"
    assert "Driver Not Loaded" in sampler.reason["error"]


def test_a_lost_card_is_the_reason_and_the_other_one_is_read(machine: Callable[[str], None]) -> None:
    machine("[card 0]\nfault = lost\n[card 1]\ntemperature_c = 70\n")
    sampler = patient(UUID.format(0))
    with sampler:
        pass
    assert sampler.usage() is None
    assert sampler.reason == {"id": "sampler-no-nvml", "error": "NVMLError_GpuIsLost: GPU is lost"}
    sampler = patient(UUID.format(1))
    with sampler:
        pass
    seen = sampler.usage()
    sampler.close()
    assert seen is not None
    assert seen["temperature_c_max"] == 70
