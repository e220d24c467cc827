"""What the instances of this scenario find, in place of what the network would bring.

usage: python supplies.py FOLDER

``repo.git``: the working tree as one commit, its name in ``commit``; ``wheels``: what bootstrap.sh installs,
for the hosts' Python; ``race-image``: the folder with the race image's archive; ``parts.json``: the parts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "scripts/bootstrap/requirements.txt"
# Debian 13's Python, and the race image's; the newest libc that wheels may be built for.
PYTHONS, NEWEST = ("3.13", "3.11"), 41
WHO = ("-c", "user.name=gpu-host", "-c", "user.email=gpu-host@example.org")


def run(*argv: str | Path, env: dict[str, str] | None = None) -> str:
    """Run a command; what it prints."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}
    )
    if done.returncode:
        sys.exit(f"{' '.join(map(str, argv))}: {done.stderr}")
    return done.stdout


def repository(folder: Path) -> None:
    """Keep the working tree, with what git ignores left out, as one commit of a repository of its own."""
    git = ("git", "--git-dir", folder / "repo.git", "--work-tree", ROOT)
    run("git", "init", "-q", "--bare", folder / "repo.git")
    # A pinned commit is fetched by its name.
    run(*git, "config", "uploadpack.allowAnySHA1InWant", "true")
    run(*git, "add", "-A")
    run(*git, *WHO, "commit", "-q", "--allow-empty", "-m", "The working tree")
    (folder / "commit").write_text(run(*git, "rev-parse", "HEAD"), encoding="utf-8")


def wheels(folder: Path, python: str) -> None:
    """Download what the lock names, for a Python that need not be this one."""
    other = "<" if python >= "3.12" else ">="
    text = LOCK.read_text(encoding="utf-8")
    text = re.sub(rf"(?m)^\S+ ; python_version {other} .*\n(?: {{4}}--hash.*\n)+", "", text)
    text = re.sub(r' ; python_version [<>=]+ "[\d.]+"', "", text)
    platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in range(NEWEST, 4, -1)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as lock:
        lock.write(text)
        lock.flush()
        run(
            sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
            "--require-hashes", "--python-version", python, *platforms, "--platform=manylinux2014_x86_64",
            "-d", folder / "wheels", "-r", lock.name,
        )  # fmt: skip


def archive(folder: Path, built: Path) -> None:
    """Keep the race image's archive as it is now: a build of another one throws the old one away."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in built.iterdir():
        try:
            os.link(file, folder / file.name)
        except OSError:  # another file system
            shutil.copy2(file, folder / file.name)


def main(folder: Path) -> int:
    """Make all of it; what is there already is made anew only where that is quick."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = json.loads(run(sys.executable, ROOT / "tests/standins/build.py").splitlines()[-1])
    (folder / "parts.json").write_text(json.dumps(parts), encoding="utf-8")
    archive(folder / "race-image", Path(parts["race"]["dir"]))
    repository(folder)
    for python in PYTHONS:
        wheels(folder, python)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
