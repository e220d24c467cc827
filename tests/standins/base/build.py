"""Build the simulated host's base image: Debian 13 with systemd as PID 1 and sshd, nothing of ours yet."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common

HERE = Path(__file__).resolve().parent
SUITE = "trixie"
PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-apt", "sudo", "gnupg",
    "ca-certificates", "iproute2", "procps", "kmod",
)  # fmt: skip


def main() -> int:
    """Print the image's name as the last line."""
    raw = f"gpu-host-sim/{SUITE}:{common.content_hash([], *PACKAGES, common.debian_mirror())}"
    image = f"gpu-host-sim/base:{common.content_hash([HERE / 'files', HERE / 'Dockerfile'], raw)}"
    if not common.image_exists(raw):
        tar = common.debian_rootfs(SUITE, PACKAGES, "main,contrib,non-free,non-free-firmware")
        with common.step(f"import {raw}"):
            common.run(["docker", "import", "--change", f"LABEL {common.SIMULATED_LABEL}", str(tar), raw])
    if not common.image_exists(image):
        with common.step(f"build {image}"):
            common.run(["docker", "build", "-q", "-t", image, "--build-arg", f"BASE={raw}", str(HERE)])
    common.finish(image=image)
    return 0


if __name__ == "__main__":
    sys.exit(main())
