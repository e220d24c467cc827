"""The one way in which the probe touches a machine: reads files and runs commands that change nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from threading import Thread


class Look:
    """Reads below a root folder (for tests) and runs commands with a time limit."""

    def __init__(self, root: str = "/") -> None:
        self.root = Path(root)

    def at(self, path: str) -> Path:
        """Return where a path of the machine lies below the root folder."""
        return self.root / path.lstrip("/")

    def exists(self, path: str) -> bool:
        """Tell whether a path exists; a link that leads nowhere does not."""
        return self.at(path).exists()

    def text(self, path: str) -> str | None:
        """Return a file's text, None where it cannot be read."""
        try:
            return self.at(path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def begins(self, path: str, characters: int) -> str:
        """Return how a file begins, be it text or not; nothing where it cannot be read."""
        try:
            with self.at(path).open(encoding="utf-8", errors="replace") as file:
                return file.read(characters)
        except OSError:
            return ""

    def paths(self, pattern: str) -> list[str]:
        """Return what matches, as paths of the machine."""
        return sorted(f"/{path.relative_to(self.root)}" for path in self.root.glob(pattern.lstrip("/")))

    def real(self, path: str) -> str:
        """Return a path with its links followed."""
        return f"/{self.at(path).resolve().relative_to(self.root.resolve())}"

    def inode(self, path: str) -> int | None:
        """Return a file's inode: the kernel's list of locks names files by it."""
        try:
            return self.at(path).stat().st_ino
        except OSError:
            return None

    def space(self, path: str) -> dict[str, int] | None:
        """Return what is free on the file system that holds a path, None where nothing tells."""
        try:
            found = os.statvfs(self.at(path))
        except OSError:
            return None
        # Some file systems count no inodes: 0 of 0 is not full.
        return {
            "bytes": found.f_frsize * found.f_blocks,
            "free": found.f_frsize * found.f_bavail,
            "inodes": found.f_files,
            "inodes_free": found.f_favail,
        }

    def resolves(self, names: list[str], seconds: float = 5.0) -> dict[str, bool]:
        """Tell which host names have an address; all are asked at once, none for longer than told."""
        found: dict[str, bool] = {}

        def ask(name: str) -> None:
            try:
                found[name] = bool(socket.getaddrinfo(name, None))
            except (OSError, UnicodeError):
                found[name] = False

        # Daemons: a resolver that hangs must not hold up the answer.
        asked = [Thread(target=ask, args=(name,), daemon=True) for name in dict.fromkeys(names)]
        for thread in asked:
            thread.start()
        end = time.monotonic() + seconds
        for thread in asked:
            thread.join(max(0.0, end - time.monotonic()))
        return {name: found.get(name, False) for name in names}

    def which(self, name: str) -> str | None:
        """Return where a program is."""
        # sudo and pipelining come with short PATHs; WSL keeps nvidia-smi in a folder of its own.
        folders = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin:/usr/lib/wsl/lib"
        return shutil.which(name, path=folders)

    def run(self, argv: list[str], seconds: float = 20.0) -> tuple[int | None, str]:
        """Return exit status and output; no status where the command is absent or did not end in time."""
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=False,
                env={**os.environ, "LC_ALL": "C"},
            )
        except FileNotFoundError:
            return None, f"{argv[0]}: not found"
        except OSError as error:
            return None, f"{argv[0]}: {error.strerror}"
        except subprocess.TimeoutExpired:
            return None, f"{argv[0]}: no answer within {seconds:g} s"
        return done.returncode, done.stdout.decode("utf-8", errors="replace").strip()
