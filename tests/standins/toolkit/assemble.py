"""Builds the packages and signs a flat apt repository, in a container of the simulated host's base image.

usage: assemble.py SOURCE_FOLDER OUTPUT_FOLDER
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from packages import LIB, PACKAGES, REVISION, VERSIONS, Package, control, has_cdi_refresh

# Compiled once at installation: the runtime is started for every step of every container.
POSTINST = """#!/bin/sh
set -e
[ "$1" = configure ] || exit 0
python3 -m compileall -q @MODULES@
"""
POSTINST_REFRESH = """[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
systemctl enable --quiet nvidia-cdi-refresh.path nvidia-cdi-refresh.service
# A host without a working driver has no specification yet: no reason for the installation to fail.
systemctl restart nvidia-cdi-refresh.path || true
systemctl restart nvidia-cdi-refresh.service || true
"""
PRERM = """#!/bin/sh
set -e
find @MODULES@ -name __pycache__ -prune -exec rm -r {} +
[ "$1" = remove ] || exit 0
"""
PRERM_REFRESH = """[ -d /run/systemd/system ] || exit 0
systemctl disable --quiet --now nvidia-cdi-refresh.path nvidia-cdi-refresh.service || true
"""


def put(path: Path, text: str, mode: int = 0o644) -> None:
    """Write a file of a package."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def lay_out(package: Package, version: str, source: Path, tree: Path) -> None:
    """Lay out a package's files as dpkg-deb wants them."""
    put(tree / "DEBIAN/control", control(package, version))
    launcher = (source / "files/launcher.py.in").read_text()
    for program in package.programs:
        text = launcher
        for name, value in {
            "PROGRAM": program.name, "VERSION": version, "MODULE": program.module,
            "FOLDER": program.folder, "PREFIX": program.prefix, "FLAGS": program.flags,
        }.items():  # fmt: skip
            text = text.replace(f"@{name}@", value)
        put(tree / "usr/bin" / program.name, text, 0o755)
    if package.modules:
        target = tree / package.modules.lstrip("/") / "simulated_toolkit"
        shutil.copytree(source / "simulated_toolkit", target, ignore=shutil.ignore_patterns("__pycache__"))
        refresh = package.name == "nvidia-container-toolkit-base" and has_cdi_refresh(version)
        postinst = POSTINST + (POSTINST_REFRESH if refresh else "")
        prerm = PRERM + (PRERM_REFRESH if refresh else "")
        put(tree / "DEBIAN/postinst", postinst.replace("@MODULES@", package.modules), 0o755)
        put(tree / "DEBIAN/prerm", prerm.replace("@MODULES@", package.modules), 0o755)
        if refresh:
            for unit in ("nvidia-cdi-refresh.service", "nvidia-cdi-refresh.path"):
                put(tree / "usr/lib/systemd/system" / unit, (source / "files" / unit).read_text())
    if package.name == "libnvidia-container1":
        put(tree / LIB.lstrip("/") / f"{package.name}.version", f"{version}\n")
    if package.name == "nvidia-container-toolkit-base":
        put(tree / "etc/nvidia-container-runtime/config.toml", (source / "files/config.toml").read_text())
        put(tree / "DEBIAN/conffiles", "/etc/nvidia-container-runtime/config.toml\n")


def build(package: Package, version: str, source: Path, repo: Path) -> str:
    """Build one package and return its stanza of the index."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir(mode=0o755)
        lay_out(package, version, source, tree)
        deb = repo / f"{package.name}_{version}-{REVISION}_amd64.deb"
        # Many small packages: compressing them well would cost more than it saves.
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Zgzip", tree, deb], check=True)
    data = deb.read_bytes()
    head, _, description = control(package, version).partition("Description:")
    sums = f"Filename: ./{deb.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    return f"{head}{sums}Description:{description}"


def sign(repo: Path) -> str:
    """Sign the index with a key made for it and forgotten afterwards; return the fingerprint."""
    with tempfile.TemporaryDirectory() as home:
        gpg = [
            "gpg",
            "--homedir",
            home,
            "--batch",
            "--yes",
            "--quiet",
            "--pinentry-mode",
            "loopback",
            "--passphrase",
            "",
        ]
        name = "gpu-host stand-in toolkit repository (simulated)"
        subprocess.run([*gpg, "--quick-generate-key", name, "rsa3072", "sign", "never"], check=True)
        said = subprocess.run(
            [*gpg, "--with-colons", "--list-keys"], check=True, capture_output=True, text=True
        ).stdout
        fingerprint = next(line.split(":")[9] for line in said.splitlines() if line.startswith("fpr"))
        subprocess.run([*gpg, "--armor", "--export", "--output", repo / "gpgkey", fingerprint], check=True)
        subprocess.run([*gpg, "--clearsign", "--output", repo / "InRelease", repo / "Release"], check=True)
        subprocess.run(
            [*gpg, "--armor", "--detach-sign", "--output", repo / "Release.gpg", repo / "Release"], check=True
        )
        subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)
    return fingerprint


def index(repo: Path, stanzas: list[str]) -> None:
    """Write Packages and Release."""
    packages = ("\n".join(stanzas)).encode()
    files = {"Packages": packages, "Packages.gz": gzip.compress(packages, mtime=0)}
    for name, data in files.items():
        (repo / name).write_bytes(data)
    lines = [
        "Origin: gpu-host (simulated)",
        "Label: stand-in NVIDIA Container Toolkit (simulated)",
        "Architectures: amd64",
        f"Date: {time.strftime('%a, %d %b %Y %H:%M:%S UTC', time.gmtime())}",
        "SHA256:",
        *(f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}" for name, data in files.items()),
    ]
    put(repo / "Release", "\n".join(lines) + "\n")


def main(source: Path, repo: Path) -> int:
    """Fill the output folder; ``fingerprint`` in it is the key's."""
    repo.mkdir(parents=True, exist_ok=True)
    index(repo, [build(package, version, source, repo) for version in VERSIONS for package in PACKAGES])
    (repo / "fingerprint").write_text(sign(repo) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
