"""What is mounted where, the lines of fstab, and what Docker's file becomes: pure, on recorded text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils.gpu_host_storage_config import with_root, without_root
from plugins.module_utils.gpu_host_storage_mounts import (
    below,
    fstab,
    holding,
    mounts,
    with_line,
    without_line,
)

TABLE = r"""590 472 0:133 / / rw,relatime master:150 - overlay overlay rw,lowerdir=/l
608 590 254:16 / /mnt/my\040disk rw,nodev shared:1 master:2 - ext4 /dev/vdb rw
609 608 254:16 /docker /mnt/my\040disk/docker rw - ext4 /dev/vdb rw
700 590 0:50 / /mnt/my\040disk rw - tmpfs none rw
a line that is none
"""
FSTAB = (
    'proc /proc proc defaults 0 0\n# UUID=1 /old ext4\nUUID="1-2" /mnt/my\\040disk xfs defaults,nofail 0 2\n'
)


def test_the_kernels_table_is_read_with_its_escapes() -> None:
    disk = mounts(TABLE)[1]
    assert (disk["target"], disk["device"], disk["fstype"]) == ("/mnt/my disk", "254:16", "ext4")
    assert "nodev" in disk["options"]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/my disk", "tmpfs"),
        ("/mnt/my disk/docker/x", "ext4"),
        ("/mnt/my diskette", "overlay"),
        ("/", "overlay"),
    ],
)
def test_the_last_and_longest_mount_holds_a_path(path: str, kind: str) -> None:
    held = holding(mounts(TABLE), path)
    assert held is not None
    assert held["fstype"] == kind


def test_without_a_table_nothing_holds() -> None:
    assert holding(mounts(""), "/mnt") is None


def test_what_is_mounted_below_is_named_once_and_not_the_place_itself() -> None:
    assert below(mounts(TABLE), "/mnt/my disk") == ["/mnt/my disk/docker"]


def test_fstab_is_read_without_comments_and_quotes() -> None:
    assert [(each["spec"], each["path"]) for each in fstab(FSTAB)] == [
        ("proc", "/proc"),
        ("UUID=1-2", "/mnt/my disk"),
    ]


@given(st.text(alphabet="ab #\t\n", max_size=40))
def test_a_line_put_in_and_taken_out_leaves_the_rest(text: str) -> None:
    line = "UUID=7 /mnt/persist ext4 defaults,nofail 0 2"
    assert without_line(with_line(text, line), line) == (
        text if not text or text.endswith("\n") else text + "\n"
    )
    assert line in with_line(text, line).splitlines()


@given(
    plain=st.dictionaries(st.sampled_from(["debug", "log-level", "runtimes"]), st.integers()),
    features=st.sampled_from([{}, {"features": {}}, {"features": {"cdi": True}}]),
    graph=st.booleans(),
)
def test_what_is_set_in_dockers_file_comes_out_again(
    plain: dict[str, Any], features: dict[str, Any], *, graph: bool
) -> None:
    before = {**plain, **features}
    after = with_root(before, "/f", "/v/docker", graph=graph)
    store = ("made" if "features" not in before else "added") if graph else None
    assert after["data-root"] == "/v/docker"
    assert without_root(after, "/f", {"set": "/v/docker", "before": None, "store": store}) == before


def test_a_store_that_the_user_chose_is_kept() -> None:
    chosen = {"features": {"containerd-snapshotter": True}}
    assert with_root(chosen, "/f", "/v", graph=True)["features"] == chosen["features"]
