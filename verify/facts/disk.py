"""Room for images: the file systems that hold Docker's data, with bytes and inodes (case I3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.daemon_file import DAEMON_JSON, parse
from verify.facts.source import cite, file_text
from verify.json_values import as_number, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.facts.engine import EngineFacts
    from verify.recording import Recording

CONTAINERD = "/var/lib/containerd"
_DEFAULT_ROOT = "/var/lib/docker"
_MOUNTS = "/proc/mounts"
_MOUNT_COLUMNS = 3
# Where 0 free inodes are none left; other file systems (btrfs) make them as they need, and say 0 always.
_LIMITED = frozenset({"ext2", "ext3", "ext4", "xfs", "f2fs"})


@dataclass(frozen=True, slots=True)
class Store:
    """One folder that images lie in: what is left on its file system, None where it is not known."""

    path: str
    mount: str | None
    total: int | None
    free: int | None
    inodes_free: int | None
    evidence: tuple[str, ...]


def stores(recording: Recording, engine: EngineFacts) -> tuple[Store, ...]:
    """Return where this engine keeps images, as far as it was recorded."""
    written, _ = parse(file_text(recording, DAEMON_JSON) or "")
    root = engine.root or as_text(written.get("data-root")) or _DEFAULT_ROOT
    paths = [root, *([CONTAINERD] if engine.containerd_images else [])]
    found = ((path, recording.disks.get(path)) for path in paths)
    return tuple(
        _store(recording, path, entry)
        for path, entry in found
        if entry and as_number(entry.get("free")) is not None
    )


def _store(recording: Recording, path: str, entry: Mapping[str, object]) -> Store:
    mount, kind = _mounted(recording, path)
    inodes = _bytes(entry.get("inodes_free"))
    limited = _bytes(entry.get("inodes"))
    unlimited = limited == 0 or (limited is None and kind not in _LIMITED)
    free, total = _bytes(entry.get("free")), _bytes(entry.get("total"))
    return Store(
        path=path,
        mount=mount,
        total=total,
        free=free,
        inodes_free=None if inodes == 0 and unlimited else inodes,
        evidence=(cite(path, f"free {free}, total {total}, inodes_free {inodes}"),),
    )


def _bytes(value: object) -> int | None:
    number = as_number(value)
    return int(number) if number is not None and 0 <= number < float("inf") else None


def _mounted(recording: Recording, path: str) -> tuple[str | None, str | None]:
    """Return the mount that a path lies on, and its kind."""
    rows = (line.split() for line in (file_text(recording, _MOUNTS) or "").splitlines())
    mounts = {row[1]: row[2] for row in rows if len(row) >= _MOUNT_COLUMNS}
    holding = [mount for mount in mounts if path == mount or path.startswith(f"{mount.rstrip('/')}/")]
    longest = max(holding, key=len, default=None)
    return longest, mounts.get(longest or "")
