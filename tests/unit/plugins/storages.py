"""Looks at hosts for the plan of gpu_storage, as its module returns them; each test changes one thing."""

from __future__ import annotations

from typing import Any

FOLDERS = {
    name: {"mode": "1777", "owner": "root", "group": "root"} for name in ("datasets", "huggingface", "pip")
}
SETTINGS: dict[str, Any] = {
    "path": "/mnt/persist", "device": "", "filesystem": "ext4", "docker": True, "folders": FOLDERS,
    "stop_containers": False, "require_mount": True,
}  # fmt: skip
DEVICE: dict[str, Any] = {
    "given": "/dev/disk/by-id/volume", "real": "/dev/vdb", "exists": True, "block": True, "partitions": [],
    "holders": [], "mounted": [], "swap": False, "signatures": [], "fstype": None,
    "uuid": None, "table": None, "busy": None, "zeros": True, "bytes": 8 << 30,
}  # fmt: skip


def root(path: str, **more: Any) -> dict[str, Any]:
    """Return a data-root with nothing in it."""
    return {
        "path": path, "exists": False, "entries": 0, "images": 0, "containers": 0, "volumes": 0, "swarm": 0,
        "dockers": False, "weight": None, **more,
    }  # fmt: skip


def full(path: str, **more: Any) -> dict[str, Any]:
    """Return one with images."""
    return root(
        path,
        exists=True,
        entries=9,
        images=3,
        dockers=True,
        weight={"bytes": 2_000_000_000, "inodes": 40_000},
        **more,
    )


def host(**more: Any) -> dict[str, Any]:
    """Return a host with a volume mounted and no Docker; what is given is laid over that."""
    found: dict[str, Any] = {
        "path": {
            "given": "/mnt/persist", "real": "/mnt/persist", "exists": True, "folder": True, "entries": 0,
        },
        "mount": {
            "target": "/mnt/persist", "source": "/dev/vdb", "fstype": "ext4", "options": ["rw", "relatime"],
            "exact": True, "ftype": None,
        },
        "space": {
            "bytes": 100_000_000_000, "free": 90_000_000_000, "inodes": 6_000_000, "inodes_free": 5_900_000,
        },
        "device": None,
        "fstab": [],
        "programs": {name: name for name in ("mkfs.ext4", "mkfs.xfs", "rsync", "blkid", "wipefs")},
        "folders": {},
        "files": {},
        "owned": {},
        "owned_files": [],
        "docker": {
            "program": None, "active": False, "stranger": None, "config_file": "/etc/docker/daemon.json",
            "damage": "", "flag": None, "features_flag": False, "file": None, "root": "/var/lib/docker",
            "driver": None, "containerd": False, "images": None, "all_containers": None, "running": [],
        },
        "old": {**root("/var/lib/docker"), "below": []},
        "target": {**root("/mnt/persist/docker"), "part": False},
    }  # fmt: skip
    for name, value in more.items():
        both = isinstance(found[name], dict) and isinstance(value, dict)
        found[name] = {**found[name], **value} if both else value
    return found


RUNNING = {
    "program": "/usr/sbin/dockerd",
    "active": True,
    "driver": "overlay2",
    "images": 3,
    "all_containers": 0,
}
