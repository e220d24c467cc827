"""Runs in a container beside the host, standard library and gpg only: a repository that misbehaves.

usage: bad_server.py REPOSITORY; /tmp/mode names the fault (none: everything is as it should be).

The repository is signed anew with a key of this server's, so that what is wrong with a Release file can be
something that its own key has signed; a second key is the stranger's.
"""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HOME, REPO, MODE = Path("/tmp/keys"), Path("/tmp/repo"), Path("/tmp/mode")  # noqa: S108 - a container's own
GPG = (
    "gpg",
    "--homedir",
    str(HOME),
    "--batch",
    "--yes",
    "--quiet",
    "--pinentry-mode",
    "loopback",
    "--passphrase",
    "",
)
HTML = b"<!DOCTYPE html>\n<html><head><title>Sign in to the network</title></head><body></body></html>\n"
LISTS = ("InRelease", "Release", "Release.gpg", "Packages", "Packages.gz")
DAY_S = 86400


def key(name: str) -> str:
    """Make a key and export it; return its fingerprint."""
    subprocess.run(
        [*GPG, "--quick-generate-key", f"{name} (simulated)", "ed25519", "sign", "never"], check=True
    )
    said = subprocess.run(
        [*GPG, "--with-colons", "--list-keys", f"{name} (simulated)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = next(line.split(":")[9] for line in said.splitlines() if line.startswith("fpr"))
    subprocess.run([*GPG, "--armor", "--export", "--output", REPO / f"gpgkey.{name}", found], check=True)
    return found


def sign(release: str, suffix: str, by: str) -> None:
    """Write InRelease and Release.gpg of one kind."""
    text = REPO / f"Release.{suffix}"
    text.write_text(release)
    options = [*GPG, "--local-user", by]
    subprocess.run([*options, "--clearsign", "--output", REPO / f"InRelease.{suffix}", text], check=True)
    subprocess.run(
        [*options, "--armor", "--detach-sign", "--output", REPO / f"Release.gpg.{suffix}", text], check=True
    )


def dated(release: str, field: str, seconds: float) -> str:
    """Return a Release file with a date of another day."""
    date = time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime(time.time() + seconds))
    lines = [line for line in release.splitlines() if not line.startswith(f"{field}:")]
    return "\n".join([*lines[:2], f"{field}: {date}", *lines[2:]]) + "\n"


def prepare(source: Path) -> None:
    """Copy the repository and sign it in every way that is needed."""
    shutil.copytree(source, REPO)
    HOME.mkdir(mode=0o700)
    ours, stranger = key("ours"), key("stranger")
    release = (REPO / "Release").read_text()
    sign(release, "good", ours)
    sign(release, "signature", stranger)
    sign(dated(release, "Date", 2 * DAY_S), "future", ours)
    sign(dated(release, "Valid-Until", -2 * DAY_S), "expired", ours)
    (REPO / "fingerprint").write_text(ours)


def spoiled(file: Path) -> bytes:
    """Return as many bytes as the file has, the last eight others than they are."""
    data = file.read_bytes()
    return data[:-8] + bytes(byte ^ 255 for byte in data[-8:])


class Handler(http.server.SimpleHTTPRequestHandler):
    """Answers as the mode says."""

    def answer(self, status: int, body: bytes, kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        mode = MODE.read_text().strip() if MODE.exists() else ""
        name = self.path.rpartition("/")[2]
        is_list, is_deb, is_key = name in LISTS, name.endswith(".deb"), name == "gpgkey"
        if is_key and mode == "key-html":
            self.answer(200, HTML, "text/html")
        elif (is_key and mode == "key-404") or (is_list and mode == "lists-404"):
            self.answer(404, b"not here\n")
        elif (is_list or is_deb or is_key) and mode == "all-500":
            self.answer(500, b"out of order\n")
        elif is_key:
            self.answer(200, (REPO / f"gpgkey.{'stranger' if mode == 'key-other' else 'ours'}").read_bytes())
        elif is_list and not name.startswith("Packages"):
            kind = mode if mode in {"signature", "future", "expired"} else "good"
            self.answer(200, (REPO / f"{name}.{kind}").read_bytes())
        elif (is_list and mode == "lists-hash") or (is_deb and mode == "debs-hash"):
            self.answer(200, spoiled(REPO / name))
        elif is_deb and mode == "debs-404":
            self.answer(404, b"not here\n")
        else:
            super().do_GET()


if __name__ == "__main__":
    os.umask(0o022)
    prepare(Path(sys.argv[1]))
    handler = functools.partial(Handler, directory=str(REPO))
    http.server.ThreadingHTTPServer(("", 8000), handler).serve_forever()
