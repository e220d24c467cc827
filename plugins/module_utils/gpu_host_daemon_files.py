"""Docker's files on the disk: read only where they can be one, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from .gpu_host_daemon_json import DaemonJsonError


def read(path: Path) -> bytes | None:
    """Return the file's bytes, None where there is none; refuse what cannot be one."""
    if path.is_dir():
        raise DaemonJsonError(
            f"{path} is a directory; needed is a file, or nothing. Remove it, and run again."
        )
    if path.is_symlink() and not path.exists():
        raise DaemonJsonError(
            f"{path} is a link to {os.path.realpath(path)}, which does not exist; needed is a file. "
            "Make that file or remove the link, and run again."
        )
    return path.read_bytes() if path.exists() else None


def put(module: Any, path: Path, content: bytes | None) -> None:
    """Write a file whole or not at all, with the mode and owner that it had; None removes it."""
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    new = not path.exists()
    module.atomic_move(temporary(content, str(path.parent)), str(path))
    if new:
        path.chmod(0o644)  # whatever root's umask is


def temporary(content: bytes, folder: str) -> str:
    """Return a new file with this content, on the disk and not only on its way there."""
    handle, fresh = tempfile.mkstemp(dir=folder, prefix=".gpu-host.")
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    return fresh
