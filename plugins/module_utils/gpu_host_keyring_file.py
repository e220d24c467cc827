"""A repository's key: downloaded, checked by its full fingerprint, and only then a keyring file."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from ansible.module_utils.urls import open_url

from .gpu_host_keys import FULL, normal, objection, primary_fingerprints

LIMIT = 1024 * 1024  # a signing key has a few KiB
SECONDS = 30


class KeyRefusedError(Exception):
    """The key is not trusted: it says what was found, what is needed, what to do."""


class Keyring:
    """One keyring file, and gpg on a home folder of its own, so that nothing is written to root's."""

    def __init__(self, module, path, *, armored=False):
        self.module, self.path, self.armored = module, Path(path), armored
        given = module.params
        self.url = given["key_url"]
        self.needed = normal(given["fingerprint"])
        self.sha256 = given["key_sha256"].lower()
        if self.needed and not FULL.match(self.needed):
            raise KeyRefusedError(
                f"The fingerprint {given['fingerprint']!r} is not a full one; needed are 40 (or 64) hexadecimal digits. A "
                "short key id can be forged."
            )
        if not self.needed and not self.sha256:
            raise KeyRefusedError(
                f"No fingerprint is known for the key at {self.url}. Needed is one that you checked: look with `curl URL | gpg "
                "--show-keys --with-fingerprint`, compare with what the owner publishes, and set the role's key_fingerprint."
            )
        self.home = tempfile.TemporaryDirectory(dir=module.tmpdir)
        self.fresh = None

    def gpg(self, *arguments):
        program = self.module.get_bin_path("gpg") or self.module.get_bin_path("gpg2", required=True)
        rc, out, _ = self.module.run_command(
            [program, "--batch", "--no-options", "--homedir", self.home.name, *arguments]
        )
        return rc, out

    def present(self):
        """Tell whether the file already holds exactly the key that is needed."""
        if not self.path.is_file():
            return False
        if not self.needed:
            # Without a fingerprint the file was trusted when it was written: it says so by its own checksum.
            return digest(self.path) == self.sha256
        return self.keys(self.path) == [self.needed]

    def keys(self, path):
        return primary_fingerprints(self.gpg("--show-keys", "--with-colons", str(path))[1])

    def fetch(self):
        """Download and check; the file is written by ``write``."""
        raw = Path(self.home.name, "downloaded")
        raw.write_bytes(self.download())
        if self.sha256 and digest(raw) != self.sha256:
            raise KeyRefusedError(
                f"{self.url} has the SHA-256 {digest(raw)}; needed is {self.sha256}. Nothing was trusted or installed. Compare "
                "with what the owner publishes."
            )
        found = self.keys(raw)
        refused = objection(found, self.needed, self.url) if self.needed or not found else None
        if refused:
            raise KeyRefusedError(refused)
        self.fresh = raw
        armored = raw.read_bytes().lstrip().startswith(b"-----BEGIN PGP")
        if armored and not self.armored and self.needed:
            self.fresh = Path(self.home.name, "keyring")
            self.gpg("--output", str(self.fresh), "--dearmor", str(raw))
        elif self.armored and not armored:
            self.fresh = Path(self.home.name, "armored")
            self.gpg("--output", str(self.fresh), "--enarmor", str(raw))

    def download(self):
        given = self.module.params
        try:
            answer = open_url(
                self.url, timeout=SECONDS, follow_redirects="safe", ca_path=given["ca_file"] or None,
                use_proxy=True,
            )  # fmt: skip
            data = answer.read(LIMIT + 1)
        except Exception as error:  # noqa: BLE001  # urllib, ssl and sockets each have their own
            raise KeyRefusedError(
                f"The key could not be downloaded from {self.url}: {error}. Needed is an address that this host reaches: set "
                "the role's key_url, or its proxy and ca_file."
            ) from error
        if len(data) > LIMIT:
            raise KeyRefusedError(
                f"{self.url} answered more than {LIMIT} bytes, no signing key. Correct the address."
            )
        return data

    def write(self):
        self.fresh.chmod(0o644)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        self.module.atomic_move(str(self.fresh), str(self.path))
        self.path.chmod(0o644)


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
