"""An archive of a race image with nothing in it: what is tried here is how it comes, not what it does."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from pathlib import Path

NAME = "gpu-host/race:harness"


def packed(members: dict[str, bytes]) -> bytes:
    """Return a tar archive with these files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def tiny_archive(folder: Path) -> Path:
    """Write the archive and its note as the role race_image wants them; return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    layer = packed({"nothing": b""})
    config = json.dumps({
        "architecture": "amd64",
        "os": "linux",
        "config": {"Labels": {"gpu-host.simulated": "true"}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
        "history": [{"created_by": "harness"}],
    }).encode()  # fmt: skip
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [NAME], "Layers": ["layer.tar"]}]).encode()
    archive = packed({"config.json": config, "layer.tar": layer, "manifest.json": manifest})
    (folder / "race-image.tar").write_bytes(archive)
    note = {
        "name": NAME,
        "id": f"sha256:{hashlib.sha256(config).hexdigest()}",
        "bytes": len(archive),
        "unpacked_bytes": len(archive),
    }
    (folder / "race-image.json").write_text(json.dumps(note), encoding="utf-8")
    return folder
