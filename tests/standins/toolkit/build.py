"""Build the stand-in NVIDIA Container Toolkit: a flat apt repository, signed with a key made for it.

The packages are put together in a container of the simulated host's base image, because the controller need
not be a Debian; files go in and come out as tar streams, because its engine need not see our folders.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common

HERE = Path(__file__).resolve().parent
SOURCES = ("assemble.py", "packages.py", "files", "simulated_toolkit")
sys.path.insert(0, str(HERE))
from packages import REVISION, VERSIONS  # noqa: E402 - lies beside this script


def base_image() -> str:
    """Return the simulated host's base image, built where it is missing."""
    script = HERE.parent / "base" / "build.py"
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script} ended with exit status {done.returncode}; its message stands above.")
    image: str = json.loads(done.stdout.splitlines()[-1])["image"]
    return image


def packed() -> bytes:
    """Return the sources as a tar archive."""

    def clean(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if "__pycache__" in info.name else info

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in SOURCES:
            archive.add(HERE / name, arcname=name, filter=clean)
    return buffer.getvalue()


def assemble(image: str, target: Path) -> None:
    """Run assemble.py in a container and unpack what it made."""
    inside = "mkdir /src && tar -xC /src && python3 -B /src/assemble.py /src /out >&2 && tar -cC /out ."
    done = subprocess.run(
        ["docker", "run", "--rm", "-i", "--network=none", f"--label={common.SIMULATED_LABEL}", image,
         "sh", "-ec", inside],
        input=packed(), capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        tail = done.stderr.decode(errors="replace").splitlines()[-20:]
        sys.exit("\n".join(["Building the stand-in toolkit failed:", *tail]))
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, filter="data")


def main() -> int:
    """Print the repository's folder and its key's fingerprint as the last line."""
    cached = common.cache_dir() / f"toolkit-{common.content_hash([HERE / name for name in SOURCES])}"
    if not cached.exists():
        image = base_image()
        with common.step("stand-in toolkit: packages and signed repository"):
            fresh = Path(tempfile.mkdtemp(dir=cached.parent, prefix=".toolkit-"))
            assemble(image, fresh / "repo")
            fresh.chmod(0o755)
            try:
                fresh.rename(cached)
            except OSError:  # another build was quicker: its repository, with its key, is as good
                shutil.rmtree(fresh)
    repo = cached / "repo"
    common.finish(
        repo=str(repo),
        fingerprint=(repo / "fingerprint").read_text().strip(),
        versions=[f"{version}-{REVISION}" for version in VERSIONS],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
