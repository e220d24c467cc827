"""What may hold the data: which device is formatted, which mounted as it is, which mount can serve Docker."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.filter.gpu_host_storage_disk import disk_plan
from tests.unit.plugins.storages import DEVICE, SETTINGS, host

ROOT_DISK = {
    "target": "/",
    "source": "/dev/vda",
    "fstype": "ext4",
    "options": ["rw"],
    "exact": False,
    "ftype": None,
}
NO_FOLDER = {"exists": False, "folder": False}


def attached(**more: Any) -> dict[str, Any]:
    return host(mount=ROOT_DISK, path=NO_FOLDER, device={**DEVICE, **more})


def plan(found: dict[str, Any], **more: Any) -> dict[str, Any]:
    return disk_plan(found, {**SETTINGS, **more})


def test_an_empty_device_is_formatted_and_mounted_by_uuid() -> None:
    mount = plan(attached())["mount"]
    assert (mount["device"], mount["format"], mount["uuid"], mount["now"]) == ("/dev/vdb", "ext4", "", True)
    assert mount["line"] == "/mnt/persist ext4 defaults,nofail 0 2"


def test_a_device_of_which_nothing_is_known_is_refused() -> None:
    # As gpu_host_storage_device says it of a name that leads nowhere.
    look_at = import_module("plugins.module_utils.gpu_host_storage_device").device
    gone = look_at(None, "/dev/no-such-disk", [])
    assert "/dev/no-such-disk, which is not there" in plan(host(device=gone))["refusal"]


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_file_system_that_is_there_is_mounted_and_never_formatted(kind: str) -> None:
    mount = plan(attached(fstype=kind, signatures=[kind], uuid="1-2", zeros=False), filesystem="ext4")[
        "mount"
    ]
    assert (mount["format"], mount["uuid"]) == ("", "1-2")
    assert kind in mount["line"]


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ({"exists": False}, "is not there"),
        ({"block": False}, "is no block device"),
        ({"partitions": ["vdb1"]}, "has partitions (vdb1)"),
        ({"holders": ["dm-0"]}, "is part of dm-0"),
        ({"mounted": ["/srv"]}, "is mounted at /srv"),
        ({"swap": True}, "used as swap"),
        ({"busy": "Device or resource busy"}, "Device or resource busy"),
        ({"signatures": None}, "wipefs cannot tell"),
        ({"table": "gpt"}, "there is gpt on it"),
        ({"fstype": "LVM2_member", "signatures": ["LVM2_member"]}, "there is LVM2_member on it"),
        (
            {"fstype": "ext4", "uuid": "1", "signatures": ["ext4", "zfs_member"]},
            "there is ext4, zfs_member on it",
        ),
        ({"fstype": "vfat", "signatures": ["vfat"]}, "there is vfat on it"),
        ({"zeros": False}, "something was written there"),
        ({"zeros": None}, "something was written there"),
    ],
)
def test_anything_on_it_is_one_sentence_and_nothing_done(device: dict[str, Any], said: str) -> None:
    done = plan(attached(**device))
    assert done["mount"] is None
    assert said in done["refusal"]
    assert "Nothing was changed" in done["refusal"]


@given(
    st.fixed_dictionaries(
        {
            "partitions": st.sampled_from([[], ["vdb1"]]), "holders": st.sampled_from([[], ["md0"]]),
            "mounted": st.sampled_from([[], ["/srv"], ["/mnt/persist"]]), "swap": st.booleans(),
            "signatures": st.sampled_from([[], None, ["ext4"], ["dos"]]),
            "busy": st.sampled_from([None, "busy"]),
            "fstype": st.sampled_from([None, "ext4", "xfs", "crypto_LUKS"]),
            "uuid": st.sampled_from([None, "1"]),
            "table": st.sampled_from([None, "gpt"]), "zeros": st.sampled_from([True, False, None]),
        }
    )
)  # fmt: skip
def test_only_what_everybody_calls_empty_is_ever_formatted(seen: dict[str, Any]) -> None:
    mount = plan(attached(**seen))["mount"]
    if mount and mount["format"]:
        assert all(seen[key] == [] for key in ("partitions", "holders", "mounted", "signatures"))
        assert not any(seen[key] for key in ("swap", "busy", "fstype", "table"))
        assert seen["zeros"] is True


def test_without_the_tool_nothing_is_formatted() -> None:
    found = attached()
    found["programs"]["mkfs.xfs"] = None
    assert "Install xfsprogs" in plan(found, filesystem="xfs")["refusal"]


def test_mounted_there_already_and_in_fstab_there_is_nothing_to_do() -> None:
    found = host(
        device={**DEVICE, "mounted": ["/mnt/persist"], "busy": "busy", "uuid": "1", "fstype": "ext4"}
    )
    found["fstab"] = [
        {"spec": "UUID=1", "path": "/mnt/persist", "fstype": "ext4", "line": "UUID=1 /mnt/persist ext4"}
    ]
    assert plan(found) == {"refusal": "", "mount": None}
    found["fstab"] = []
    assert plan(found)["mount"]["line"]
    assert not plan(found)["mount"]["now"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {
                "fstab": [
                    {"spec": "UUID=9", "path": "/mnt/persist", "fstype": "xfs", "line": "UUID=9 /mnt/persist"}
                ]
            },
            "`UUID=9 /mnt/persist`",
        ),
        ({"mount": {"exact": True, "source": "/dev/vdc"}}, "/dev/vdc is mounted at /mnt/persist"),
        ({"path": {"exists": True, "folder": True, "entries": 3}}, "is not an empty folder"),
    ],
)
def test_a_place_that_is_taken_is_refused(more: dict[str, Any], said: str) -> None:
    found = attached()
    for name, value in more.items():
        found[name] = {**found[name], **value} if isinstance(value, dict) else value
    assert said in plan(found)["refusal"]


@pytest.mark.parametrize(
    ("mount", "said"),
    [
        ({"exact": False, "source": "/dev/vda"}, "would fill the system's own disk"),
        ({"options": ["ro"]}, "read-only"),
        ({"fstype": "tmpfs"}, "gone at the next boot"),
        ({"fstype": "overlay"}, "overlay on overlay"),
        ({"fstype": "nfs4"}, "network file system"),
        ({"fstype": "fuse.s3fs"}, "of a program's"),
        ({"fstype": "fuseblk"}, "ntfs"),
        ({"fstype": "vfat"}, "neither owners nor links"),
        ({"fstype": "bcachefs"}, "not known whether overlay2 works"),
        ({"fstype": "xfs", "ftype": False}, "ftype=1"),
        ({"options": ["rw", "noexec", "nodev"]}, "noexec and nodev"),
    ],
)
def test_a_mount_that_cannot_serve_docker_is_refused_with_the_reason(
    mount: dict[str, Any], said: str
) -> None:
    assert said in plan(host(mount=mount))["refusal"]


@pytest.mark.parametrize(
    "mount", [{}, {"fstype": "xfs", "ftype": True}, {"fstype": "xfs"}, {"fstype": "btrfs"}]
)
def test_a_mount_that_can_serve_is_taken(mount: dict[str, Any]) -> None:
    assert plan(host(mount=mount)) == {"refusal": "", "mount": None}


def test_folders_alone_may_lie_on_a_network_disk() -> None:
    assert plan(host(mount={"fstype": "nfs4"}), docker=False)["refusal"] == ""


def test_a_plain_folder_may_be_meant() -> None:
    assert plan(host(mount={**ROOT_DISK}), require_mount=False)["refusal"] == ""
