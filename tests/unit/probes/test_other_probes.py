from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.probes.run import PROBES, argv, package, run
from verify.manifest import manifest

# What libcuda answers, as a library of our own.
LIBCUDA = """
#include <string.h>
#include <unistd.h>
int cuInit(unsigned flags) { if (HANGS) sleep(60); return INIT; }
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuGetErrorName(int status, const char **name) { *name = "CUDA_ERROR_FOR_A_TEST"; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Test card", size); return 0; }
int cuDeviceGetAttribute(int *value, int name, int device) { *value = name == 75 ? 8 : 9; return 0; }
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { memset(uuid, 0x1c, 16); return 0; }
"""
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def libcuda(folder: Path, init: int, *, hangs: bool = False) -> dict[str, Any]:
    source = folder / "cuda.c"
    source.write_text(f"#define INIT {init}\n#define HANGS {int(hangs)}\n{LIBCUDA}", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-o", folder / "libcuda.so.1", source], check=True)
    return {"LD_LIBRARY_PATH": str(folder)}


def test_d11_no_libcuda_is_an_answer(tmp_path: Path) -> None:
    found, status = run("cuda", tmp_path)
    assert (found["library"], found["init"], found["count"], status) == (None, None, None, 0)
    assert "libcuda.so.1" in found["error"]


@needs_compiler
def test_d11_cuda_starts_and_names_its_cards(tmp_path: Path) -> None:
    found = run("cuda", tmp_path, **libcuda(tmp_path, 0))[0]
    assert (found["library"], found["init"], found["cuda"]) == (str(tmp_path / "libcuda.so.1"), 0, 13000)
    assert found["devices"] == [
        {"name": "Test card", "uuid": "GPU-1c1c1c1c-1c1c-1c1c-1c1c-1c1c1c1c1c1c", "capability": [8, 9]}
    ]


@needs_compiler
def test_d11_what_cuinit_returns_is_kept_with_its_name(tmp_path: Path) -> None:
    found = run("cuda", tmp_path, **libcuda(tmp_path, 802))[0]
    assert (found["init"], found["word"], found["cuda"], found["count"]) == (
        802, "CUDA_ERROR_FOR_A_TEST", 13000, None,
    )  # fmt: skip


@needs_compiler
def test_d11_a_cuinit_that_hangs_is_named(tmp_path: Path) -> None:
    found, status = run("cuda", tmp_path, limit=3, **libcuda(tmp_path, 0, hangs=True))
    assert (found["asking"], found["init"], status) == ("cuInit", None, -9)
    assert found["library"] == str(tmp_path / "libcuda.so.1")


def test_extensions_each_with_its_own_end(tmp_path: Path) -> None:
    package(tmp_path, "torch", "2.13.0", "")
    package(tmp_path, "torchvision", "0.28.0", "", wish="torch==2.13.0")
    package(tmp_path, "flash-attn", "2.8.3", "raise ImportError('undefined symbol: _ZN3c105Error')")
    package(tmp_path, "triton", "3.7.0", "import os; os.abort()")
    package(tmp_path, "bitsandbytes", "0.50.0", "import sys; print('no GPU support', file=sys.stderr)")
    found = run("python-packages", tmp_path)[0]
    assert found["installed"]["torchvision"] == {"version": "0.28.0", "requires": ["torch==2.13.0"]}
    assert found["imports"]["torchvision"] == {"ok": True, "error": None, "said": None}
    assert found["imports"]["flash-attn"]["error"] == "ImportError: undefined symbol: _ZN3c105Error"
    assert found["imports"]["triton"]["error"].startswith("killed by signal 6")
    assert found["imports"]["bitsandbytes"] == {"ok": True, "error": None, "said": "no GPU support"}
    assert "apex" not in found["installed"]


def test_f9_both_distributions_of_pynvml(tmp_path: Path) -> None:
    package(tmp_path, "pynvml", "11.5.0", "")
    package(tmp_path, "nvidia-ml-py", "13.615.71", "")
    found = run("python-packages", tmp_path)[0]
    assert {name: one["version"] for name, one in found["installed"].items()} == {
        "pynvml": "11.5.0",
        "nvidia-ml-py": "13.615.71",
    }
    assert found["imports"] == {}


def test_an_import_that_hangs_costs_no_other(tmp_path: Path) -> None:
    package(tmp_path, "torchvision", "0.28.0", "")
    package(tmp_path, "apex", "0.1", "import time; time.sleep(60)")
    command = argv("python-packages")
    text = command[-1].replace("LIMIT_S = 35.0", "LIMIT_S = 2.0")
    done = subprocess.run(
        [*command[:-1], text], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert '"apex": {"ok": false, "error": "no answer within 2 s"' in done.stdout
    assert '"torchvision": {"ok": true' in done.stdout


PEERS = """
import types, sys, time
int32 = "int32"
class Tensor:
    def __init__(self, device=None): self.device = device
    def to(self, device):
        if device == HANGS_ON: time.sleep(60)
        return Tensor(device)
    def cpu(self): return self
    def __eq__(self, other): return self
    def all(self): return self
    def max(self): return self
    def item(self): return SUM
def arange(*_, **__): return Tensor()
def full(*_, **__): return Tensor()
HANGS_ON, SUM = None, 3.0
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    can_device_access_peer = staticmethod(lambda source, target: False)
    synchronize = staticmethod(lambda number: None)
    set_device = staticmethod(lambda number: None)
"""
DISTRIBUTED = """
def init_process_group(backend, init_method, rank, world_size): assert backend == "nccl"
def all_reduce(values): return None
def destroy_process_group(): return None
"""


def torch_of_two(folder: Path, peers: str = PEERS, distributed: str = DISTRIBUTED) -> None:
    (folder / "torch").mkdir()
    (folder / "torch/__init__.py").write_text(peers, encoding="utf-8")
    (folder / "torch/distributed.py").write_text(distributed, encoding="utf-8")


def test_two_cards_copy_and_add_up(tmp_path: Path) -> None:
    torch_of_two(tmp_path)
    found = run("torch-peers", tmp_path)[0]
    assert [(pair["from"], pair["to"], pair["access"], pair["right"]) for pair in found["pairs"]] == [
        (0, 1, False, True),
        (1, 0, False, True),
    ]
    assert found["all_reduce"] == {"ok": True, "cards": 2, "error": None}
    assert (found["errors"], found["asking"]) == ({}, None)


def test_a_copy_that_hangs_is_ended_and_said(tmp_path: Path) -> None:
    torch_of_two(tmp_path, PEERS.replace("HANGS_ON, SUM = None", "HANGS_ON, SUM = 'cuda:1'"))
    command = argv("torch-peers")
    text = command[-1].replace("PEERS_LIMIT_S = 25.0", "PEERS_LIMIT_S = 2.0")
    done = subprocess.run(
        [*command[:-1], text], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert '"peers": "no answer within 2 s"' in done.stdout.splitlines()[-1]


def test_a_rank_that_fails_is_heard_before_those_that_wait(tmp_path: Path) -> None:
    failing = DISTRIBUTED.replace(
        'assert backend == "nccl"',
        "print('x NCCL WARN Error while creating shared memory segment'); raise RuntimeError('NCCL error')",
    )
    torch_of_two(tmp_path, distributed=failing)
    error = run("torch-peers", tmp_path)[0]["all_reduce"]["error"]
    assert "creating shared memory segment; RuntimeError: NCCL error" in error


def test_one_card_has_nobody_to_copy_to(tmp_path: Path) -> None:
    torch_of_two(tmp_path, PEERS.replace("lambda: 2", "lambda: 1"))
    found = run("torch-peers", tmp_path)[0]
    assert (found["count"], found["pairs"], found["all_reduce"], found["errors"]) == (1, [], None, {})


@pytest.mark.parametrize("probe", ["torch", "cuda", "packages", "peers"])
def test_the_probes_are_python_3_6(probe: str) -> None:
    """As far as this Python can tell; the oldest there is runs them."""
    text = (PROBES / f"{probe}_probe.py").read_text(encoding="utf-8")
    assert "__future__" not in text
    assert ":=" not in text
    oldest = sorted(Path.home().glob(".pyenv/versions/3.6.*/bin/python"))
    python = str(oldest[0]) if oldest else sys.executable
    subprocess.run([python, "-c", "compile(__import__('sys').argv[1], 'x', 'exec')", text], check=True)


def test_all_ends_before_the_recorder_does() -> None:
    content = manifest("container")
    assert max(spec.get("limit", 10) for spec in content["commands"]) < content["deadline"]
