"""Build the stand-in NVIDIA Container Toolkit: a flat apt repository, signed with a key made for it.

The packages are put together in a container of the simulated host's base image, because the controller need
not be a Debian; files go in and come out as tar streams, because its engine need not see our folders.
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common

HERE = Path(__file__).resolve().parent
SOURCES = ("assemble.py", "packages.py", "files", "simulated_toolkit")
sys.path.insert(0, str(HERE))
from packages import REVISION, VERSIONS  # noqa: E402 - lies beside this script


def packed() -> bytes:
    """Return the sources as a tar archive."""

    def clean(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if "__pycache__" in info.name else info

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in SOURCES:
            archive.add(HERE / name, arcname=name, filter=clean)
    return buffer.getvalue()


def assemble(fresh: Path) -> None:
    """Run assemble.py in a container and unpack what it made."""
    inside = "mkdir /src && tar -xC /src && python3 -B /src/assemble.py /src /out >&2 && tar -cC /out ."
    image = common.built("tests/standins/base/build.py")["image"]
    common.made_in_container(image, inside, packed(), fresh / "repo", "--network=none")


def main() -> int:
    """Print the repository's folder and its key's fingerprint as the last line."""
    cached = common.cache_dir() / f"toolkit-{common.content_hash([HERE / name for name in SOURCES])}"
    repo = common.cached_folder(cached, "stand-in toolkit: packages and signed repository", assemble) / "repo"
    common.finish(
        repo=str(repo),
        fingerprint=(repo / "fingerprint").read_text().strip(),
        versions=[f"{version}-{REVISION}" for version in VERSIONS],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
