"""Hosts for the driver's plan: what the probe finds on each, small and made by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from plugins.filter.gpu_host_driver_cards import driver_cards
from plugins.filter.gpu_host_driver_choice import driver_choice
from plugins.filter.gpu_host_driver_parts import driver_parts
from plugins.filter.gpu_host_driver_plan import driver_plan

Row = dict[str, Any]
ROLE = Path(__file__).resolve().parents[3] / "roles/nvidia_driver"
SYSTEMS = {
    "debian 12": ("debian", "Debian GNU/Linux 12 (bookworm)", "6.1.0-28-amd64"),
    "debian 13": ("debian", "Debian GNU/Linux 13 (trixie)", "6.12.48+deb13-amd64"),
    "ubuntu 22.04": ("debian", "Ubuntu 22.04.5 LTS", "5.15.0-161-generic"),
    "ubuntu 24.04": ("debian", "Ubuntu 24.04.3 LTS", "6.8.0-87-generic"),
    "ubuntu 26.04": ("debian", "Ubuntu 26.04 LTS", "7.0.0-14-generic"),
    "rhel 8": ("redhat", "Rocky Linux 8.10", "4.18.0-553.el8_10.x86_64"),
    "rhel 9": ("redhat", "Rocky Linux 9.7", "5.14.0-611.5.1.el9_7.x86_64"),
    "rhel 10": ("redhat", "AlmaLinux 10.1", "6.12.0-124.8.1.el10_1.x86_64"),
}
CARDS = {
    "kepler": "10de:1021", "maxwell": "10de:17c2", "pascal": "10de:1bb3", "volta": "10de:1db5",
    "turing": "10de:1eb8", "ampere": "10de:20b0", "hopper": "10de:2330", "ada": "10de:26b5",
    "blackwell": "10de:2901", "new": "10de:3f00",
}  # fmt: skip
BARE: Row = {
    "tool": None, "works": False, "says": "nvidia-smi is not installed", "version": None, "serves": 0,
    "origin": None, "origin_kind": "none", "packages": {}, "held": [], "half": [], "libraries": [],
    "loaded": None, "dkms": [],
    "dkms_rows": [], "on_disk": {}, "headers": [], "nouveau": False, "secure_boot": False, "build_log": None,
    "bridges": [], "mig": [], "units": {}, "reboot": None, "boot_id": "b", "gpg": "/usr/bin/gpg",
    "ours": {"packages": [], "files": [], "holds": []},
}  # fmt: skip


def settings(**changed: Any) -> Row:
    """Return the role's settings, its defaults but for those given."""
    return defaults() | changed


@cache
def defaults() -> Row:
    given = yaml.safe_load((ROLE / "defaults/main.yml").read_text(encoding="utf-8"))
    return {name.removeprefix("nvidia_driver_"): value for name, value in given.items()}


def host(
    system: str = "debian 13", *cards: str, kind: str = "lab", arch: str = "x86_64", **driver: Any
) -> Row:
    """Return a host with these cards and this driver; without a word an Ampere and none."""
    family, name, kernel = SYSTEMS[system]
    os, version = system.split()
    return {
        "machine": {
            "kind": kind, "os": os, "os_version": version, "os_name": name,
            "base": {"os": os, "version": version},
            "family": family, "architecture": arch, "kernel": kernel,
        },
        "cards": [
            {"address": f"0000:0{number}:00.0", "id": CARDS[card], "class": "030200", "driver": None}
            for number, card in enumerate(cards or ("ampere",), 1)
        ],
        "driver": {**BARE, **driver},
    }  # fmt: skip


def working(version: str, kind: str = "nvidia", **more: Any) -> Row:
    """Return a driver that works: one package of it, from there."""
    return {
        "tool": "/usr/bin/nvidia-smi", "works": True, "says": version, "version": version, "serves": 1,
        "origin": f"package nvidia-smi {version}-1", "origin_kind": kind,
        "packages": {"nvidia-smi": f"{version}-1"}, "libraries": [version],
        "loaded": {"version": version, "flavour": "open"}, **more,
    }  # fmt: skip


def plan(found: Row, **changed: Any) -> Row:
    """Return the whole plan."""
    asked = settings(**changed)
    done: Row = driver_plan(driver_parts(driver_choice(driver_cards(found, asked), asked), asked), asked)
    return done
