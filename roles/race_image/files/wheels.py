# ruff: noqa: INP001
"""How large wheels are, without fetching them: pip says which and where, their tables of contents the rest.

Nothing is downloaded but metadata and the end of each file, where a zip archive keeps its list.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from zipfile import ZipFile

# Ubuntu 24.04's, where the variants run.
PYTHON = "3.12"
PLATFORMS = (*(f"manylinux_2_{minor}_x86_64" for minor in range(39, 16, -1)), "manylinux2014_x86_64")
# What the Dockerfile removes from the tree.
LEFT_OUT = re.compile(
    r"torch/(include|share|test)/|torch/bin/(.*[Tt]est|protoc)|torch/lib/[^/]*\.a$|nvidia/.*\.a$|example\.py$"
    r"|(scipy|sklearn|numpy|sympy|networkx|joblib|mpmath)/(.*/)?tests/|.*__pycache__/"
)


@dataclass(frozen=True)
class Wheel:
    """Bytes on their way and on the disk, of what an image keeps."""

    name: str
    version: str
    packed: int
    unpacked: int


def resolved(requirements: list[str], *options: str) -> list[dict[str, Any]]:
    """Return what pip would install into the image."""
    with tempfile.TemporaryDirectory() as tmp:
        asked, report = Path(tmp) / "requirements.txt", Path(tmp) / "report.json"
        asked.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
        argv = [
            sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--dry-run",
            "--ignore-installed", "--only-binary=:all:", "--implementation=cp", f"--python-version={PYTHON}",
            *(f"--platform={name}" for name in PLATFORMS), f"--target={tmp}/tree", f"--report={report}",
            *options, "-r", str(asked),
        ]  # fmt: skip
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if not line.startswith("WARNING")]
            sys.exit(
                "pip cannot say what it would install:\n" + "\n".join(said[-5:]) + "\n"
                "Needed is a package index with all of it; --check NAME measures a built image without one."
            )
        found: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["install"]
    return found


def locked(lock: Path) -> list[Wheel]:
    """Return the wheels of a lock, whose hashes are compared here: pip would download them all for that."""
    lines = [line for line in lock.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    hashes = dict(line.split(" --hash=sha256:") for line in lines)
    found = resolved([*hashes], "--no-deps")
    said = {one["download_info"]["archive_info"]["hashes"]["sha256"] for one in found}
    if said != set(hashes.values()):
        sys.exit(f"The index has other wheels than {lock.name} names: make the lock anew with lock.py.")
    return [measured(one) for one in found]


def measured(one: dict[str, Any]) -> Wheel:
    """Read a wheel's table of contents, here or at its address."""
    url = one["download_info"]["url"]
    if urlsplit(url).scheme == "file":
        with ZipFile(unquote(urlsplit(url).path)) as archive:
            return weighed(one["metadata"], archive)
    # pip's own reader of remote wheels (its feature "fast-deps"): its session knows proxies and certificates.
    lazy = importlib.import_module("pip._internal.network.lazy_wheel")
    session = importlib.import_module("pip._internal.network.session").PipSession(retries=3)
    session.verify = os.environ.get("PIP_CERT") or session.verify
    with lazy.LazyZipOverHTTP(url, session) as remote, ZipFile(remote) as archive:
        return weighed(one["metadata"], archive)


def of_file(file: Path) -> Wheel:
    """Read a wheel that lies here."""
    name, version, _ = file.name.split("-", 2)
    with ZipFile(file) as archive:
        return weighed({"name": name.replace("_", "-"), "version": version}, archive)


def weighed(metadata: dict[str, str], archive: ZipFile) -> Wheel:
    """Add up what an image keeps of a wheel."""
    kept = [entry for entry in archive.infolist() if not LEFT_OUT.match(entry.filename)]
    return Wheel(
        metadata["name"].lower(),
        metadata["version"],
        sum(entry.compress_size for entry in kept),
        sum(entry.file_size for entry in kept),
    )
