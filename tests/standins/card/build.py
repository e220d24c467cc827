"""Build the simulated card's package: the stand-in for libnvidia-ml.so.1 and what the kernel shows."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "nvml"))
import common
import generate

HERE = Path(__file__).resolve().parent
INPUTS = ("nvml", "package", "Dockerfile", "requirements.txt", "build.py")
DEB = "gpu-host-simulated-card_1.0_amd64.deb"
# For which host: the driver that its Debian has, and the CUDA version which that speaks.
DRIVERS = {"debian13": ("550.163.01", "12.4"), "debian12": ("535.261.03", "12.2")}


def pip() -> list[str]:
    """The pip at hand: this Python's, else the first on PATH."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if found := shutil.which("pip3") or shutil.which("pip"):
        return [found]
    sys.exit(
        "No pip was found: the simulated card is generated from nvml.h of the PyPI package "
        "nvidia-nvml-dev-cu12; install python3-pip or run this with the Python of .venv."
    )


def header() -> str:
    """nvml.h of the pinned package, checked by its hash and kept in the cache."""
    kept = common.cache_dir() / f"nvml-{common.content_hash([HERE / 'requirements.txt'])}.h"
    if not kept.exists():
        with common.step("nvml.h from PyPI"), tempfile.TemporaryDirectory() as tmp:
            common.run(
                [*pip(), "download", "--quiet", "--no-deps", "--require-hashes", "--only-binary=:all:",
                 "--dest", tmp, "--requirement", str(HERE / "requirements.txt")]
            )  # fmt: skip
            (wheel,) = Path(tmp).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                text = archive.read("nvidia/nvml_dev/include/nvml.h")
            part = kept.with_suffix(".part")
            part.write_bytes(text)
            part.replace(kept)
    header: str = kept.read_text(encoding="utf-8")
    return header


def base_image() -> str:
    """The stand-in CUDA base: Debian 12, built where it is missing."""
    image: str = common.built("tests/standins/cuda/build.py")["image"]
    return image


def compile_package(base: str, context: Path, out: Path) -> None:
    """Compile and pack inside a container, copy the package out and forget the container."""
    common.run([
        "docker", "build", "--label", common.SIMULATED_LABEL, "--tag", f"gpu-host-sim/card-build:{out.name}",
        "--build-arg", f"BASE={base}",
        "--build-arg", f"DRIVERS={' '.join('='.join(pair) for pair in DRIVERS.values())}", str(context),
    ])  # fmt: skip
    made = common.run(
        ["docker", "create", "--label", common.SIMULATED_LABEL, f"gpu-host-sim/card-build:{out.name}", "true"]
    )
    container = made.stdout.strip()
    try:
        for driver, _ in DRIVERS.values():
            common.run(["docker", "cp", f"{container}:/out/{driver}", str(out / driver)])
    finally:
        common.run(["docker", "rm", container])


def build(out: Path) -> None:
    """Fill ``out`` with the package; it appears whole or not at all."""
    names = generate.functions(header())
    if len(names) < generate.FEWEST:
        sys.exit(generate.too_few(len(names)))
    base = base_image()
    with tempfile.TemporaryDirectory(dir=out.parent) as tmp:
        context, part = Path(tmp) / "context", Path(tmp) / out.name
        part.mkdir()
        for name in ("nvml", "package"):
            shutil.copytree(HERE / name, context / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(HERE / "Dockerfile", context)
        (context / "nvml.h").write_text(header(), encoding="utf-8")
        (context / "stubs.c").write_text(generate.stubs(names), encoding="utf-8")
        with common.step(f"simulated card: compile {len(names)} functions, pack"):
            compile_package(base, context, part)
        if out.exists():
            shutil.rmtree(out)
        part.rename(out)


def main() -> int:
    """Print the packages' paths as the last line; ``deb`` is for each kind that ``debs`` does not name."""
    out = common.cache_dir() / f"card-{common.content_hash([HERE / name for name in INPUTS])}"
    debs = {kind: str(out / driver / DEB) for kind, (driver, _) in DRIVERS.items()}
    if not out.exists():
        build(out)
    common.finish(deb=debs["debian13"], debs=debs, dir=str(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
