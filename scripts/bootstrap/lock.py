"""Write requirements.txt: what bootstrap.sh installs, the versions of constraints.txt with their SHA-256.

Run it with .venv's Python when constraints.txt has changed. pip says what it would install on each kind of
system; nothing is downloaded but the wheels' metadata.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONSTRAINTS = HERE.parents[1] / "constraints.txt"
# What site.yml needs on a machine that is its own controller: no collections, no molecule, no linters.
WANTED = ("ansible-core", "rich", "pytest", "pytest-testinfra", "PyYAML", "docker", "requests")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
MACHINES = ("x86_64", "aarch64")
# pip takes the wheel for the newest libc that a system has, so each step's choice may be a file of its own.
LIBCS = (("2014", "_2_17"), ("_2_28",), ("_2_34",), ("_2_39",))
NEW = "3.12"  # the first Python for which constraints.txt has the newer of two pins


def pins(python: str) -> str:
    """Return the constraints for one Python, their markers resolved."""
    other = f'; python_version {"<" if python >= NEW else ">="} "{NEW}"'
    lines = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.partition(";")[0] for line in lines if not line.endswith(other))


def resolved(python: str, machine: str, steps: int) -> list[dict[str, Any]]:
    """Return what pip would install on one kind of system."""
    names = [f"manylinux{name}_{machine}" for step in LIBCS[:steps] for name in step]
    with tempfile.TemporaryDirectory() as tmp:
        report, constraints = Path(tmp) / "report.json", Path(tmp) / "constraints.txt"
        constraints.write_text(pins(python), encoding="utf-8")
        argv = [
            sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed",
            "--only-binary=:all:", "--report", str(report), "-c", str(constraints), "--target", tmp,
            # The newest first: pip prefers in this order.
            "--python-version", python, *(f"--platform={name}" for name in reversed(names)), *WANTED,
        ]  # fmt: skip
        subprocess.run(argv, check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return found


def main() -> int:
    """Write the lock beside this file."""
    hashes: dict[tuple[str, str], set[str]] = defaultdict(set)
    pythons: dict[tuple[str, str], set[str]] = defaultdict(set)
    for python, machine, steps in product(PYTHONS, MACHINES, range(1, len(LIBCS) + 1)):
        for wheel in resolved(python, machine, steps):
            data = wheel["metadata"]
            key = data["name"].lower(), data["version"]
            hashes[key].add(wheel["download_info"]["archive_info"]["hashes"]["sha256"])
            pythons[key].add(python)
    lines = [f"# Written by lock.py for Python {PYTHONS[0]} to {PYTHONS[-1]}: every wheel by its SHA-256."]
    for (name, version), found in sorted(hashes.items()):
        of = pythons[name, version]
        marker = "" if len(of) == len(PYTHONS) else f' ; python_version {">=" if NEW in of else "<"} "{NEW}"'
        lines.append(f"{name}=={version}{marker} \\")
        lines.append(" \\\n".join(f"    --hash=sha256:{digest}" for digest in sorted(found)))
    (HERE / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
