"""Run a probe's text as a container would, with stand-ins for what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import verify
from verify.manifest import manifest

PROBES = Path(verify.__file__).parent
# torch's names, as far as the probes use them; a test replaces some.
TORCH = """
import types
__version__ = "2.13.0+cu130"
version = types.SimpleNamespace(cuda="13.0", hip=None)
class Tensor:
    def __init__(self, total): self.total = total
    def __matmul__(self, other): return self
    def sum(self): return self
    def item(self): return self.total
def ones(size, device=None): return Tensor({4096: 262144.0}.get(size[-1] * size[-2], 324.0))
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=lambda image, kernel: image))
class Properties:
    name, major, minor, uuid = "NVIDIA A10", 8, 6, "1c2d3e4f-0000-0000-0000-000000000000"
class cuda:
    is_available = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    get_arch_list = staticmethod(lambda: ["sm_80", "sm_86"])
    get_device_properties = staticmethod(lambda number: Properties)
    synchronize = staticmethod(lambda: None)
    init = staticmethod(lambda: None)
class backends:
    class cudnn:
        version = staticmethod(lambda: 92000)
"""


def argv(name: str) -> list[str]:
    """Return the command of the manifest, run by this Python."""
    spec = next(spec for spec in manifest("container")["commands"] if spec["name"] == name)
    return [part if part != "{python}" else sys.executable for part in spec["argv"]]


def run(name: str, folder: Path, *more: str, limit: float = 30, **env: Any) -> tuple[Any, int]:
    """Return the last object that it printed, and its exit status; None where it had to be killed."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **env}
    process = subprocess.Popen(
        [*argv(name), *more], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    lines = out.strip().splitlines()
    assert lines, err
    return json.loads(lines[-1]), process.returncode


def package(folder: Path, name: str, version: str, text: str, *, wish: str = "") -> None:
    """Install a distribution with one module."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(text, encoding="utf-8")
    info = folder / f"{module}-{version}.dist-info"
    info.mkdir()
    wishes = f"Requires-Dist: {wish}\n" if wish else ""
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{wishes}", encoding="utf-8"
    )
