"""Build the other systems' stand-in repositories: NVIDIA's and Docker's for Ubuntu 24.04 and RHEL 9.

The toolkit's for RHEL 9 is made of the packages that the one for apt has. All are put together in a container
of the simulated Rocky host's base image, which has the tools of both formats; Debian's own packages, whose
programs go into some of them, are downloaded there.
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
SOURCES = ("assemble.py", "catalogue.py", "debs.py", "keys.py", "payload.py", "rpms.py")
ASIDE = "/usr/lib/gpu-host-simulated-root"  # where base/kinds/rocky9 keeps apt and dpkg
# The toolkit's versions that the rpm repository has too: the one that the role installs, and one before it.
TOOLKIT = ("1.20.2-1", "1.20.1-1")


def result_of(script: str, *arguments: str) -> dict[str, object]:
    """Run another builder and return its result."""
    argv = [sys.executable, str(HERE.parent / script), *arguments]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script} ended with exit status {done.returncode}; its message stands above.")
    result: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return result


def packed(card: Path, toolkit: Path) -> bytes:
    """Return the sources, the card's package and the toolkit's as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in SOURCES:
            archive.add(HERE / name, arcname=f"src/{name}")
        archive.add(card, arcname="given/card.deb")
        for version in TOOLKIT:
            for deb in sorted(toolkit.glob(f"*_{version}_amd64.deb")):
                archive.add(deb, arcname=f"given/toolkit/{deb.name}")
    return buffer.getvalue()


def assemble(image: str, sources: bytes, target: Path) -> None:
    """Run assemble.py in a container and unpack what it made."""
    inside = f"""
        export PATH={ASIDE}:$PATH
        mkdir /made && cd /made && tar -x
        dpkg-deb -x given/card.deb card && mkdir given/card
        cp card/usr/lib/x86_64-linux-gnu/nvidia/current/libnvidia-ml.so.* given/card/libnvidia-ml.so
        python3 -B src/assemble.py /made/given /made/out >&2
        tar -cC out .
    """
    done = subprocess.run(
        ["docker", "run", "--rm", "-i", f"--label={common.SIMULATED_LABEL}", image, "sh", "-ec", inside],
        input=sources, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        tail = done.stderr.decode(errors="replace").splitlines()[-20:]
        sys.exit("\n".join(["Building the other systems' stand-in repositories failed:", *tail]))
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, filter="data")


def main() -> int:
    """Print the folder of the repositories and what is in them as the last line."""
    card = Path(str(result_of("card/build.py")["deb"]))
    toolkit = Path(str(result_of("toolkit/build.py")["repo"]))
    # Named by what they are made of: their caches are named by their content too.
    made_of = (card.parent.parent.name, toolkit.parent.name, *TOOLKIT)
    cached = (
        common.cache_dir() / f"families-{common.content_hash([HERE / name for name in SOURCES], *made_of)}"
    )
    if not cached.exists():
        images = result_of("base/build.py", "rocky9")["images"]
        with common.step("stand-in repositories of Ubuntu 24.04 and RHEL 9"):
            fresh = Path(tempfile.mkdtemp(dir=cached.parent, prefix=".families-"))
            assemble(images["rocky9"], packed(card, toolkit), fresh / "repo")  # type: ignore[index]
            fresh.chmod(0o755)
            try:
                fresh.rename(cached)
            except OSError:  # another build was quicker: its repositories, with their keys, are as good
                shutil.rmtree(fresh)
    repo = cached / "repo"
    common.finish(repo=str(repo), **json.loads((repo / "facts.json").read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
