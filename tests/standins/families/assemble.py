"""Builds the packages and signs the repositories, in a container of the simulated Rocky host's base image.

usage: assemble.py GIVEN_FOLDER OUTPUT_FOLDER

GIVEN_FOLDER has card/libnvidia-ml.so and toolkit/*.deb; Debian's own packages are downloaded here. The output
is one folder for each repository, the public keys, and facts.json.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import catalogue
import debs
import keys
import rpms

# Whose programs are packed anew: Debian's build of Docker, and the real nvidia-smi.
DEBIAN = ("docker.io", "docker-cli", "containerd", "runc", "tini", "nvidia-smi")
KEYS = ("nvidia", "docker", "toolkit", "stranger")


def from_debian(target: Path) -> None:
    """Download Debian's packages and unpack them into one tree."""
    folder = target.with_name("downloads")
    folder.mkdir()
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(["apt-get", "download", "-qq", *DEBIAN], cwd=folder, check=True)
    for deb in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", deb, target], check=True)


def main(given: Path, out: Path) -> int:
    """Fill the output folder."""
    from_debian(given / "debian")
    ring = keys.Ring.make(given / "gnupg", KEYS)
    for name in KEYS:
        ring.export(name, out / f"keys/{name}.asc")

    nvidia, docker, toolkit, stranger = (keys.Vendor(name, ring, given) for name in KEYS)

    debs.flat(out / "ubuntu2404/nvidia", catalogue.apt_nvidia(), nvidia)
    debs.suite(out / "ubuntu2404/docker", ("noble", "stable"), catalogue.apt_docker(), docker)

    drivers = catalogue.rpm_nvidia()
    rpms.repository(out / "rhel9/nvidia", drivers, nvidia, rpms.streams(drivers))
    rpms.repository(out / "rhel9/docker", catalogue.rpm_docker(), docker)
    rpms.from_debs(out / "rhel9/toolkit", sorted((given / "toolkit").glob("*.deb")), toolkit)

    # The same packages, signed by somebody else: what a copied or altered mirror looks like.
    shutil.copytree(out / "ubuntu2404/nvidia", out / "ubuntu2404/nvidia-stranger")
    debs.sign(out / "ubuntu2404/nvidia-stranger", stranger)
    shutil.copytree(out / "rhel9/nvidia", out / "rhel9/nvidia-stranger")
    rpms.sign(out / "rhel9/nvidia-stranger", stranger, rpms.streams(drivers))

    facts = {
        "fingerprints": {name: ring.fingerprints[name] for name in KEYS},
        "drivers": catalogue.DRIVERS,
        "engine": catalogue.ENGINE,
    }
    (out / "facts.json").write_text(json.dumps(facts, indent=2) + "\n")
    ring.forget()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
