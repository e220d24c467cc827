"""The keyring module as it runs on a host: a script stands in for gpg, a server of our own for the web."""

from __future__ import annotations

import http.server
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.plugins.modules import run_module

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NEEDED = "A" * 40
OTHER = "B" * 40
# A "key" here is a line with its fingerprint; armour is a line above it.
GPG = """#!/bin/sh
for last; do :; done
case "$*" in
  *--show-keys*) sed -n 's/^KEY \\(.*\\)$/pub:\\nfpr:::::::::\\1:/p' "$last" ;;
  *--dearmor*) grep ^KEY "$last" > "$6" ;;
esac
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing on the test's output."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "right").write_text(f"-----BEGIN PGP PUBLIC KEY BLOCK-----\nKEY {NEEDED}\n")
    (folder / "other").write_text(f"KEY {OTHER}\n")
    (folder / "both").write_text(f"KEY {NEEDED}\nKEY {OTHER}\n")
    (folder / "page").write_text("<html>404</html>")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Quiet(*a, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def keyring(tmp_path: Path) -> Any:
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "gpg").write_text(GPG)
    (bin_dir / "gpg").chmod(0o755)
    (tmp_path / "remote").mkdir()

    def run(url: str, *, check: bool = False, fingerprint: str = NEEDED) -> dict[str, Any]:
        given = {"url": url, "fingerprint": fingerprint, "path": str(tmp_path / "ring.gpg")}
        internal = {"_ansible_check_mode": check, "_ansible_tmpdir": str(tmp_path / "remote")}
        env = {**os.environ, "PATH": f"{bin_dir}:{os.environ['PATH']}", "no_proxy": "127.0.0.1"}
        return run_module("gpu_host_keyring", {**given, **internal}, env=env)

    return run


def left(tmp_path: Path) -> list[str]:
    """Return what the module left in its temporary folder and where the keyring goes."""
    return [str(path) for path in [*(tmp_path / "remote").iterdir(), tmp_path / "ring.gpg"] if path.exists()]


def test_the_right_key_is_installed_once_and_kept_without_a_download(
    keyring: Any, site: str, tmp_path: Path
) -> None:
    assert keyring(f"{site}/right")["changed"]
    ring = tmp_path / "ring.gpg"
    assert ring.read_text() == f"KEY {NEEDED}\n"
    assert ring.stat().st_mode & 0o777 == 0o644
    again = keyring("http://127.0.0.1:9/unreachable")
    assert not again["changed"]
    assert not again.get("failed")


@pytest.mark.parametrize(
    ("page", "says"),
    [("other", OTHER), ("both", f"{NEEDED}, {OTHER}"), ("page", "no OpenPGP key"), ("none", "404")],
)
def test_anything_else_is_refused_and_leaves_nothing(
    keyring: Any, site: str, tmp_path: Path, page: str, says: str
) -> None:
    for check in (True, False):
        result = keyring(f"{site}/{page}", check=check)
        assert result["failed"]
        assert says in result["msg"]
        assert left(tmp_path) == []


def test_a_keyring_with_another_key_is_replaced_only_by_the_right_one(
    keyring: Any, site: str, tmp_path: Path
) -> None:
    ring = tmp_path / "ring.gpg"
    ring.write_text(f"KEY {OTHER}\n")
    assert keyring(f"{site}/other")["failed"]
    assert ring.read_text() == f"KEY {OTHER}\n"
    assert keyring(f"{site}/right")["changed"]
    assert ring.read_text() == f"KEY {NEEDED}\n"


def test_check_mode_checks_and_writes_nothing(keyring: Any, site: str, tmp_path: Path) -> None:
    assert keyring(f"{site}/right", check=True)["changed"]
    assert left(tmp_path) == []


def test_a_short_key_id_is_refused(keyring: Any, site: str) -> None:
    assert "not a full one" in keyring(f"{site}/right", fingerprint="DDCAE044F796ECB0")["msg"]
