"""One look at where a host keeps things: volume, device, Docker's data-root, what was noted."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

from .gpu_host_daemon_flags import values
from .gpu_host_daemon_json import DaemonJsonError, parse
from .gpu_host_dockerd import Dockerd
from .gpu_host_engine import engine, stranger
from .gpu_host_storage_device import device
from .gpu_host_storage_mounts import below, fstab, holding, mounts
from .gpu_host_storage_root import contents, weight

DEFAULT_ROOT = "/var/lib/docker"
CONTAINERD = "io.containerd.snapshotter"


def storage(look, given, owned):
    """Return what the plan is made from; ``given`` are the module's parameters."""
    found = mounts(look.text("/proc/self/mountinfo") or "")
    path = given["path"] or owned.get("path") or ""
    real = os.path.realpath(path) if path else ""
    seen = {
        "path": folder(real, path) if path else None,
        "mount": mount(look, found, real) if path else None,
        "space": look.space(real) if path and Path(real).is_dir() else None,
        "device": device(look, given["device"], found) if given["device"] else None,
        "fstab": fstab(look.text("/etc/fstab") or ""),
        "programs": {
            name: look.which(name) for name in ("mkfs.ext4", "mkfs.xfs", "rsync", "blkid", "wipefs")
        },
        "folders": {name: owner(f"{real}/{name}") for name in given["folders"]} if path else {},
        "files": {name: look.text(name) for name in given["files"]},
        "owned": owned,
    }
    wants = given["docker"] or owned.get("data_root")
    return {**seen, **(docker(look, found, f"{real}/docker") if path and wants else {"docker": None})}


def folder(real, path):
    there = Path(real).is_dir()
    return {
        "given": path,
        "real": real,
        "exists": os.path.lexists(real),
        "folder": there,
        "entries": sum(1 for _ in Path(real).iterdir()) if there else 0,
    }


def mount(look, found, real):
    """Return the mount that holds a path, and what only its own tools tell."""
    held = holding(found, real)
    if held is None:
        return None
    # Old xfs can lack the kind in its folders' entries, without which Docker's overlay2 does not work.
    rc, said = look.run(["xfs_info", held["target"]]) if held["fstype"] == "xfs" else (None, "")
    return {**held, "exact": held["target"] == real, "ftype": "ftype=1" in said if rc == 0 else None}


def owner(path):
    """Return whose a folder is and what may be done with it; None where there is none."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return {
        "mode": f"{info.st_mode & 0o7777:04o}",
        "owner": named(pwd.getpwuid, info.st_uid),
        "group": named(grp.getgrgid, info.st_gid),
        "folder": Path(path).is_dir(),
    }


def named(ask, number):
    try:
        return ask(number)[0]
    except KeyError:
        return str(number)


def docker(look, found, target):
    """Look at the engine, its data-root now and the one that is wanted."""
    daemon, seen = Dockerd(), engine(look)
    flags = seen["flags"]
    by_flag = [*values(flags, "data-root"), *values(flags, "graph")]
    try:
        document, damage = parse((look.text(seen["config_file"]) or "").encode(), seen["config_file"]), ""
    except DaemonJsonError as error:
        document, damage = {}, str(error)
    by_file = document.get("data-root") or document.get("graph")
    info = daemon.info() or {}
    root = info.get("DockerRootDir") or [*by_flag, by_file][0] or DEFAULT_ROOT
    root = os.path.realpath(root)
    settled = root == target
    old = contents(root)
    stores = [str(value) for pair in info.get("DriverStatus") or [] for value in pair]
    return {
        "docker": {
            "program": daemon.program,
            "active": seen["active"],
            "stranger": stranger(seen),
            "config_file": seen["config_file"],
            "damage": damage,
            "flag": by_flag[-1] if by_flag else None,
            "features_flag": bool(values(flags, "feature")),
            "file": by_file,
            "root": root,
            "driver": info.get("Driver"),
            "containerd": any(CONTAINERD in each for each in stores),
            "images": info.get("Images"),
            "all_containers": info.get("Containers"),
            "running": seen["containers"],
        },
        "old": {
            **old,
            # Weighed only where it may have to be copied: a big one takes its time.
            "weight": weight(root) if old["exists"] and not settled and Path(root).is_dir() else None,
            "below": [] if settled else below(found, root),
        },
        "target": {
            **contents(target),
            "weight": weight(target) if Path(target).is_dir() and not settled else None,
            "part": Path(f"{target}.part").is_dir(),
        },
    }
