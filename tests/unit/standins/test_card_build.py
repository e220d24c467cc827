"""The builder of the simulated card's package, as far as it needs no engine and no network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.standins.load import load

if TYPE_CHECKING:
    from types import ModuleType

CARD = Path(__file__).resolve().parents[2] / "standins" / "card"


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Load build.py with a cache of its own; what it puts on sys.path goes away again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("common", "generate"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return load("card_build", CARD / "build.py")


def test_without_pip_one_sentence_says_what_to_do(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(build.shutil, "which", lambda _: None)
    with pytest.raises(SystemExit, match=r"No pip was found.*install python3-pip"):
        build.pip()


def test_the_pip_on_path_does_where_this_python_has_none(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(build.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert build.pip() == ["/usr/bin/pip3"]


def test_a_header_in_the_cache_is_not_fetched_again(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"nvml-{build.common.content_hash([CARD / 'requirements.txt'])}.h"
    (build.common.cache_dir() / name).write_text("kept")
    monkeypatch.setattr(build.common, "run", lambda *_: pytest.fail("pip was called"))
    assert build.header() == "kept"


def test_a_header_that_cannot_be_read_ends_the_build_before_the_engine_is_asked(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "header", lambda: "nothing here")
    monkeypatch.setattr(build, "base_image", lambda: pytest.fail("the engine was asked"))
    with pytest.raises(SystemExit, match="declares 0 functions"):
        build.build(tmp_path / "card-x")
    assert not (tmp_path / "card-x").exists()


def test_a_package_in_the_cache_is_not_built_again(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = [CARD / name for name in build.INPUTS]
    kept = build.common.cache_dir() / f"card-{build.common.content_hash(sources)}"
    kept.mkdir()
    monkeypatch.setattr(build, "build", lambda _: pytest.fail("built again"))
    assert build.main() == 0
    assert str(kept) in capsys.readouterr().out.splitlines()[-1]


def test_every_source_is_part_of_the_key(build: ModuleType) -> None:
    """A source that is not in INPUTS would leave a stale package in the cache."""
    there = {path.name for path in CARD.iterdir()} - {"README.md", "__pycache__"}
    assert there == set(build.INPUTS)
