"""Build the simulated hosts' base images: a Debian root with systemd as PID 1 and sshd, nothing of ours yet.

Each kind is one system. Debian 12 and 13 are the real ones; ``ubuntu2404`` and ``rocky9`` are Debian 13 with
the other system's names (os-release, package manager), for the package and repository logic of the roles.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common

HERE = Path(__file__).resolve().parent
COMPONENTS = "main,contrib,non-free,non-free-firmware"
PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "sudo", "ca-certificates", "iproute2",
    "procps", "kmod",
)  # fmt: skip
# Most Debian and Ubuntu hosts have these. Debian 12 is here the one that has not: what a bare image is like.
USUAL = ("gnupg", "python3-apt")
KINDS = {
    "debian13": ("trixie", (*PACKAGES, *USUAL)),
    "debian12": ("bookworm", PACKAGES),
    "ubuntu2404": ("trixie", (*PACKAGES, *USUAL)),
    "rocky9": ("trixie", (*PACKAGES, *USUAL)),
}
DEFAULT = "debian13"


def root_image(kind: str) -> str:
    """Return the name of the bare Debian root that a kind stands on, imported where it is missing."""
    suite, packages = KINDS[kind]
    raw = f"gpu-host-sim/{suite}:{common.content_hash([], *packages, common.debian_mirror())}"
    if not common.image_exists(raw):
        tar = common.debian_rootfs(suite, packages, COMPONENTS)
        with common.step(f"import {raw}"):
            common.run(["docker", "import", "--change", f"LABEL {common.SIMULATED_LABEL}", str(tar), raw])
    return raw


def build(kind: str) -> str:
    """Return the name of a kind's image, built where it is missing."""
    raw = root_image(kind)
    inputs = [HERE / "files", HERE / "Dockerfile", HERE / "kinds" / kind]
    image = f"gpu-host-sim/base:{common.content_hash(inputs, raw)}"
    if not common.image_exists(image):
        with common.step(f"build {image} ({kind})"):
            common.run([
                "docker", "build", "-q", "-t", image,
                "--build-arg", f"BASE={raw}", "--build-arg", f"KIND={kind}", str(HERE),
            ])  # fmt: skip
    return image


def main(argv: list[str]) -> int:
    """Print the images' names as the last line: the kinds named as arguments, and Debian 13 always."""
    kinds = list(dict.fromkeys([DEFAULT, *argv]))
    if unknown := sorted(set(kinds) - set(KINDS)):
        sys.exit(f"no such kind of host: {', '.join(unknown)}; there are {', '.join(KINDS)}.")
    with ThreadPoolExecutor(max_workers=2) as pool:
        # Most share a root: each is made once, before they part.
        list(pool.map(root_image, {KINDS[kind]: kind for kind in kinds}.values()))
        images = dict(zip(kinds, pool.map(build, kinds), strict=True))
    common.finish(image=images[DEFAULT], images=images)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
