"""nvidia-container-runtime-hook: the prestart hook that dockerd before 29.2 adds for ``--gpus``.

It only translates the container's environment into a call of nvidia-container-cli, as the real one does.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from . import choose, settings
from .errors import ToolkitError

CLI = "nvidia-container-cli"
CAPABILITIES = ("compute", "utility")


def cli_arguments(config: dict[str, Any], bundle: str, pid: int) -> list[str] | None:
    """Return the call of nvidia-container-cli for this container; None where it asked for nothing."""
    env = config.get("process", {}).get("env") or []
    words = choose.words(choose.variable(env))
    if words is None:
        return None
    asked = (choose.variable(env, "NVIDIA_DRIVER_CAPABILITIES") or "all").split(",")
    capabilities = [f"--{name}" for name in CAPABILITIES if "all" in asked or name in asked]
    devices = [f"--device={','.join(words)}"] if words else []
    root = os.path.join(bundle, config["root"]["path"])  # noqa: PTH118 - an absolute root replaces the bundle
    return [CLI, "configure", *devices, *capabilities, f"--pid={pid}", root]


def main(arguments: list[str], version: str) -> int:
    """Run as ``prestart`` with the container's state on stdin; other stages have nothing to do."""
    if {"--version", "-version"} & set(arguments):
        print(f"NVIDIA Container Runtime Hook version {version} (simulated)\ncommit: simulated")
        return 0
    if arguments[-1:] != ["prestart"]:
        return 0
    settings.load()  # a broken file breaks every container that asked for a card
    state = json.load(sys.stdin)
    bundle = state.get("bundle") or state["bundlePath"]
    config = json.loads((Path(bundle) / "config.json").read_text())
    call = cli_arguments(config, bundle, state["pid"])
    if call is None:
        return 0
    print("Auto-detected mode as 'legacy'", file=sys.stderr, flush=True)
    program = shutil.which(CLI)
    if program is None:
        raise ToolkitError(
            f'couldn\'t find binary {CLI} in PATH: exec: "{CLI}": executable file not found in $PATH'
        )
    os.execv(program, call)  # noqa: S606 - replaces this process, as the real one does
    return 0
