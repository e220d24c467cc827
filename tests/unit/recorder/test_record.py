from __future__ import annotations

import ast
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify import recorder

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(recorder.__file__)
MANIFEST: dict[str, Any] = {"schema": 1, "where": "host", "deadline": 10, "commands": []}


def record(given: dict[str, str] | None = None, **parts: Any) -> dict[str, Any]:
    document = recorder.record({**MANIFEST, **parts}, given or {})
    return dict(json.loads(json.dumps(document)))


def pythons() -> list[str]:
    """Every Python from 3.6 on that PATH really runs; ours at least."""
    names = [shutil.which(f"python3.{minor}") for minor in range(6, 20)]
    works = [
        n
        for n in names
        if n and subprocess.run([n, "-c", ""], check=False, capture_output=True).returncode == 0
    ]
    return works or [sys.executable]


def test_source_is_python_3_6_and_one_file() -> None:
    tree = ast.parse(SOURCE.read_text(), feature_version=(3, 6))
    modules = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules <= sys.stdlib_module_names


@pytest.mark.parametrize("python", pythons())
def test_piped_to_a_python(python: str) -> None:
    manifest = {
        **MANIFEST,
        "files": ["/etc/os-release"],
        "commands": [{"name": "u", "argv": ["uname", "{image}"]}],
    }
    done = subprocess.run(
        [python, "-", json.dumps(manifest), "image=-s"],
        input=SOURCE.read_bytes(),
        capture_output=True,
        check=True,
    )
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert document["commands"]["u"]["stdout"] == "Linux\n"
    assert document["files"]["/etc/os-release"]["text"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["taken_at"])


