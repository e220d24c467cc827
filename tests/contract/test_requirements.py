"""What the project asks for is what it has: collections, pins, and nothing of the machine it was made on."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.contract.roles import ROOT, load

COLLECTIONS = load(ROOT / "requirements.yml")["collections"]


def pins() -> dict[str, list[Requirement]]:
    found: dict[str, list[Requirement]] = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            pin = Requirement(line)
            found.setdefault(canonicalize_name(pin.name), []).append(pin)
    return found


def dependencies() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    texts = [
        entry for group in project["dependency-groups"].values() for entry in group if isinstance(entry, str)
    ]
    texts += project["project"]["dependencies"] + project["build-system"]["requires"]
    return [Requirement(text) for text in texts]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, check=True
    )
    return [path for name in listed.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


@pytest.mark.parametrize("wanted", COLLECTIONS, ids=lambda wanted: wanted["name"])
def test_the_bundle_has_the_collection(wanted: dict[str, str]) -> None:
    """With a version out of range ansible-galaxy would ask Galaxy, and fail where there is no network."""
    manifest = "ansible_collections/" + wanted["name"].replace(".", "/") + "/MANIFEST.json"
    path = Path(str(distribution("ansible").locate_file(manifest)))
    version = json.loads(path.read_text(encoding="utf-8"))["collection_info"]["version"]
    assert version in SpecifierSet(wanted["version"])


def test_collections_in_use_are_required() -> None:
    files = tracked("roles/*.yml", "playbooks/*.yml", "molecule/*.yml")
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    used = set(re.findall(r"^\s*(?:- )?([a-z]+\.[a-z]+)\.[a-z_]+:", text, re.MULTILINE))
    assert used - {"ansible.builtin", "ansible.legacy"} <= {wanted["name"] for wanted in COLLECTIONS}


@pytest.mark.parametrize("wanted", dependencies(), ids=lambda wanted: wanted.name)
def test_every_dependency_is_pinned(wanted: Requirement) -> None:
    pinned = pins().get(canonicalize_name(wanted.name), [])
    assert pinned, f"{wanted.name} is missing from constraints.txt"


def test_constraints_are_exact_and_name_no_index() -> None:
    for name, entries in pins().items():
        operators = {part.operator for entry in entries for part in entry.specifier}
        assert operators == {"=="}, name
        assert [entry.url for entry in entries if entry.url] == [], name
        assert len(entries) == 1 or all(entry.marker for entry in entries), f"{name}: two pins need markers"


def test_molecule_is_no_package() -> None:
    """A package of that name at the root would hide the library."""
    assert not (ROOT / "molecule/__init__.py").exists()


# Patterns that do not match themselves.
HOSTS = [
    r"\b(?:deb|ftp[.\w]*|security|archive|snapshot)[.]debian[.]org",
    *(f"{name}[.]org" for name in ("pypi", "pythonhosted", "npmjs", "golang")),
]
FOLDERS = [f"(?<![\\w.])/{name}/" for name in ("work", "root/[.]pyenv", "tmp/work")]


@pytest.mark.parametrize("pattern", HOSTS + FOLDERS)
def test_no_registry_and_no_machine_path_is_written_down(pattern: str) -> None:
    """Distribution and package index are the machine's own settings: a local mirror stays a local mirror."""
    wrong = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = [line.strip()[:100] for line in text.splitlines() if re.search(pattern, line)]
        wrong += [f"{path.relative_to(ROOT)}: {line}" for line in lines]
    assert wrong == []
