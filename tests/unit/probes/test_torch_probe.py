from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.probes.run import TORCH, run
from verify import torch_probe

if TYPE_CHECKING:
    from pathlib import Path


WARNS = (
    "lambda: __import__('warnings').warn("
    "'CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).')"
)


def answer(folder: Path, *changes: tuple[str, str], **env: Any) -> Any:
    text = TORCH
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "torch.py").write_text(text, encoding="utf-8")
    return run("torch", folder, **env)[0]


def test_everything_is_answered(tmp_path: Path) -> None:
    found = answer(tmp_path)
    assert (found["torch"], found["cuda"], found["cudnn"], found["hip"]) == (
        "2.13.0+cu130", "13.0", 92000, None,
    )  # fmt: skip
    assert (found["available"], found["device_count"], found["arch_list"]) == (True, 2, ["sm_80", "sm_86"])
    assert found["kernel"] == {"ok": True, "error": None, "result": 262144.0}
    assert [device["kernel"]["ok"] for device in found["devices"]] == [True, True]
    assert found["convolution"] == {"ok": True, "error": None}
    assert found["libraries"] == {}
    assert (found["asking"], found["error"], found["errors"]) == (None, None, {})


def test_without_torch_it_says_so(tmp_path: Path) -> None:
    found, status = run("torch", tmp_path)
    assert (found["torch"], found["asking"], status) == (None, None, 0)
    assert found["error"].startswith("ModuleNotFoundError")
    assert found["kernel"]["ok"] is False


def test_e2_each_card_has_its_own_kernel(tmp_path: Path) -> None:
    found = answer(
        tmp_path,
        (
            "def ones(size, device=None): return",
            """def ones(size, device=None):
    if device == 'cuda:1': raise RuntimeError('CUDA error: no kernel image is available')
    return""",
        ),
    )
    assert found["kernel"]["ok"] is True
    assert [device["kernel"]["error"] for device in found["devices"]] == [
        None,
        "RuntimeError: CUDA error: no kernel image is available",
    ]


def test_a_question_that_fails_costs_no_other(tmp_path: Path) -> None:
    found = answer(
        tmp_path, ("version = staticmethod(lambda: 92000)", "version = staticmethod(lambda: 1 / 0)")
    )
    assert found["errors"] == {"cudnn": "ZeroDivisionError: division by zero"}
    assert (found["cudnn"], found["available"], found["kernel"]["ok"]) == (None, True, True)


@pytest.mark.parametrize(
    ("change", "asking"),
    [
        (("is_available = staticmethod(lambda: True)", "is_available = staticmethod(hang)"), "available"),
        (("synchronize = staticmethod(lambda: None)", "synchronize = staticmethod(hang)"), "kernel 0"),
        (("def ones(", "hang()\ndef ones("), "torch"),
    ],
)
def test_a_question_that_hangs_leaves_the_answers_before_it(
    tmp_path: Path, change: tuple[str, str], asking: str
) -> None:
    text = "def hang(*_):\n    import time\n    time.sleep(60)\n" + TORCH.replace(*change)
    (tmp_path / "torch.py").write_text(text, encoding="utf-8")
    found, status = run("torch", tmp_path, limit=3)
    assert (found["asking"], status) == (asking, -9)
    assert (found["torch"] is None) is (asking == "torch")


def test_a_question_that_crashes_leaves_the_answers_before_it(tmp_path: Path) -> None:
    text = TORCH.replace(
        "synchronize = staticmethod(lambda: None)",
        "synchronize = staticmethod(lambda: __import__('os').abort())",
    )
    (tmp_path / "torch.py").write_text(text, encoding="utf-8")
    found, status = run("torch", tmp_path)
    assert (found["asking"], found["device_count"], status) == ("kernel 0", 2, -6)


def test_e3_the_reason_why_cuda_does_not_start_is_kept(tmp_path: Path) -> None:
    found = answer(
        tmp_path,
        ("is_available = staticmethod(lambda: True)", f"is_available = staticmethod({WARNS})"),
        ("init = staticmethod(lambda: None)", "init = staticmethod(lambda: 1 / 0)"),
    )
    assert found["available"] is False
    assert found["init"] == "ZeroDivisionError: division by zero"
    assert re.search(r"found version 11040", found["warnings"][0])
    assert found["kernel"]["error"].startswith("not tried")


def test_e1_a_cpu_build_is_not_asked_to_start_cuda(tmp_path: Path) -> None:
    found = answer(
        tmp_path,
        ('cuda="13.0"', "cuda=None"),
        ("is_available = staticmethod(lambda: True)", "is_available = staticmethod(lambda: False)"),
        ("init = staticmethod(lambda: None)", "init = staticmethod(lambda: 1 / 0)"),
    )
    assert (found["cuda"], found["init"], found["errors"]) == (None, None, {})


def test_e6_the_second_look_is_without_the_variables_that_hide(tmp_path: Path) -> None:
    text = TORCH.replace(
        "device_count = staticmethod(lambda: 2)",
        "device_count = staticmethod(lambda: 0 if 'CUDA_VISIBLE_DEVICES' in __import__('os').environ else 2)",
    )
    (tmp_path / "torch.py").write_text(text, encoding="utf-8")
    assert run("torch", tmp_path, CUDA_VISIBLE_DEVICES="")[0]["device_count"] == 0
    found = run("torch-clean", tmp_path, CUDA_VISIBLE_DEVICES="")[0]
    assert (found["cleaned"], found["device_count"]) == (["CUDA_VISIBLE_DEVICES"], 2)


def test_e6_nothing_set_is_nothing_to_look_at_again(tmp_path: Path) -> None:
    found = run("torch-clean", tmp_path)[0]
    assert (found["cleaned"], found["error"], found["asking"]) == ([], None, None)


def test_loaded_libraries_and_where_they_are_from(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text(
        "7f0000000000-7f0000001000 r-xp 00000000 08:01 11 /usr/lib/libcudnn_ops.so.9.1.0\n"
        "7f0000002000-7f0000003000 rw-p 00000000 08:01 11 /usr/lib/libcudnn_ops.so.9.1.0\n"
        "7f0000004000-7f0000005000 r-xp 00000000 08:01 12 /usr/lib/with space/libcuda.so.580.1 (deleted)\n"
        "7f0000006000-7f0000007000 rw-p 00000000 00:00 0 \n"
        "7f0000008000-7f0000009000 r-xp 00000000 08:01 13 /usr/lib/libc.so.6\n",
        encoding="utf-8",
    )
    assert torch_probe.loaded(str(maps)) == {
        "libcuda": ["/usr/lib/with space/libcuda.so.580.1 (deleted)"],
        "libcudnn": ["/usr/lib/libcudnn_ops.so.9.1.0"],
    }
