"""What the race image is made of: the builder's pure parts, and that its files say the same."""

from __future__ import annotations

import re
import subprocess
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
    assert defaults["BASE"] in {row["bases"]["runtime"] for row in table["variants"]}
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


def test_the_labels_say_what_it_is_of() -> None:
    end = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    labels = dict(re.findall(r'([\w.-]+)="([^"]*)"', end[end.index("LABEL ") :]))
    assert labels["org.opencontainers.image.revision"] == "${REVISION}"
    assert labels["org.opencontainers.image.base.name"] == "${BASE}"
    assert labels["gpu-host.torch"] == "${TORCH}"
    assert labels["gpu-host.cuda"] == "${CUDA_VERSION}"
    for name in ("REVISION", "BASE", "TORCH"):
        assert re.search(rf"^ARG {name}\b", end, re.MULTILINE), "an argument ends with its stage"


def test_no_compiler_and_no_installer_in_the_end() -> None:
    packages, tree, end = DOCKERFILE.split("\nFROM ")[1:]
    assert re.findall(r"fetch /debs (\S+);", packages) == ["python3"]
    assert "pip uninstall -q -y pip" in tree
    assert re.findall(r"apt-get install .* (\S+) >", end) == ["/debs/*.deb"]
    assert "pip" not in re.sub(r"^#.*$", "", end, flags=re.MULTILINE).split()


def test_the_revision_is_that_of_the_files_and_says_what_is_not_committed(
    builder: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(builder, "ROOT", tmp_path)
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    within, beside = tmp_path / "Dockerfile", tmp_path / "README"
    within.write_text("FROM a")
    files = {"Dockerfile": within}
    assert builder.revision(files) == "", "a copy of the tree without its history"

    def git(*words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", "Dockerfile")
    git("commit", "-q", "-m", "one")
    first = builder.revision(files)
    assert re.fullmatch(r"[0-9a-f]{40}", first)
    beside.write_text("changed")
    git("add", "README")
    git("commit", "-q", "-m", "two")
    assert builder.revision(files) == first, "what does not go in changes nothing"
    within.write_text("FROM b")
    assert builder.revision(files) == f"{first}-dirty"


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
    assert others == {"verify/__init__.py", builder.PEAKS}
    shut = (ROLE / "files/.dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = [line[1:] for line in shut if line.startswith("!")]
    assert "*" in shut
    kept = {name for name in names if any(Path(name).match(pattern) for pattern in allowed)}
    assert names - kept == {"Dockerfile", ".dockerignore"}


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
