"""Run one of our modules as Ansible does on a host: a process of its own, the arguments on standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
SHIM = """
import runpy, sys
import ansible.module_utils
from ansible.module_utils import basic
ansible.module_utils.__path__.append(sys.argv[1])
{before}
basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE = sys.stdin.buffer.read(), "legacy"
runpy.run_path(sys.argv[2], run_name="__main__")
"""


def run_module(
    name: str, given: dict[str, Any], *more: str, before: str = "", **process: Any
) -> dict[str, Any]:
    """Return the module's result; ``before`` is Python that runs first, with ``more`` from sys.argv[3] on."""
    done = subprocess.run(
        [
            sys.executable, "-c", SHIM.format(before=before),
            ROOT / "plugins" / "module_utils", ROOT / "plugins" / "modules" / f"{name}.py", *more,
        ],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": given}),
        cwd=ROOT, capture_output=True, text=True, check=False, **process,
    )  # fmt: skip
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result