@pytest.mark.parametrize("arguments", [[], ["not json"], ["{}", "novalue"]])
def test_wrong_arguments_are_one_sentence(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert recorder.main(arguments) == 2
    assert capsys.readouterr().err.startswith("recorder: ")


def test_commands_run_at_the_same_time() -> None:
    commands = [{"name": str(n), "argv": ["sleep", "0.5"]} for n in range(8)]
    began = time.monotonic()
    assert all(entry["rc"] == 0 for entry in record(commands=commands)["commands"].values())
    assert time.monotonic() - began < 2.5


def test_one_deadline_over_all() -> None:
    began = time.monotonic()
    document = record(deadline=0.5, commands=[{"name": "s", "argv": ["sleep", "30"], "limit": 20}])
    assert time.monotonic() - began < 4
    assert document["commands"]["s"]["timed_out"] is True


def test_without_image_its_commands_are_not_recorded() -> None:
    commands = [{"name": "i", "argv": ["echo", "{image}"]}, {"name": "o", "argv": ["echo", "{{json .}}"]}]
    assert set(record(commands=commands)["commands"]) == {"o"}
    with_image = record({"image": "a/b:c"}, commands=commands)["commands"]
    assert with_image["i"]["stdout"] == "a/b:c\n"
    assert with_image["o"]["stdout"] == "{{json .}}\n"


def test_placeholders(tmp_path: Path, tools: Callable[[str, str], Path]) -> None:
    spec = tmp_path / "cdi" / "nvidia.yaml"
    spec.parent.mkdir()
    spec.write_text(
        f'  hostPath: {tmp_path}\n  hooks:\n  - path: /no/such/hook\n{{"hostPath": "/no/such/lib"}}'
    )
    tools("docker", f'echo \'{{"DockerRootDir": "{tmp_path}"}}\'')
    document = record(
        globs=[{"pattern": f"{tmp_path}/cdi/*", "read": True}],
        paths=["{cdi_host_paths}", "/lib/modules/{kernel}/never"],
        disks=["{docker_root}"],
        commands=[{"name": "docker-info", "argv": ["docker", "info"]}],
    )
    assert document["paths"] == {
        str(tmp_path): True,
        "/no/such/hook": False,
        "/no/such/lib": False,
        f"/lib/modules/{os.uname().release}/never": False,
    }
    assert document["disks"][str(tmp_path)]["total"] > 0
    assert str(spec) in document["files"]


def test_docker_root_without_docker() -> None:
    assert "/var/lib/docker" in record(disks=["{docker_root}"])["disks"]


def test_gpu_pids_are_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [{"name": "p", "argv": ["echo", "-", "{gpu_pids}"]}]
    assert record(commands=commands)["commands"]["p"]["stdout"] == "-\n"
    monkeypatch.setattr(recorder, "gpu_pids", lambda: ["12", "345"])
    assert record(commands=commands)["commands"]["p"]["stdout"] == "- 12 345\n"


def test_a_query_for_each_card_only_where_the_whole_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    real = glob.glob
    nodes = ["/dev/nvidia0", "/dev/nvidia1"]
    monkeypatch.setattr(glob, "glob", lambda p: nodes if p == "/dev/nvidia[0-9]*" else real(p))
    each = {"name": "gpu-{gpu_index}", "argv": ["echo", "{gpu_index}"], "each": "gpu_index", "if_failed": "q"}
    failed = record(commands=[{"name": "q", "argv": ["false"]}, each])["commands"]
    assert {name: entry.get("stdout") for name, entry in failed.items() if name != "q"} == {
        "gpu-0": "0\n",
        "gpu-1": "1\n",
    }
    assert set(record(commands=[{"name": "q", "argv": ["true"]}, each])["commands"]) == {"q"}


def test_env_is_an_allow_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("MY_SETTING", "x")
    monkeypatch.delenv("NVIDIA_VISIBLE_DEVICES", raising=False)
    assert record(env=["CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"])["env"] == {
        "CUDA_VISIBLE_DEVICES": ""
    }


def test_links_and_newest(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    (tmp_path / "new").write_text("new")
    os.utime(tmp_path / "old", (1, 1))
    (tmp_path / "link").symlink_to("target")
    document = record(
        globs=[
            {"pattern": f"{tmp_path}/[no]*", "read": True, "newest": True},
            {"pattern": f"{tmp_path}/l*", "link": True},
        ],
        links=["/no/such"],
    )
    assert document["links"] == {f"{tmp_path}/link": "target"}
    assert list(document["files"]) == [f"{tmp_path}/new"]
    assert document["globs"][f"{tmp_path}/[no]*"] == [f"{tmp_path}/new", f"{tmp_path}/old"]


@pytest.mark.parametrize("there", [True, False])
def test_simulated_if_and_only_if_the_mark_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, there: bool
) -> None:
    mark = tmp_path / "simulated"
    if there:
        mark.write_text("")
    monkeypatch.setattr(recorder, "SIMULATED_MARK", str(mark))
    assert record()["simulated"] is there


@pytest.mark.parametrize(
    ("service", "socket", "asked"),
    [
        ("inactive", "active", False),
        ("failed", "active", False),
        ("deactivating", "active", False),
        ("inactive", "inactive", True),
        ("failed", "failed", True),
        ("active", "active", True),
        ("activating", "active", True),
        ("", "", False),
    ],
)
def test_a_stopped_engine_is_not_woken_through_its_socket(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    tools: Callable[[str, str], Path],
    *,
    service: str,
    socket: str,
    asked: bool,
) -> None:
    monkeypatch.setattr(recorder, "SYSTEMD_MARK", str(tmp_path))
    tools("systemctl", f"printf '%s\\n%s\\n' '{service}' '{socket}'; exit 3")
    tools("docker", f"touch {tmp_path}/asked")
    commands = [
        {"name": "docker-info", "argv": ["docker", "info"], "engine": True},
        {"name": "other", "argv": ["true"]},
    ]
    document = record(commands=commands)["commands"]
    assert (tmp_path / "asked").exists() is asked
    assert ("error" in document["docker-info"]) is not asked
    assert document["other"]["rc"] == 0
    if not asked:
        assert document["docker-info"]["error"].startswith("not run: ")


def test_without_systemd_docker_is_asked(
    monkeypatch: pytest.MonkeyPatch, tools: Callable[[str, str], Path]
) -> None:
    monkeypatch.setattr(recorder, "SYSTEMD_MARK", "/no/such")
    tools("docker", "echo yes")
    document = record(commands=[{"name": "d", "argv": ["docker"], "engine": True}])
    assert document["commands"]["d"]["stdout"] == "yes\n"
