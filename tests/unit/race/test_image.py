"""What the race image is made of: the builder's pure parts, and that its files say the same."""

from __future__ import annotations

import re
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.standins.load import load

ROOT = Path(__file__).resolve().parents[3]
ROLE = ROOT / "roles/race_image"
DOCKERFILE = (ROLE / "files/Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def builder() -> Any:
    before = list(sys.path)
    module = load("race_image_build", ROLE / "files/build.py")
    sys.path[:] = before
    return module


def test_every_requirement_is_pinned_and_torch_is_not_among_them() -> None:
    lines = (ROLE / "files/requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 10
    assert [pin for pin in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9.]*", pin)] == []
    assert not [pin for pin in pins if pin.startswith("torch==")]


def test_the_role_says_everything_that_the_dockerfile_asks() -> None:
    asked = set(re.findall(r"^ARG (\w+)=", DOCKERFILE, re.MULTILINE))
    given = re.findall(
        r"^ {10}([A-Z_]+): ", (ROLE / "tasks/build.yml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert set(given) == asked
    table = yaml.safe_load((ROOT / "verify/compat/race_images.yml").read_text(encoding="utf-8"))
    defaults = dict(re.findall(r"^ARG (\w+)=(\S+)$", DOCKERFILE, re.MULTILINE))
    assert defaults["BASE"] in {row["base"] for row in table["variants"]}
    assert defaults["TORCH"] in {row["torch"] for row in table["variants"]}


def test_a_lock_takes_the_place_of_the_requirements_and_gives_another_name(builder: Any) -> None:
    plain, locked = builder.context_files(), builder.context_files("cu126.txt")
    assert set(plain) == set(locked)
    assert locked["requirements.txt"] == ROLE / "files/locks/cu126.txt"
    names = {builder.image_name(files, "base", "torch") for files in (plain, locked)}
    assert len(names | {builder.image_name(locked, "other", "torch")}) == 3


def test_the_image_is_unprivileged_and_keeps_no_certificate() -> None:
    end = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    assert re.search(r"^USER 10001:10001$", end, re.MULTILINE)
    assert "CA_CERTIFICATE" not in end
    assert "proxy" not in end
    assert end.rstrip().splitlines()[-1] == "COPY verify/ /opt/gpu-host/verify/"


def test_the_context_is_the_same_every_time_and_holds_the_race(builder: Any, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    (wheels / "a-1-py3-none-any.whl").write_bytes(b"wheel")
    builder.write_context(tmp_path / "one.tar", builder.context_files(), wheels)
    builder.write_context(tmp_path / "two.tar", builder.context_files(), wheels)
    assert (tmp_path / "one.tar").read_bytes() == (tmp_path / "two.tar").read_bytes()
    with tarfile.open(tmp_path / "one.tar") as tar:
        names = set(tar.getnames())
    assert {
        "Dockerfile",
        "requirements.txt",
        "wheels/a-1-py3-none-any.whl",
        "verify/race/__main__.py",
    } <= names
    others = {name for name in names if name.startswith("verify/") and not name.startswith("verify/race/")}
    assert others == {"verify/__init__.py"}


def test_the_race_in_the_image_needs_nothing_that_is_not_in_it(builder: Any) -> None:
    code = "\n".join(
        p.read_text(encoding="utf-8") for n, p in builder.context_files().items() if n.endswith(".py")
    )
    imported = set(re.findall(r"^\s*from (verify[\w.]*) import", code, re.MULTILINE))
    assert imported
    assert [name for name in imported if not name.startswith("verify.race")] == []


def test_another_file_base_or_torch_is_another_image(builder: Any, tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("FROM a")
    first = builder.image_name({"Dockerfile": file}, "base", "torch")
    assert re.fullmatch(r"gpu-host/race:[0-9a-f]{12}", first)
    assert builder.image_name({"Dockerfile": file}, "base", "torch") == first
    assert builder.image_name({"Dockerfile": file}, "other", "torch") != first
    file.write_text("FROM b")
    assert builder.image_name({"Dockerfile": file}, "base", "torch") != first


def test_without_wheels_it_says_what_it_needs(
    builder: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[str, ...]] = []

    def download(_target: Path, *what: str) -> Any:
        asked.append(what)
        failed = what[0] != "-r"
        return type("Done", (), {"returncode": int(failed), "stderr": "No matching distribution found"})

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(builder, "download", download)
    with pytest.raises(SystemExit, match=r"No matching distribution found\nIt needs pip and an index"):
        builder.wheelhouse()
    assert asked[1:] == [("torch==2.13.0+cpu",), ("torch==2.13.0+cpu", f"--index-url={builder.CPU_INDEX}")]
