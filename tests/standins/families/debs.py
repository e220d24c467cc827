"""Debian packages, and apt repositories of them: flat as NVIDIA's, or with a suite as Docker's."""

from __future__ import annotations

import gzip
import hashlib
import subprocess
import tempfile
import time
from pathlib import Path

from catalogue import SIMULATED, Package, maker
from keys import Vendor
from payload import STARTED_BY_DEB, fill, put

INSTALLED = '#!/bin/sh\nset -e\n[ "$1" = configure ] || exit 0\n'
REMOVED = '#!/bin/sh\nset -e\n[ "$1" = remove ] || exit 0\n'


def control(package: Package) -> str:
    """Return the package's control file."""
    relations = {
        "Depends": package.needs,
        "Provides": package.provides,
        "Conflicts": package.conflicts,
        "Replaces": package.conflicts,
    }
    lines = [
        f"Package: {package.name}",
        f"Version: {package.version}",
        "Architecture: amd64",
        f"Maintainer: {maker(package)} <gpu-host@localhost>",
        "Section: misc",
        "Priority: optional",
        *(f"{name}: {', '.join(value)}" for name, value in relations.items() if value),
        f"Description: {package.summary} {SIMULATED}",
    ]
    return "\n".join(lines) + "\n"


def build(package: Package, given: Path, folder: Path) -> None:
    """Build one package into the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        tree.mkdir(mode=0o755)
        after, before = fill(tree, package, given)
        put(tree, "DEBIAN/control", control(package))
        for unit in (STARTED_BY_DEB[part] for part in package.parts if part in STARTED_BY_DEB):
            after += f"[ ! -d /run/systemd/system ] || systemctl enable --quiet --now {unit} || true\n"
        if after:
            put(tree, "DEBIAN/postinst", INSTALLED + after, 0o755)
        if before:
            put(tree, "DEBIAN/prerm", REMOVED + before, 0o755)
        name = f"{package.name}_{package.version.rpartition(':')[2]}_amd64.deb"
        argv = ["dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", str(tree), str(folder / name)]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)


def stanza(deb: Path, root: Path) -> str:
    """Return a package's entry in the index."""
    fields = subprocess.run(["dpkg-deb", "-f", deb], check=True, capture_output=True, text=True).stdout
    data = deb.read_bytes()
    return (
        f"{fields.strip()}\nFilename: {deb.relative_to(root)}\nSize: {len(data)}\n"
        f"SHA256: {hashlib.sha256(data).hexdigest()}\n"
    )


def index(root: Path, pool: Path, packages: Path, release: Path, extra: dict[str, str]) -> None:
    """Write Packages, Packages.gz and the Release file over them."""
    data = "\n".join(stanza(deb, root) for deb in sorted(pool.glob("*.deb"))).encode()
    packages.parent.mkdir(parents=True, exist_ok=True)
    sums = []
    for path, content in ((packages, data), (packages.with_suffix(".gz"), gzip.compress(data, mtime=0))):
        path.write_bytes(content)
        sums.append(
            f" {hashlib.sha256(content).hexdigest()} {len(content)} {path.relative_to(release.parent)}"
        )
    fields = {
        "Origin": "gpu-host (simulated)",
        "Architectures": "amd64",
        "Date": time.strftime("%a, %d %b %Y %H:%M:%S UTC", time.gmtime()),
        **extra,
    }
    release.write_text("\n".join([*(f"{k}: {v}" for k, v in fields.items()), "SHA256:", *sums]) + "\n")


def sign(folder: Path, vendor: Vendor) -> None:
    """Sign the folder's Release file."""
    vendor.sign("--clearsign", folder / "Release", folder / "InRelease")
    vendor.sign("--detach-sign", folder / "Release", folder / "Release.gpg")


def flat(root: Path, packages: list[Package], vendor: Vendor) -> None:
    """Make a flat repository (suite ``/``)."""
    root.mkdir(parents=True)
    for package in packages:
        build(package, vendor.given, root)
    index(root, root, root / "Packages", root / "Release", {"Label": f"stand-in {vendor.key} (simulated)"})
    sign(root, vendor)


def suite(root: Path, names: tuple[str, str], packages: list[Package], vendor: Vendor) -> None:
    """Make a repository with one suite and one component."""
    codename, component = names
    pool, dist = root / "pool", root / "dists" / codename
    pool.mkdir(parents=True)
    for package in packages:
        build(package, vendor.given, pool)
    dist.mkdir(parents=True)
    named = {"Suite": codename, "Codename": codename, "Components": component}
    packages_file = dist / component / "binary-amd64/Packages"
    index(
        root, pool, packages_file, dist / "Release", {"Label": f"stand-in {vendor.key} (simulated)", **named}
    )
    sign(dist, vendor)
