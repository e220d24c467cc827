"""RPM packages, and dnf repositories of them, with module streams where the vendor has such."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from catalogue import SIMULATED, Package, maker
from keys import Vendor
from payload import fill

MODULE = "nvidia-driver"
DEFAULT_STREAM = "open-dkms"
# gzip at its lowest level: packing dockerd well would take longer than everything else here.
OPTIONS = {
    "_build_id_links": "none",
    "debug_package": "%{nil}",
    "__os_install_post": "%{nil}",
    "_binary_payload": "w1.gzdio",
}


def split(version: str) -> tuple[str, str, str]:
    """Epoch, version and release of ``3:580.95.05-1.el9``."""
    epoch, _, rest = version.rpartition(":")
    number, _, release = rest.rpartition("-")
    return epoch or "0", number, release


def spec(package: Package, tree: Path, after: str, before: str) -> str:
    """Return the package's spec file; its payload is the prepared tree."""
    epoch, version, release = split(package.version)
    config = {"etc/nvidia-container-runtime/config.toml"}
    files = sorted(
        path.relative_to(tree).as_posix() for path in tree.rglob("*") if path.is_symlink() or path.is_file()
    )
    lines = [
        f"Name: {package.name}",
        *([f"Epoch: {epoch}"] if epoch != "0" else []),
        f"Version: {version}",
        f"Release: {release}",
        f"Summary: {package.summary} {SIMULATED}",
        f"Vendor: {maker(package)}",
        "License: Apache-2.0",
        "AutoReqProv: no",
        *(f"Requires: {need}" for need in package.needs),
        *(f"Provides: {provided}" for provided in package.provides),
        *(f"Conflicts: {other}" for other in package.conflicts),
        "%description",
        "Made by gpu-host for its simulated hosts.",
        "%install",
        f"mkdir -p %{{buildroot}} && cp -a {tree}/. %{{buildroot}}/",
        *(["%post", after, ":"] if after else []),
        *(["%preun", '[ "$1" = 0 ] || exit 0', before, ":"] if before else []),
        "%files",
        "%defattr(-,root,root)",
        *(f"{'%config(noreplace) ' if file in config else ''}/{file}" for file in files),
    ]
    return "\n".join(lines) + "\n"


def build(package: Package, given: Path, folder: Path) -> None:
    """Build one package from its parts into the folder."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        tree.mkdir(mode=0o755)
        pack(package, folder, tree, fill(tree, package, given))


def pack(package: Package, folder: Path, tree: Path, scripts: tuple[str, str]) -> None:
    """Pack a prepared tree."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "package.spec"
        file.write_text(spec(package, tree, *scripts))
        argv = ["rpmbuild", "-bb", "--quiet", "--target", "x86_64", str(file)]
        for name, value in {**OPTIONS, "_topdir": f"{scratch}/build", "_rpmdir": f"{scratch}/rpms"}.items():
            argv += ["--define", f"{name} {value}"]
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"rpmbuild of {package.name} failed:\n{done.stdout}{done.stderr}")
        for made in Path(scratch, "rpms").rglob("*.rpm"):
            shutil.move(made, folder)


def streams(packages: list[Package]) -> dict[str, list[Package]]:
    """Which packages each stream of the module has."""
    found: dict[str, list[Package]] = {}
    for package in packages:
        for stream in package.streams:
            found.setdefault(stream, []).append(package)
    return found


def nevra(package: Package) -> str:
    """Name, epoch, version, release and architecture, as a module's list of artifacts has them."""
    epoch, version, release = split(package.version)
    return f"{package.name}-{epoch}:{version}-{release}.x86_64"


def modules(by_stream: dict[str, list[Package]]) -> str:
    """Return the modules' metadata."""
    documents = []
    for number, (stream, packages) in enumerate(sorted(by_stream.items())):
        artifacts = "\n".join(f"    - {nevra(package)}" for package in packages)
        documents.append(
            "document: modulemd\nversion: 2\ndata:\n"
            f'  name: {MODULE}\n  stream: "{stream}"\n  version: {20261101000000 + number}\n'
            f"  context: simulated\n  arch: x86_64\n  summary: NVIDIA driver, stream {stream} {SIMULATED}\n"
            "  description: Made by gpu-host for its simulated hosts.\n  license:\n    module: [Apache-2.0]\n"
            "  profiles:\n    default:\n      rpms:\n"
            f"      - {'nvidia-open' if 'open' in stream else 'cuda-drivers'}\n"
            f"  artifacts:\n    rpms:\n{artifacts}\n"
        )
    documents.append(
        "document: modulemd-defaults\nversion: 1\ndata:\n"
        f'  module: {MODULE}\n  stream: "{DEFAULT_STREAM}"\n  profiles:\n'
        + "".join(f'    "{stream}": [default]\n' for stream in sorted(by_stream))
    )
    return "".join(f"---\n{document}...\n" for document in documents)


def sign(folder: Path, vendor: Vendor, by_stream: dict[str, list[Package]] | None = None) -> None:
    """Sign the packages, make the repository's metadata anew and sign that too."""
    ring = vendor.ring
    defines = ["--define", f"_gpg_name {ring.fingerprints[vendor.key]}", "--define", f"_gpg_path {ring.home}"]
    rpms = sorted(folder.glob("*.rpm"))
    for action in ("--delsign", "--addsign"):
        subprocess.run(["rpmsign", action, *defines, *rpms], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(folder / "repodata", ignore_errors=True)
    subprocess.run(["createrepo_c", "--quiet", folder], check=True)
    if by_stream:
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "modules.yaml"
            file.write_text(modules(by_stream))
            argv = ["modifyrepo_c", "--mdtype=modules", str(file), str(folder / "repodata")]
            subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    vendor.sign("--detach-sign", folder / "repodata/repomd.xml", folder / "repodata/repomd.xml.asc")


def repository(
    folder: Path, packages: list[Package], vendor: Vendor, by_stream: dict[str, list[Package]] | None = None
) -> None:
    """Make a signed repository."""
    folder.mkdir(parents=True)
    for package in packages:
        build(package, vendor.given, folder)
    sign(folder, vendor, by_stream)


def from_debs(folder: Path, debs: list[Path], vendor: Vendor) -> None:
    """Make a signed repository of rpms that hold the same as these Debian packages."""
    folder.mkdir(parents=True)
    for deb in debs:
        with tempfile.TemporaryDirectory() as scratch:
            tree, control = Path(scratch) / "tree", Path(scratch) / "control"
            subprocess.run(["dpkg-deb", "-x", deb, tree], check=True)
            subprocess.run(["dpkg-deb", "-e", deb, control], check=True)
            pack(
                described((control / "control").read_text()),
                folder,
                tree,
                (script(control / "postinst"), script(control / "prerm")),
            )
    sign(folder, vendor)


def described(control: str) -> Package:
    """Return the package that a control file describes; of its dependencies, those of the same vendor."""
    fields = dict(line.split(": ", 1) for line in control.splitlines() if ": " in line)
    words = [need.split() for need in fields.get("Depends", "").split(", ")]
    needs = (f"{need[0]} >= {need[2].rstrip(')')}" for need in words if need and "nvidia-" in need[0])
    summary = fields["Description"].partition(" (simulated")[0]
    return Package(fields["Package"], fields["Version"], summary, needs=tuple(needs))


def script(path: Path) -> str:
    """A Debian maintainer script as lines of an rpm's: without the word that says why it runs."""
    if not path.exists():
        return ""
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith(("#!", '[ "$1" ='))) + "\n"
