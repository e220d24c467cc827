"""Build the stand-in for ``nvidia/cuda:12.4.1-runtime``: a minimal Debian 12 with that image's environment.

No NVIDIA file is in it. What it shares with the real one is what the engine, the toolkit and our checks
react to: NVIDIA_VISIBLE_DEVICES=all (which must give no card to a container that did not ask for one), the
capabilities, the CUDA version demanded of the driver, and where the dynamic loader looks.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import common

SUITE = "bookworm"
PACKAGES = ("ca-certificates",)
CUDA_VERSION = "12.4.1"
CUDA_PATHS = "/usr/local/nvidia/bin:/usr/local/cuda/bin"

# A space means "or", a comma "and". The first clause is met by any driver that speaks CUDA 12.4; the others
# let data-centre cards in on older branches, because the real image brings cuda-compat for them.
OLDER_BRANCHES = {"470": "471", "525": "526", "535": "536"}
BRANDS = (
    "tesla", "unknown", "nvidia", "nvidiartx", "geforce", "geforcertx", "quadro", "quadrortx", "titan",
    "titanrtx",
)  # fmt: skip
REQUIRE = " ".join(
    ["cuda>=12.4"]
    + [f"brand={b},driver>={low},driver<{high}" for low, high in OLDER_BRANCHES.items() for b in BRANDS]
)

ENVIRONMENT = {
    "NVARCH": "x86_64",
    "NVIDIA_REQUIRE_CUDA": REQUIRE,
    "NV_CUDA_CUDART_VERSION": "12.4.127-1",
    "CUDA_VERSION": CUDA_VERSION,
    "LD_LIBRARY_PATH": "/usr/local/nvidia/lib:/usr/local/nvidia/lib64",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
    "NV_CUDA_LIB_VERSION": "12.4.1-1",
    "NVIDIA_PRODUCT_NAME": "CUDA",
    "PATH": f"{CUDA_PATHS}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
}
LABELS = {
    "maintainer": "NVIDIA CORPORATION <cudatools@nvidia.com>",
    "org.opencontainers.image.ref.name": "debian",
    "org.opencontainers.image.version": "12",
    "gpu-host.simulated": "true",
    "gpu-host.stand-in-for": f"nvidia/cuda:{CUDA_VERSION}-runtime",
}


def changes() -> list[str]:
    """Return the Dockerfile instructions that ``docker import`` applies."""
    lines = [f"ENV {name}={json.dumps(value)}" for name, value in ENVIRONMENT.items()]
    lines += [f"LABEL {name}={json.dumps(value)}" for name, value in LABELS.items()]
    return [*lines, 'CMD ["/bin/bash"]']


def main() -> int:
    """Print the image's name as the last line."""
    hashed = common.content_hash([], SUITE, *PACKAGES, common.debian_mirror(), *changes())
    image = f"gpu-host-sim/cuda:{hashed}"
    if not common.image_exists(image):
        tar = common.debian_rootfs(SUITE, PACKAGES, "main")
        options = [word for change in changes() for word in ("--change", change)]
        with common.step(f"import {image}"):
            common.run(["docker", "import", *options, str(tar), image])
    common.finish(image=image, hash=hashed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
