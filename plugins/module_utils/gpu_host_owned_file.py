"""The ownership file on the disk, read and written whole, and the packages that this host has."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from .gpu_host_ownership import OwnershipError, dump, empty, installed, parse

QUERIES = (
    ("dpkg-query", ["-W", "-f=${Package} ${db:Status-Status}\\n"]),
    ("rpm", ["-q", "--queryformat", "%{NAME} installed\\n"]),
)
# The user's apt.conf must not widen what is asked for, and a lock held by another apt is waited for.
APT_GET = ["-o", "APT::Get::AutomaticRemove=false", "-o", "DPkg::Lock::Timeout=120", "--quiet"]
ENVIRONMENT = {"LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive", "APT_LISTCHANGES_FRONTEND": "none"}


def load(module: Any, path: Path) -> dict:
    """Return the document, an empty one where there is no file; a damaged one ends the module."""
    try:
        return parse(path.read_text(encoding="utf-8"), str(path)) if path.exists() else empty()
    except (OwnershipError, UnicodeDecodeError) as error:
        return module.fail_json(msg=str(error))


def save(module: Any, path: Path, document: dict) -> None:
    """Write the file whole or not at all; where nothing is ours any more, leave none."""
    if document == empty():
        path.unlink(missing_ok=True)
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    handle, fresh = tempfile.mkstemp(dir=str(path.parent), prefix=".owned.")
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(dump(document))
        stream.flush()
        os.fsync(stream.fileno())
    Path(fresh).chmod(0o644)
    module.atomic_move(fresh, str(path))


def write_file(module: Any, path: Path, content: bytes, mode: int) -> None:
    """Write any file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    handle, fresh = tempfile.mkstemp(dir=str(path.parent), prefix=".gpu-host.")
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    module.atomic_move(fresh, str(path))
    path.chmod(mode)  # for a file that was not there the move takes the default mode


def have(module: Any, names: list) -> set:
    """Return those of the packages that are there, wholly or in part."""
    for program, arguments in QUERIES:
        found = module.get_bin_path(program)
        if found and names:
            # A name that is not known is reported on standard error, beside the rows of the others.
            return installed(module.run_command([found, *arguments, *names])[1])
    return set()


def apt_get(module: Any, *arguments: str) -> tuple:
    """Run apt-get; return exit status, and both outputs in one text."""
    program = module.get_bin_path("apt-get")
    if not program:
        return 127, "E: there is no apt-get on this host"
    rc, out, error = module.run_command([program, *APT_GET, *arguments], environ_update=ENVIRONMENT)
    return rc, out + error
