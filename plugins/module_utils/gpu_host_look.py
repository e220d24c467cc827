"""The one way in which the probe touches a machine: reads files and runs commands that change nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


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

    def paths(self, pattern: str) -> list[str]:
        """Return what matches, as paths of the machine."""
        return sorted(f"/{path.relative_to(self.root)}" for path in self.root.glob(pattern.lstrip("/")))

    def real(self, path: str) -> str:
        """Return a path with its links followed."""
        return f"/{self.at(path).resolve().relative_to(self.root.resolve())}"

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
