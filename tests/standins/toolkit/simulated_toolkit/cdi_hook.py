"""nvidia-cdi-hook: createContainer hooks of a CDI specification: links, and the loader's cache."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from . import inject


def parser() -> argparse.ArgumentParser:
    """Return the command line that specifications use."""
    top = argparse.ArgumentParser(prog="nvidia-cdi-hook", description="Stand-in (simulated).")
    commands = top.add_subparsers(dest="command", required=True)
    links = commands.add_parser("create-symlinks")
    links.add_argument("--link", action="append", default=[], metavar="TARGET::PATH")
    commands.add_parser("update-ldcache").add_argument("--folder", action="append", default=[])
    return top


def main(arguments: list[str], version: str) -> int:
    """Work on the root file system of the container whose state is on stdin."""
    if "--version" in arguments:
        print(f"NVIDIA CDI Hook version {version} (simulated)\ncommit: simulated")
        return 0
    given = parser().parse_args(arguments)
    state = json.load(sys.stdin)
    bundle = state.get("bundle") or state["bundlePath"]
    config = json.loads((Path(bundle) / "config.json").read_text())
    root = Path(os.path.join(bundle, config["root"]["path"]))  # noqa: PTH118 - an absolute root replaces the bundle
    if given.command == "create-symlinks":
        for entry in given.link:
            target, _, path = entry.partition("::")
            inject.link(root, path, target)
    else:
        inject.update_ldcache(root)
    return 0
