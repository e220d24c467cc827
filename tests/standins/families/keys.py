"""Keys made for one build of the repositories and forgotten afterwards."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ring:
    """A GnuPG folder with one signing key for each repository."""

    home: Path
    fingerprints: dict[str, str]

    @classmethod
    def make(cls, home: Path, names: tuple[str, ...]) -> Ring:
        """Make the keys."""
        home.mkdir(mode=0o700)
        ring = cls(home, {})
        for name in names:
            owner = f"gpu-host stand-in {name} repository (simulated)"
            ring.gpg("--passphrase", "", "--quick-generate-key", owner, "rsa3072", "sign", "never")
            said = ring.gpg("--with-colons", "--list-keys", f"={owner}")
            ring.fingerprints[name] = next(
                line.split(":")[9] for line in said.splitlines() if line.startswith("fpr")
            )
        return ring

    def gpg(self, *arguments: str | Path) -> str:
        """Run gpg on this folder."""
        argv = [
            "gpg",
            "--homedir",
            self.home,
            "--batch",
            "--yes",
            "--quiet",
            "--pinentry-mode",
            "loopback",
            *arguments,
        ]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout

    def export(self, name: str, path: Path) -> None:
        """Write a public key."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.gpg("--armor", "--export", "--output", path, self.fingerprints[name])

    def sign(self, name: str, kind: str, source: Path, target: Path) -> None:
        """Sign a file; ``kind`` is gpg's option, --clearsign or --detach-sign."""
        self.gpg("--local-user", self.fingerprints[name], "--armor", kind, "--output", target, source)

    def forget(self) -> None:
        """End gpg's agent and delete the secret keys."""
        subprocess.run(["gpgconf", "--homedir", self.home, "--kill", "all"], check=True)
        shutil.rmtree(self.home)


@dataclass(frozen=True)
class Vendor:
    """Who signs a repository, and where the programs are that its packages bring."""

    key: str
    ring: Ring
    given: Path

    def sign(self, kind: str, source: Path, target: Path) -> None:
        """Sign a file with this vendor's key."""
        self.ring.sign(self.key, kind, source, target)
