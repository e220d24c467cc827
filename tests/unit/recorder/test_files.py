from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from verify.recorder import read_disk, read_file

if TYPE_CHECKING:
    from pathlib import Path


def test_text_and_owner(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("hello\n")
    path.chmod(0o640)
    entry = read_file(str(path))
    assert (entry["text"], entry["mode"], entry["size"], entry["uid"]) == ("hello\n", "0640", 6, os.getuid())
    assert "lossy" not in entry
    assert "cut" not in entry


def test_missing_and_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    assert read_file(str(tmp_path / "no")) == {"missing": True}
    assert read_file(str(tmp_path / "a" / "b")) == {"missing": True}


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\xffb")
    entry = read_file(str(tmp_path / "a"))
    assert (entry["text"], entry["lossy"]) == ("a\ufffdb", True)


@pytest.mark.parametrize(("keep", "text", "cut"), [("head", "0123", "tail"), ("tail", "6789", "head")])
def test_size_limit_says_which_end_was_dropped(tmp_path: Path, keep: str, text: str, cut: str) -> None:
    (tmp_path / "a").write_text("0123456789")
    entry = read_file(str(tmp_path / "a"), {"limit": 4, "keep": keep})
    assert (entry["text"], entry["cut"]) == (text, cut)


def test_file_of_proc_has_no_size_and_is_read() -> None:
    assert read_file("/proc/self/stat")["text"]


def test_folder_and_fifo_are_errors_and_do_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert read_file(str(tmp_path)) == {"error": "EISDIR"}
    assert read_file(str(tmp_path / "fifo")) == {"error": "not a regular file"}


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "no")

    (tmp_path / "a").write_text("x")
    monkeypatch.setattr(os, "open", refuse)
    assert read_file(str(tmp_path / "a")) == {"error": "EACCES"}


@pytest.mark.parametrize(
    "name", [".docker/config.json", ".netrc", "auth.conf", "auth.conf.d/x.conf", "server.key"]
)
def test_credentials_are_present_without_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("machine x login y password z")
    entry = read_file(str(path))
    assert "text" not in entry
    assert entry["size"] > 0


def test_file_marked_secret_has_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    assert "text" not in read_file(str(tmp_path / "a"), {"secret": True})


def test_disk() -> None:
    entry = read_disk("/")
    assert entry["total"] >= entry["free"] > 0
    assert read_disk("/no/such") == {"missing": True}
