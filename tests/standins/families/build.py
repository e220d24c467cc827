"""Build the other systems' stand-in repositories: NVIDIA's and Docker's for Ubuntu 24.04 and RHEL 9.

The toolkit's for RHEL 9 is made of the packages that the one for apt has. All are put together in a container
of the simulated Rocky host's base image, which has the tools of both formats; Debian's own packages, whose
programs go into some of them, are downloaded there.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common

HERE = Path(__file__).resolve().parent
SOURCES = ("assemble.py", "catalogue.py", "debs.py", "keys.py", "payload.py", "rpms.py")
ASIDE = "/usr/lib/gpu-host-simulated-root"  # where base/kinds/rocky9 keeps apt and dpkg
# The toolkit's versions that the rpm repository has too: the one that the role installs, and one before it.
TOOLKIT = ("1.20.2-1", "1.20.1-1")


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
    common.made_in_container(image, inside, sources, target)


def main() -> int:
    """Print the folder of the repositories and what is in them as the last line."""
    card = Path(common.built("tests/standins/card/build.py")["deb"])
    toolkit = Path(common.built("tests/standins/toolkit/build.py")["repo"])
    # Named by what they are made of: their caches are named by their content too.
    made_of = (card.parent.parent.name, toolkit.parent.name, *TOOLKIT)
    cached = (
        common.cache_dir() / f"families-{common.content_hash([HERE / name for name in SOURCES], *made_of)}"
    )

    def make(fresh: Path) -> None:
        image = common.built("tests/standins/base/build.py", "rocky9")["images"]["rocky9"]
        assemble(image, packed(card, toolkit), fresh / "repo")

    repo = common.cached_folder(cached, "stand-in repositories of Ubuntu 24.04 and RHEL 9", make) / "repo"
    common.finish(repo=str(repo), **json.loads((repo / "facts.json").read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
