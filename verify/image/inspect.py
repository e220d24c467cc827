"""What an image says of itself: CUDA, what it demands, its kind, torch. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from verify.compat.requirement import of_environment
from verify.facts.version import Version

if TYPE_CHECKING:
    from verify.compat.requirement import Requirement
    from verify.image.manifest import Image, Step


class Kind(StrEnum):
    """The flavours of NVIDIA's CUDA images, which images built on them inherit."""

    BASE = "base"
    RUNTIME = "runtime"
    DEVEL = "devel"


# Variables of NVIDIA's Dockerfiles (gitlab.com/nvidia/container-images/cuda, dist/*/{base,runtime,devel}).
_DEVEL_ENV = re.compile(r"NV_(?:CUDA_CUDART|NVML|LIB[A-Z]+)_DEV_VERSION")
_RUNTIME_ENV = re.compile(r"NV_(?:CUDA_LIB|LIBCUBLAS|NVTX)_VERSION")
_STUBS = "cuda/lib64/stubs"
_COMPILER = re.compile(
    r"cuda-(?:minimal-build|nvcc|command-line-tools|toolkit|libraries-dev|cudart-dev|nvml-dev|nvprof|nsight-compute)"
    r"|lib(?:cublas|npp|nccl|cusparse)-dev|cudnn\d*-dev|NV_\w+_DEV_(?:PACKAGE|VERSION)"
)
_INSTALLS = re.compile(r"apt-get|dnf|yum|\binstall\b")
_LIBRARIES = re.compile(r"cuda-libraries-\d|cuda-libraries-\$")
_TORCH = re.compile(r"\btorch\s*==\s*(\d+\.\d+(?:\.\d+)?(?:\+\w+)?)")
_INDEX = re.compile(r"whl/(?:nightly/)?(cu\d{3}|cpu|rocm[\d.]+)")
_BUILD = re.compile(r"\+?cu(\d{2})(\d)$")
_TORCH_LABELS = ("gpu-host.torch", "org.pytorch.version", "com.nvidia.pytorch.version")
_NGC = "NVIDIA_PYTORCH_VERSION"


@dataclass(frozen=True, slots=True)
class Torch:
    """The PyTorch of an image, and where it is named; CUDA is None where that does not say which."""

    version: str
    cuda: Version | None
    cpu: bool
    source: str


@dataclass(frozen=True, slots=True)
class Content:
    """What is known of an image before it is pulled; None where it does not say."""

    cuda: Version | None
    cuda_source: str | None
    demands: tuple[Requirement, ...]
    kind: Kind | None
    compiler_bytes: int | None
    torch: Torch | None
    compat: bool | None


def content(image: Image) -> Content:
    """Read environment, labels and history."""
    demands = of_environment(image.env)
    cuda, source = _cuda(image, demands)
    kind = _kind(image)
    return Content(
        cuda=cuda,
        cuda_source=source,
        demands=demands,
        kind=kind,
        compiler_bytes=_compiler_bytes(image) if kind is Kind.DEVEL else None,
        torch=_torch(image),
        compat=_compat(image),
    )


def _cuda(image: Image, demands: tuple[Requirement, ...]) -> tuple[Version | None, str | None]:
    named = [
        (image.env.get("CUDA_VERSION"), "CUDA_VERSION"),
        (image.labels.get("com.nvidia.cuda.version"), "label com.nvidia.cuda.version"),
    ]
    for text, source in named:
        version = Version.parse(text)
        if version is not None:
            return version, source
    asked = next((one.cuda for one in demands if one.cuda), None)
    return asked, "NVIDIA_REQUIRE_CUDA" if asked else None


def _commands(image: Image) -> str:
    return "\n".join(step.command for step in image.history)


def _kind(image: Image) -> Kind | None:
    if (
        any(_DEVEL_ENV.fullmatch(name) for name in image.env)
        or _STUBS in image.env.get("LIBRARY_PATH", "")
        or ("CUDA_VERSION" in image.env and any(_brings_compiler(step) for step in image.history))
    ):
        return Kind.DEVEL
    if any(_RUNTIME_ENV.fullmatch(name) for name in image.env) or _LIBRARIES.search(_commands(image)):
        return Kind.RUNTIME
    return Kind.BASE if "CUDA_VERSION" in image.env or "NV_CUDA_CUDART_VERSION" in image.env else None


def _compiler_bytes(image: Image) -> int | None:
    """Return the size of the layers that bring compiler and headers; None where history does not match."""
    steps = [step for step in image.history if step.has_layer]
    if len(steps) != len(image.layers):
        return None
    sizes = [layer.size for step, layer in zip(steps, image.layers, strict=True) if _brings_compiler(step)]
    return sum(sizes) if sizes else None


def _brings_compiler(step: Step) -> bool:
    installs = step.has_layer and _INSTALLS.search(step.command)
    return bool(installs and _COMPILER.search(step.command))


def _torch(image: Image) -> Torch | None:
    for name in _TORCH_LABELS:
        text = image.labels.get(name, "")
        found = _TORCH.search(text) or re.fullmatch(r"(\d+\.\d+(?:\.\d+)?(?:\+\w+)?)", text)
        if found:
            return _built(found.group(1), "", f"label {name}")
    version = image.env.get("PYTORCH_VERSION", "")
    said = _commands(image)
    if Version.parse(version):
        # NGC builds its own, for the CUDA of the image.
        own = Version.parse(image.env.get("CUDA_VERSION")) if _NGC in image.env else None
        index = _INDEX.search(said)
        torch = _built(version, index.group(1) if index else "", "PYTORCH_VERSION")
        return Torch(torch.version, torch.cuda or own, torch.cpu, torch.source)
    found = _TORCH.search(said)
    if not found:
        return None
    index = _INDEX.search(said)
    return _built(found.group(1), index.group(1) if index else "", "history")


def _built(version: str, index: str, source: str) -> Torch:
    build = version.partition("+")[2] or index
    number = _BUILD.search(build)
    cuda = Version.of(f"{number.group(1)}.{number.group(2)}") if number else None
    return Torch(version, cuda, build.startswith(("cpu", "rocm")), source)


def _compat(image: Image) -> bool | None:
    """Whether the image brings CUDA's compatibility libraries; None where no history tells."""
    said = _commands(image)
    if (
        "NV_CUDA_COMPAT_PACKAGE" in image.env
        or "cuda-compat" in said
        or "cuda/compat" in image.env.get("LD_LIBRARY_PATH", "")
    ):
        return True
    return False if said.strip() else None
