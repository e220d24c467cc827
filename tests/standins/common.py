"""What the stand-in builders share: cache, content hash, the controller's own mirror, commands with a timer.

Standard library only, so that a builder runs with any Python from 3.11 on.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SIMULATED_LABEL = "gpu-host.simulated=true"


def cache_dir() -> Path:
    """``$XDG_CACHE_HOME/gpu-host``, made where it is missing."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base) / "gpu-host"
    path.mkdir(parents=True, exist_ok=True)
    return path


def content_hash(paths: Iterable[Path], *extra: str) -> str:
    """Twelve hex digits over the names and bytes of every file under ``paths`` and the extra words."""
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in files:
            if "__pycache__" in file.parts:
                continue
            digest.update(file.relative_to(path.parent).as_posix().encode() + b"\0")
            digest.update(file.read_bytes() + b"\0")
    for word in extra:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()[:12]


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is being done and how long it took, on stderr: stdout's last line is the result."""
    print(f"  … {what}", file=sys.stderr, flush=True)
    start = time.monotonic()
    yield
    print(f"  ✓ {what} ({time.monotonic() - start:.1f} s)", file=sys.stderr, flush=True)


def run(argv: Sequence[str], **kwargs: Any) -> subprocess.CompletedProcess[str]:
    """Run a command and capture what it says; a failure ends the builder with its last lines."""
    kwargs.setdefault("stdout", subprocess.PIPE)
    kwargs.setdefault("stderr", subprocess.STDOUT)
    done = subprocess.run(argv, text=True, check=False, **kwargs)
    if done.returncode:
        tail = "\n".join((done.stdout or "").splitlines()[-30:])
        sys.exit(f"{argv[0]} failed with exit status {done.returncode}:\n{tail}")
    return done


def image_exists(name: str) -> bool:
    """Whether the local engine has an image of that name."""
    argv = ["docker", "image", "inspect", name]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def finish(**result: Any) -> None:
    """Print the builder's result: one JSON object, the last line of stdout."""
    print(json.dumps(result))


def _deb822_uris(text: str) -> Iterator[str]:
    for stanza in text.split("\n\n"):
        fields: dict[str, str] = {}
        for line in stanza.splitlines():
            if line.startswith("#") or ":" not in line or line[0].isspace():
                continue
            key, _, value = line.partition(":")
            fields[key.strip().lower()] = value.strip()
        if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes") != "no":
            signed = fields.get("signed-by", "")
            if "main" in fields.get("components", "").split() and (not signed or "debian" in signed):
                yield from fields.get("uris", "").split()


def _one_line_uris(text: str) -> Iterator[str]:
    for line in text.splitlines():
        words = line.split("#", 1)[0].split()
        if words[:1] == ["deb"]:
            rest = [w for w in words[1:] if not (w.startswith("[") or w.endswith("]") or "=" in w)]
            if "main" in rest[2:] and "-security" not in rest[1]:
                yield rest[0]


def debian_mirror(etc: Path = Path("/etc/apt")) -> str:
    """Return the mirror that this Debian controller itself uses: a local mirror stays a local mirror."""
    lists = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    for file in lists:
        if not file.is_file():
            continue
        text = file.read_text(errors="replace")
        uris = _deb822_uris(text) if file.suffix == ".sources" else _one_line_uris(text)
        for uri in uris:
            if uri.rstrip("/").endswith("/debian"):
                return uri.rstrip("/")
    if mirror := os.environ.get("GPU_HOST_DEBIAN_MIRROR"):
        return mirror
    sys.exit(
        f"No Debian mirror found in {etc}: the simulated host is a Debian system and is built from the "
        "controller's own mirror; set GPU_HOST_DEBIAN_MIRROR to one that you can reach."
    )


def built(script: str, *arguments: str) -> dict[str, Any]:
    """Run another builder, a path below the repository, and return its result: its last line of output."""
    argv = [sys.executable, str(ROOT / script), *arguments]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{script} ended with exit status {done.returncode}; its message stands above.")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def made_in_container(image: str, inside: str, given: bytes, target: Path, *options: str) -> None:
    """Run a script in a container, an archive on its standard input; unpack the one that it prints."""
    done = subprocess.run(
        ["docker", "run", "--rm", "-i", *options, f"--label={SIMULATED_LABEL}", image, "sh", "-ec", inside],
        input=given, capture_output=True, check=False,
    )  # fmt: skip
    if done.returncode:
        sys.exit("\n".join(done.stderr.decode(errors="replace").splitlines()[-20:]))
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, filter="data")


def cached_folder(cached: Path, what: str, make: Callable[[Path], None]) -> Path:
    """Return a folder of the cache, filled by ``make`` where it is not there; whole or not at all."""
    if cached.exists():
        return cached
    with step(what):
        fresh = Path(tempfile.mkdtemp(dir=cached.parent, prefix=f".{cached.name}-"))
        make(fresh)
        fresh.chmod(0o755)
        try:
            fresh.rename(cached)
        except OSError:  # another build was quicker: what it made is as good
            shutil.rmtree(fresh)
    return cached


def need(command: str, package: str) -> None:
    """End with one sentence where a command is missing; install it first where we are root on a Debian."""
    if shutil.which(command):
        return
    if os.geteuid() == 0 and shutil.which("apt-get"):
        # Two builders run side by side, and apt lets only one in.
        with (cache_dir() / "apt.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if shutil.which(command):
                return
            with step(f"installing {package}"):
                run(["apt-get", "update", "-qq"])
                run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package])
        return
    sys.exit(
        f"{command} is not installed and needed to build the simulated host: install the package {package}."
    )


def debian_rootfs(suite: str, packages: Sequence[str], components: str) -> Path:
    """Return a minimal root file system as a tar archive, from the cache or made with mmdebstrap."""
    mirror = debian_mirror()
    tar = cache_dir() / f"rootfs-{suite}-{content_hash([], *packages, components, mirror)}.tar"
    if tar.is_file():
        return tar
    need("mmdebstrap", "mmdebstrap")
    fresh = tar.with_suffix(f".{os.getpid()}.tar")
    with step(f"Debian {suite} root file system"):
        run([
            "mmdebstrap", "--quiet", "--variant=minbase", f"--components={components}",
            f"--include={','.join(packages)}",
            # Some mirrors keep Release files past their Valid-Until; signatures are checked all the same.
            '--aptopt=Acquire::Check-Valid-Until "false"',
            "--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-exclude=/usr/share/man/*",
            "--dpkgopt=path-exclude=/usr/share/locale/*",
            suite, str(fresh), mirror,
        ])  # fmt: skip
    fresh.rename(tar)
    return tar
