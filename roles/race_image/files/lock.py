# ruff: noqa: INP001
"""Write the hash lock of one variant of the race image: each wheel of its tree, exact version and SHA-256.

Run it with the image's CPython on x86_64: ``python3.12 lock.py cu126``, ``python3.11 lock.py cpu``. pip says
what it would install (its own configuration says from where); nothing is downloaded but the wheels' metadata.
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
# The stand-in image's: everything but torch, whose CPU builds lie on PyTorch's own index.
CPU = "cpu"
MACHINE = "x86_64"


def python(variant: str) -> str:
    """Return the Python of the variant's base image: Debian 12's under the stand-in, else Ubuntu 24.04's."""
    return "3.11" if variant == CPU else "3.12"


def resolved(variant: str) -> list[dict[str, Any]]:
    """Return what pip would install."""
    with tempfile.TemporaryDirectory() as tmp:
        report = Path(tmp) / "report.json"
        argv = [
            sys.executable, "-m", "pip", "install", "-q", "--dry-run", "--ignore-installed",
            "--only-binary=:all:", "--report", str(report), "-r", str(HERE / "requirements.txt"),
            *(["--no-deps"] if variant == CPU else [TORCH[variant]]),
        ]  # fmt: skip
        subprocess.run(argv, check=True)
        found: list[dict[str, Any]] = json.loads(report.read_text())["install"]
    return found


def main(variant: str) -> int:
    """Write ``locks/VARIANT.txt``."""
    if variant not in {CPU, *TORCH}:
        sys.exit(f"There is no variant {variant}; there are {', '.join([CPU, *TORCH])}.")
    here, needed = (
        (".".join(platform.python_version_tuple()[:2]), platform.machine()),
        (python(variant), MACHINE),
    )
    if here != needed:
        sys.exit(f"The lock is for CPython {' on '.join(needed)}, and this is {' on '.join(here)}.")
    whole = "everything but torch" if variant == CPU else "the whole tree"
    lines = [f"# The race image's variant {variant}, {whole}, for CPython {' on '.join(needed)} (lock.py)."]
    for wheel in sorted(resolved(variant), key=lambda one: str(one["metadata"]["name"]).lower()):
        data, digest = wheel["metadata"], wheel["download_info"]["archive_info"]["hashes"]["sha256"]
        lines.append(f"{data['name']}=={data['version']} --hash=sha256:{digest}")
    (HERE / "locks" / f"{variant}.txt").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
