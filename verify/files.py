"""Write whole or not at all: a temporary name beside the goal, then a rename."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from verify.errors import VerifyError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def encoded(text: str) -> bytes:
    """Encode a text; half a character, as a file name that is not UTF-8 holds, stays as its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


def replace_file(path: Path, text: str) -> None:
    """Put ``text`` at ``path`` in one step; into what is no file (a pipe, /dev/stdout) it is written."""
    if path.is_symlink() and path.is_file():
        path = path.resolve()
    fresh = path.with_name(f".{path.name}.new")
    try:
        if path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir()):
            path.write_bytes(encoded(text))
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(encoded(text))
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise VerifyError(f"cannot write {path}: {error.strerror or error}") from error


def recover(folder: Path) -> None:
    """Put back what an interrupted ``replace_folder`` had moved aside."""
    old, fresh = _beside(folder)
    if old.is_dir():
        if folder.is_dir():
            _remove(old)
        else:
            old.rename(folder)
    shutil.rmtree(fresh, ignore_errors=True)


def replace_folder(folder: Path, files: Mapping[str, str], drop: frozenset[str] = frozenset()) -> None:
    """Write ``files`` into ``folder``, keep its other files but those in ``drop``; all of it or nothing."""
    recover(folder)
    _, fresh = _beside(folder)
    try:
        if folder.is_dir():
            shutil.copytree(folder, fresh, symlinks=True)
        else:
            fresh.mkdir(parents=True)
        for name in drop:
            (fresh / name).unlink(missing_ok=True)
        for name, text in files.items():
            (fresh / name).write_bytes(encoded(text))
        put_in_place(fresh, folder)
    except OSError as error:
        recover(folder)
        raise VerifyError(f"cannot write {folder}: {error.strerror or error}") from error


def put_in_place(fresh: Path, folder: Path) -> None:
    """Rename ``fresh`` to ``folder``; what was there is moved aside first, then removed."""
    old, _ = _beside(folder)
    if old.is_dir() and folder.is_dir():
        _remove(old)  # an interrupted run had come as far as this
    if folder.is_dir():
        folder.rename(old)
    fresh.rename(folder)
    with contextlib.suppress(OSError):
        _remove(old)


def _remove(folder: Path) -> None:
    """Remove a folder; of a link to one, the link alone."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)


def _beside(folder: Path) -> tuple[Path, Path]:
    return folder.with_name(f".{folder.name}.old"), folder.with_name(f".{folder.name}.new")
