"""Packs the roles, their plugins, the playbooks and the verify package as an Ansible collection.

usage: python scripts/collection.py [FOLDER]    the archive goes there (dist by default); its path is printed

In the repository plugins are found by ansible.cfg, in a collection by their full names. The build writes
those names into the copies; it changes nothing else, and refuses to pack a name that it would miss.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
NAME = "gpu_host.gpu_host"
ABOUT = ROOT / "collection/about.yml"  # galaxy.yml without the version, which pyproject.toml has
PACKED = ("roles", "plugins", "playbooks", "verify")
BESIDE = ("LICENSE", "CHANGELOG.md", "constraints.txt", "pyproject.toml")
# The simulated lab is the repository's own; what tests and reports of the repository need stays there too.
LEFT_OUT = re.compile(r"playbooks/(tasks/|templates/)?simulated|plugins/callback/")
UTILS = re.compile(r"\bansible\.module_utils\.(gpu_host_\w+)")
FILTER = re.compile(r"(\|\s*|map\(')(gpu_host_\w+)")
ROLE = re.compile(r"(?m)^(\s+(?:ansible\.builtin\.)?(?:import|include)_role:\n\s+name: )(\w+)$")


def packed_files() -> list[str]:
    """Return what goes in, as Git knows it: nothing that lies about, and nothing that is missing."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *PACKED], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")
    return [name for name in listed if name and not LEFT_OUT.match(name) and (ROOT / name).is_file()]


def filters() -> set[str]:
    """Return the names of the filters that the plugins define."""
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "plugins/filter").glob("*.py")]
    return {name for text in texts for name in re.findall(r'"(gpu_host_\w+)":', text)}


def in_a_collection(name: str, text: str, known: set[str], roles: set[str]) -> str:
    """Return a file's text with the full names that a collection asks for."""
    if name.startswith("plugins/"):
        return UTILS.sub(rf"ansible_collections.{NAME}.plugins.module_utils.\1", text)
    if not name.startswith(("roles/", "playbooks/")) or not name.endswith((".yml", ".j2")):
        return text
    for _, used in FILTER.findall(text):
        if used not in known:
            raise SystemExit(
                f"error: {name} uses the filter {used}, which no file of plugins/filter defines."
            )
    text = FILTER.sub(rf"\1{NAME}.\2", text)
    return ROLE.sub(lambda m: f"{m[1]}{NAME}.{m[2]}" if m[2] in roles else m[0], text)


def lay_out(folder: Path) -> None:
    """Write the collection's files."""
    known, roles = filters(), {path.name for path in (ROOT / "roles").iterdir()}
    for name in packed_files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
        if name.endswith((".py", ".yml", ".j2")):
            target.write_text(
                in_a_collection(name, target.read_text(encoding="utf-8"), known, roles), encoding="utf-8"
            )
    for name in BESIDE:
        shutil.copy2(ROOT / name, folder / name)
    shutil.copytree(
        ROOT / "collection", folder, ignore=shutil.ignore_patterns(ABOUT.name), dirs_exist_ok=True
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    galaxy = yaml.safe_load(ABOUT.read_text(encoding="utf-8"))
    text = yaml.safe_dump({**galaxy, "version": project["version"]}, sort_keys=False)
    (folder / "galaxy.yml").write_text(text, encoding="utf-8")


def main(out: Path) -> Path:
    """Build the archive; return where it is."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "collection"
        folder.mkdir()
        lay_out(folder)
        subprocess.run(
            [Path(sys.executable).with_name("ansible-galaxy"), "collection", "build", folder,
             "--output-path", out, "--force"],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        version = yaml.safe_load((folder / "galaxy.yml").read_text(encoding="utf-8"))["version"]
    return out / f"{NAME.replace('.', '-')}-{version}.tar.gz"


if __name__ == "__main__":
    print(main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")))
