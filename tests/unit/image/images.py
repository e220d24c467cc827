"""Images of all shapes, as their registry holds them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
OCI = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
INDEX = "application/vnd.oci.image.index.v1+json"

BASE = {
    "NVARCH": "x86_64",
    "CUDA_VERSION": "12.8.1",
    "NV_CUDA_CUDART_VERSION": "12.8.90-1",
    "NVIDIA_REQUIRE_CUDA": "cuda>=12.8 brand=tesla,driver>=535,driver<536 brand=tesla,driver>=550,driver<551",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "NVIDIA_DRIVER_CAPABILITIES": "compute,utility",
}
RUNTIME = {**BASE, "NV_CUDA_LIB_VERSION": "12.8.1-1", "NV_LIBCUBLAS_VERSION": "12.8.4.1-1"}
DEVEL = {
    **RUNTIME,
    "NV_CUDA_CUDART_DEV_VERSION": "12.8.90-1",
    "NV_NVML_DEV_VERSION": "12.8.90-1",
    "LIBRARY_PATH": "/usr/local/cuda/lib64/stubs",
}
INSTALL_BASE = "RUN /bin/sh -c apt-get install -y cuda-cudart-12-8=12.8.90-1 cuda-compat-12-8 # buildkit"
INSTALL_LIBRARIES = "RUN /bin/sh -c apt-get install -y cuda-libraries-12-8=${NV_CUDA_LIB_VERSION} # buildkit"
INSTALL_DEVEL = "RUN /bin/sh -c apt-get install -y cuda-minimal-build-12-8 cuda-libraries-dev-12-8 # buildkit"


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def encoded(document: object) -> bytes:
    return json.dumps(document).encode()


@dataclass
class Shape:
    """One image: its layers' sizes, what its configuration says."""

    env: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    sizes: tuple[int, ...] = (1000,)
    history: tuple[str, ...] = ()
    architecture: str = "amd64"
    media: str = MANIFEST
    layer: str = LAYER

    def config(self) -> bytes:
        """Return the configuration; every layer has a step of the history where it has one."""
        return encoded({
            "architecture": self.architecture, "os": "linux", "created": "2026-11-01T00:00:00Z",
            "config": {"Env": [f"{k}={v}" for k, v in self.env.items()], "Labels": self.labels},
            "rootfs": {"type": "layers", "diff_ids": list(self.diff_ids())},
            "history": [
                {"created_by": "ENV something", "empty_layer": True},
                *({"created_by": step} for step in self.history),
            ] if self.history else [],
        })  # fmt: skip

    def diff_ids(self) -> tuple[str, ...]:
        return tuple(
            digest_of(f"layer {number} of {size}".encode()) for number, size in enumerate(self.sizes)
        )

    def manifest(self) -> bytes:
        config = self.config()
        return encoded({
            "schemaVersion": 2, "mediaType": self.media,
            "config": {"mediaType": CONFIG, "size": len(config), "digest": digest_of(config)},
            "layers": [
                {"mediaType": self.layer, "size": size, "digest": digest_of(f"{number} {size}".encode())}
                for number, size in enumerate(self.sizes)
            ],
        })  # fmt: skip


def index(*shapes: Shape) -> bytes:
    """Return an index, with an attestation beside the images as buildkit puts it."""
    entries: list[dict[str, Any]] = [
        {
            "mediaType": shape.media, "size": len(shape.manifest()), "digest": digest_of(shape.manifest()),
            "platform": {"os": "linux", "architecture": shape.architecture},
        }
        for shape in shapes
    ]  # fmt: skip
    entries.append({
        "mediaType": OCI, "size": 1, "digest": digest_of(b"attestation"),
        "platform": {"os": "unknown", "architecture": "unknown"},
    })  # fmt: skip
    return encoded({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})
