from __future__ import annotations

import os
from pathlib import Path

import pytest

from verify.errors import VerifyError
from verify.files import recover, replace_file, replace_folder


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_file(tmp_path: Path) -> None:
    replace_file(tmp_path / "new" / "a", "one")
    replace_file(tmp_path / "new" / "a", "two")
    assert (tmp_path / "new" / "a").read_text() == "two"
    assert names(tmp_path / "new") == {"a"}


def test_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("")
    with pytest.raises(VerifyError, match="cannot write"):
        replace_file(tmp_path / "a", "text")
    assert names(tmp_path) == {"a"}


def test_folder_keeps_what_it_is_not_asked_about(tmp_path: Path) -> None:
    folder = tmp_path / "host"
    replace_folder(folder, {"a": "1", "stale": "old"})
    (folder / "race.svg").write_text("kept")
    replace_folder(folder, {"a": "2"}, drop=frozenset({"stale", "never"}))
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a": "2", "race.svg": "kept"}
    assert names(tmp_path) == {"host"}


def test_failure_on_the_way_leaves_the_old_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "host"
    replace_folder(folder, {"a": "1"})
    real = Path.rename

    def broken(self: Path, target: Path) -> Path:
        if self.name.endswith(".new"):
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", broken)
    with pytest.raises(VerifyError, match="No space left"):
        replace_folder(folder, {"a": "2"})
    monkeypatch.undo()
    assert (folder / "a").read_text() == "1"
    assert names(tmp_path) == {"host"}


def test_interrupted_between_the_renames_is_put_back(tmp_path: Path) -> None:
    (tmp_path / ".host.old").mkdir()
    (tmp_path / ".host.old" / "a").write_text("1")
    (tmp_path / ".host.new").mkdir()
    recover(tmp_path / "host")
    assert names(tmp_path) == {"host"}
    assert (tmp_path / "host" / "a").read_text() == "1"


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        replace_file(tmp_path / "pipe", "text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert (tmp_path / "pipe").is_fifo()
    replace_file(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("one")
    (tmp_path / "link").symlink_to("kept")
    replace_file(tmp_path / "link", "two")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept").read_text() == "two"
