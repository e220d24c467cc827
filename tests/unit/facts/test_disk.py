"""Room for images (case I3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.facts.build import recording, said
from verify.facts.disk import Store, stores
from verify.facts.engine import engine_facts

MOUNTS = "/dev/vda1 / ext4 rw 0 0\n/dev/vdb /data btrfs rw 0 0\n"


def read(disks: dict[str, Any], info: dict[str, Any] | None = None, file: str = "{}") -> tuple[Store, ...]:
    document = {"ServerVersion": "29.4.3", **(info or {})}
    seen = recording(
        disks=disks,
        files={"/proc/mounts": {"text": MOUNTS}, "/etc/docker/daemon.json": {"text": file}},
        commands={"docker-info": said(json.dumps(document))} if info is not None else {},
    )
    return stores(seen, engine_facts(seen))


def test_i3_the_root_is_what_the_daemon_says_else_its_file_else_the_usual() -> None:
    disks = {name: {"free": 1, "total": 2} for name in ("/srv/docker", "/data/docker", "/var/lib/docker")}
    file = '{"data-root": "/data/docker"}'
    assert [store.path for store in read(disks, {"DockerRootDir": "/srv/docker"}, file)] == ["/srv/docker"]
    assert [store.path for store in read(disks, None, file)] == ["/data/docker"]
    assert [store.path for store in read(disks)] == ["/var/lib/docker"]


def test_i3_the_mount_is_the_longest_that_holds_it() -> None:
    (store,) = read({"/data/docker": {"free": 1}}, {"DockerRootDir": "/data/docker"})
    assert (store.mount, store.free, store.total) == ("/data", 1, None)


def test_i3_images_in_containerds_store_count_too() -> None:
    info = {
        "DockerRootDir": "/var/lib/docker",
        "DriverStatus": [["driver-type", "io.containerd.snapshotter.v1"]],
    }
    disks = {"/var/lib/docker": {"free": 1}, "/var/lib/containerd": {"free": 2}}
    assert [store.free for store in read(disks, info)] == [1, 2]
    assert [store.free for store in read(disks, {})] == [1]


@pytest.mark.parametrize(
    ("path", "entry", "inodes"),
    [
        ("/var/lib/docker", {"free": 1, "inodes_free": 0, "inodes": 100}, 0),
        # btrfs makes inodes as it needs them, and says 0.
        ("/var/lib/docker", {"free": 1, "inodes_free": 0, "inodes": 0}, None),
        ("/data/docker", {"free": 1, "inodes_free": 0}, None),
        ("/var/lib/docker", {"free": 1, "inodes_free": 0}, 0),
        ("/var/lib/docker", {"free": 1}, None),
        ("/var/lib/docker", {"free": 1, "inodes_free": -1}, None),
        ("/var/lib/docker", {"free": 1, "inodes_free": "many"}, None),
    ],
)
def test_i3_no_inodes_or_no_limit(path: str, entry: dict[str, object], inodes: int | None) -> None:
    (store,) = read({path: entry}, {"DockerRootDir": path})
    assert store.inodes_free == inodes


@pytest.mark.parametrize(
    "entry", [{"missing": True}, {"error": "EACCES"}, {"free": "much"}, {"free": None}, {}]
)
def test_i3_an_unknown_disk_is_not_an_empty_one(entry: dict[str, object]) -> None:
    assert read({"/var/lib/docker": entry}) == ()
