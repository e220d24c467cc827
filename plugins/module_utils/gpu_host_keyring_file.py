"""A repository's key: downloaded, checked by its fingerprint or its sum, and only then a file."""

from __future__ import annotations

import hashlib
from pathlib import Path

from .gpu_host_keys import FULL, normal, objection
from .gpu_host_openpgp import armoured, binary, primary_keys

LIMIT = 1024 * 1024  # a signing key has a few KiB
SECONDS = 30


class KeyRefusedError(Exception):
    """The key is not trusted: it says what was found, what is needed, what to do."""


def sums(data):
    """Return the sums by which a key file is known: its own, and that without gpg's `Version:` line."""
    lines = data.splitlines(keepends=True)
    plain = b"".join(line for line in lines if not line.startswith(b"Version:"))
    return {hashlib.sha256(one).hexdigest() for one in (data, plain)}


class Keyring:
    """One key file. ``noted`` is the fingerprint of a key that was once taken by its sum."""

    def __init__(self, given, path, noted="", *, armour=False):
        self.given, self.path, self.armour = given, Path(path), armour
        self.url, self.sha256 = given["key_url"], given["key_sha256"].lower()
        self.needed = normal(given["fingerprint"])
        if self.needed and not FULL.match(self.needed):
            raise KeyRefusedError(
                f"The fingerprint {given['fingerprint']!r} is not a full one; needed are 40 (or 64) "
                "hexadecimal digits. A short key id can be forged."
            )
        if not self.needed and not self.sha256:
            raise KeyRefusedError(
                f"No fingerprint is known for the key at {self.url}. Needed is one that you checked: "
                f"look with `curl -fsSL {self.url} | gpg --show-keys --with-fingerprint`, compare with "
                "what the owner publishes, and set the role's key_fingerprint."
            )
        self.needed = self.needed or noted
        self.fresh = None

    def present(self):
        """Tell whether the file already holds exactly the key that is needed. An empty one does not."""
        if not self.needed or not self.path.is_file():
            return False
        return primary_keys(self.path.read_bytes()) == [self.needed]

    def fetch(self):
        """Download and check; ``fresh`` is then what belongs into the file."""
        data = self.download()
        if self.sha256 and self.sha256 not in sums(data):
            raise KeyRefusedError(
                f"{self.url} has the SHA-256 {hashlib.sha256(data).hexdigest()}; needed is {self.sha256}. "
                "Nothing was trusted or installed. Compare with what the owner publishes."
            )
        found = primary_keys(data)
        # Taken by its sum, it still has to be one key; from then on its fingerprint is what counts.
        needed = normal(self.given["fingerprint"]) or (found[0] if found else "of that sum")
        refused = objection(found, needed, self.url)
        if refused:
            raise KeyRefusedError(refused)
        self.needed = needed
        self.fresh = armoured(binary(data)) if self.armour else binary(data)

    def download(self):
        """Return what the address answers: a success, and not more than a key can be."""
        # Takes longer to load than the whole look at a key that is there.
        from ansible.module_utils.urls import open_url  # noqa: PLC0415

        try:
            answer = open_url(
                self.url,
                timeout=SECONDS,
                follow_redirects="safe",
                ca_path=self.given["ca_file"] or None,
            )
            data = answer.read(LIMIT + 1)
        except Exception as error:  # urllib, ssl and sockets each have their own
            raise KeyRefusedError(
                f"The key could not be downloaded from {self.url}: {error}. Needed is an address that this "
                "host reaches: set the role's key_url, or its proxy and ca_file."
            ) from error
        if len(data) > LIMIT:
            raise KeyRefusedError(
                f"{self.url} answered more than {LIMIT} bytes, no signing key. Correct the address."
            )
        return data
