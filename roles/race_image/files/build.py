# ruff: noqa: INP001
"""Build the race image and save it as an archive.

Without arguments: on the stand-in CUDA image with the CPU build of torch, for the simulated hosts.
``--name`` and ``--context FILE`` build nothing: a host with a network builds from that context by itself.
The last line of stdout is JSON: the image's name, and where the archive lies.
"""

from __future__ import annotations

import argparse
import io
import json
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests/standins"))
import common  # noqa: E402  # lies beside the other builders

REPOSITORY = "gpu-host/race"
PEAKS = "verify/compat/peaks.json"  # the one table that the race reads
STAND_IN_TORCH = "torch==2.13.0+cpu"
STAND_IN_PYTHON = "3.11"  # Debian 12's
STAND_IN_GLIBC = ("2_34", "2_28", "2_27", "2_17")  # wheels for these run on its glibc 2.36
# The lock is for x86_64; elsewhere exact versions have to do.
STAND_IN_LOCK = "cpu.txt" if platform.machine() == "x86_64" else ""
KEPT_ARCHIVES = 2
CPU_INDEX = "https://download.pytorch.org/whl/cpu"


def context_files(lock: str = "") -> dict[str, Path]:
    """Return what the image is made of, but for the wheels: name in the context, file here."""
    own = {name: HERE / name for name in ("Dockerfile", ".dockerignore", "requirements.txt")}
    if lock:
        own["requirements.txt"] = HERE / "locks" / lock
    code = [ROOT / "verify/__init__.py", ROOT / PEAKS, *sorted((ROOT / "verify/race").glob("*.py"))]
    return own | {file.relative_to(ROOT).as_posix(): file for file in code}


def image_name(files: dict[str, Path], *inputs: str) -> str:
    """Return the image's name, whose tag is the hash of everything that goes in."""
    return f"{REPOSITORY}:{common.content_hash(files.values(), *sorted(files), *inputs)}"


def revision(files: dict[str, Path]) -> str:
    """Return the last commit that changed what goes in, ``-dirty`` where that is not committed; else nothing.

    Of these files alone, not of the checkout: the same image has the same revision.
    """

    def git(*words: str) -> str:
        argv = ["git", "-C", str(ROOT), *words, "--", *(str(file) for file in files.values())]
        return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("log", "-1", "--format=%H") + ("-dirty" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def write_context(target: Path, files: dict[str, Path], wheels: Path | None) -> None:
    """Write the build context as a tar archive; the same input gives the same bytes."""
    with tarfile.open(target, "w") as tar:

        def add(name: str, data: bytes) -> None:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            tar.addfile(entry, io.BytesIO(data))

        for name, file in files.items():
            add(name, file.read_bytes())
        add("wheels/.keep", b"")
        for wheel in sorted(wheels.glob("*.whl")) if wheels else ():
            add(f"wheels/{wheel.name}", wheel.read_bytes())


def download(target: Path, *what: str) -> subprocess.CompletedProcess[str]:
    """Fetch wheels for the image's Python, whichever runs this; pip's own configuration says where from."""
    platforms = [f"--platform=manylinux_{glibc}_{platform.machine()}" for glibc in STAND_IN_GLIBC]
    platforms.append(f"--platform=manylinux2014_{platform.machine()}")
    options = [
        "--no-deps",
        "--only-binary=:all:",
        "--implementation=cp",
        f"--python-version={STAND_IN_PYTHON}",
    ]
    argv = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--disable-pip-version-check",
        *options,
        *platforms,
    ]
    return subprocess.run([*argv, f"--dest={target}", *what], capture_output=True, text=True, check=False)


def wheelhouse() -> Path:
    """Return the folder with every wheel of the stand-in image, filled if it is not there yet."""
    requirements = context_files(STAND_IN_LOCK)["requirements.txt"]
    target = (
        common.cache_dir() / f"wheels-{common.content_hash([requirements], STAND_IN_TORCH, STAND_IN_PYTHON)}"
    )
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(dir=common.cache_dir()) as tmp, common.step("wheels for the race image"):
        filled = Path(tmp) / "wheels"
        done = download(filled, "-r", str(requirements))
        if not done.returncode:
            done = download(filled, STAND_IN_TORCH)
            if done.returncode:
                # PyPI has only torch's CUDA builds, of several GB; CPU builds lie on PyTorch's own index.
                done = download(filled, STAND_IN_TORCH, f"--index-url={CPU_INDEX}")
        if done.returncode:
            sys.exit(
                f"The wheels of the race image could not be fetched with {sys.executable} -m pip:\n"
                f"{done.stderr.strip()[-2000:]}\nIt needs pip and an index that has {STAND_IN_TORCH}."
            )
        kept(filled, target)
    return target


