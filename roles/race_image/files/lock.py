# ruff: noqa: INP001
"""Write the hash lock of one variant of the race image: each wheel of its tree, exact version and SHA-256.

Run it with CPython 3.12 on x86_64, as in the image: ``python3.12 lock.py cu126``. pip says what it would
install (its own configuration says from where); nothing is downloaded but the wheels' metadata.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# The default build of these releases on PyPI is for that CUDA: one index has the whole tree, with its hashes.
TORCH = {"cu126": "torch==2.7.1", "cu128": "torch==2.10.0", "cu130": "torch==2.13.0"}
PYTHON = ("3.12", "x86_64")


def resolved(torch: str) -> list[dict[str, Any]]:
    """Return what pip would install."""
    with tempfile.TemporaryDirectory() as tmp:
        report = Path(tmp) / "report.json"
        argv = [
            sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed",
            "--only-binary=:all:", "--report", str(report), torch, "-r", str(HERE / "requirements.txt"),
        ]  # fmt: skip
        subprocess.run(argv, check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    return found


def main(variant: str) -> int:
    """Write ``locks/VARIANT.txt``."""
    here = (".".join(platform.python_version_tuple()[:2]), platform.machine())
    if here != PYTHON:
        sys.exit(f"The lock is for CPython {' on '.join(PYTHON)}, and this is {' on '.join(here)}.")
    lines = [f"# The whole tree of the race image's variant {variant}, for CPython 3.12 on x86_64 (lock.py)."]
    for wheel in sorted(resolved(TORCH[variant]), key=lambda one: str(one["metadata"]["name"]).lower()):
        data, digest = wheel["metadata"], wheel["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{data['name']}=={data['version']} --hash=sha256:{digest}")
    (HERE / "locks" / f"{variant}.txt").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