def kept(fresh: Path, target: Path) -> None:
    """Put a folder into the cache; where another build was quicker, what it made is as good."""
    try:
        fresh.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def stand_in_base() -> str:
    """Return the name of the stand-in CUDA image, built if it is not there yet."""
    script = ROOT / "tests/standins/cuda/build.py"
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script.name} of the stand-in CUDA image failed; its message stands above.")
    return str(json.loads(done.stdout.splitlines()[-1])["image"])


def build(name: str, files: dict[str, Path], base: str) -> None:
    """Build the image; pip needs no network, everything it installs is in the context."""
    with tempfile.TemporaryDirectory(dir=common.cache_dir()) as tmp:
        context = Path(tmp) / "context.tar"
        write_context(context, files, wheelhouse())
        argv = ["docker", "build", "--rm", "-t", name]
        arguments = {"BASE": base, "TORCH": STAND_IN_TORCH, "REVISION": revision(files)}
        options = [word for key, value in arguments.items() for word in ("--build-arg", f"{key}={value}")]
        with common.step(f"build {name}"), context.open("rb") as stream:
            common.run([*argv, *options, "-"], stdin=stream)


def save(name: str, target: Path) -> dict[str, Any]:
    """Save the image as an archive with a note of what it is, both or neither."""
    inspected = common.run(["docker", "image", "inspect", name]).stdout
    image = json.loads(inspected)[0]
    with tempfile.TemporaryDirectory(dir=common.cache_dir()) as tmp:
        archive = Path(tmp) / "race" / "race-image.tar"
        archive.parent.mkdir()
        with common.step(f"save {name}"):
            common.run(["docker", "save", "-o", str(archive), name])
        note = {
            "name": name,
            "id": image["Id"],
            "bytes": archive.stat().st_size,
            "unpacked_bytes": image["Size"],
        }
        (archive.parent / "race-image.json").write_text(json.dumps(note, indent=2) + "\n")
        kept(archive.parent, target)
    return note


def archive() -> dict[str, Any]:
    """Return the stand-in image's archive, made if it is not in the cache; older ones make room."""
    files, base = context_files(STAND_IN_LOCK), stand_in_base()
    name = image_name(files, base, STAND_IN_TORCH)
    target = common.cache_dir() / f"race-{name.rpartition(':')[2]}"
    if not (target / "race-image.json").is_file():
        if not common.image_exists(name):
            build(name, files, base)
        save(name, target)
        # One older archive stays: another checkout, or a run that has begun, may be about to copy it.
        by_age = sorted(common.cache_dir().glob("race-*"), key=lambda folder: folder.stat().st_mtime)
        for older in by_age[:-KEPT_ARCHIVES]:
            shutil.rmtree(older)
    note: dict[str, Any] = json.loads((target / "race-image.json").read_text())
    return note | {"dir": str(target), "tar": str(target / "race-image.tar")}


def main() -> int:
    """Print what was made as the last line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", action="store_true", help="say what the image is called; build nothing")
    parser.add_argument("--context", metavar="FILE", type=Path, help="write the context there; build nothing")
    parser.add_argument("--base", default="", help="with these two: the CUDA image to build on")
    parser.add_argument("--torch", default="", help="with these two: which torch")
    parser.add_argument("--torch-index", default="", help="with these two: the index that has its build")
    parser.add_argument("--lock", default="", help="with these two: the file in locks/ with the whole tree")
    parser.add_argument("--requires", default="", help="with these two: what the image asks of a driver")
    arguments = parser.parse_args()
    if not arguments.name and not arguments.context:
        common.finish(**archive())
        return 0
    files = context_files(arguments.lock)
    if arguments.context:
        write_context(arguments.context, files, None)
    inputs = (arguments.base, arguments.torch, arguments.torch_index, arguments.requires)
    common.finish(name=image_name(files, *inputs), revision=revision(files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
