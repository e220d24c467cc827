"""What stands in the way of a change, as the host itself shows it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from plugins.module_utils.gpu_host_pending import cloud_init, file_systems, held_locks, pending
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

GIGA = 1_000_000_000
ROOM = {"bytes": 40 * GIGA, "free": 20 * GIGA, "inodes": 2_000_000, "inodes_free": 1_900_000}


@pytest.mark.parametrize(
    ("rc", "said", "status"),
    [
        (0, "status: running", "running"),
        (0, "status: not run", "not run"),
        (0, "status: done\nextended_status: done\nboot_status_code: enabled\ndetail: DataSource", "done"),
        (2, "status: done\nextended_status: degraded done\nerrors: []\nrecoverable_errors:\n", "degraded"),
        (2, "status: done", "degraded"),
        (1, "status: error\ndetail:\n('scripts_user', RuntimeError())", "error"),
        (0, "status: disabled", "disabled"),
        (None, "cloud-init: no answer within 10 s", "unknown"),
    ],
)  # fmt: skip
def test_b6_cloud_init(tmp_path: Path, rc: int | None, said: str, status: str) -> None:
    commands = {"cloud-init status": (rc, said)}
    found = cloud_init(Machine(tmp_path, {}, commands))  # type: ignore[arg-type]
    assert found is not None
    assert found["status"] == status


def test_b6_cloud_init_is_not_installed(tmp_path: Path) -> None:
    assert cloud_init(Machine(tmp_path, {}, {})) is None


def locked(tmp_path: Path, path: str, comm: str, cmdline: str = "") -> Machine:
    files = {path: "", "/proc/4711/comm": f"{comm}\n", "/proc/4711/cmdline": cmdline}
    look = Machine(tmp_path, files, {})
    rows = [
        "1: POSIX  ADVISORY  WRITE 99 00:1a:1 0 EOF",
        f"2: POSIX  ADVISORY  WRITE 4711 fe:01:{look.inode(path)} 0 EOF",
        "2: -> POSIX  ADVISORY  WRITE 4712 fe:01:5 0 EOF",
        "nonsense",
    ]
    look.at("/proc/locks").write_text("\n".join(rows), encoding="utf-8")
    return look


@pytest.mark.parametrize(
    "path", ["/var/lib/dpkg/lock-frontend", "/var/lib/apt/lists/lock", "/var/lib/rpm/.rpm.lock"]
)
def test_b6_the_lock_s_holder_is_named(tmp_path: Path, path: str) -> None:
    command = "/usr/bin/python3\0/usr/bin/unattended-upgrade\0--download-only\0"
    found = held_locks(locked(tmp_path, path, "unattended-upgr", command))
    assert found == [{"path": path, "pid": 4711, "holder": "unattended-upgrade"}]


def test_b6_a_holder_without_a_script_is_its_program(tmp_path: Path) -> None:
    found = held_locks(locked(tmp_path, "/var/lib/dpkg/lock", "apt-get", "apt-get\0install\0x\0"))
    assert [lock["holder"] for lock in found] == ["apt-get"]


def test_b6_dnf_s_own_lock_counts_while_its_process_lives(tmp_path: Path) -> None:
    files = {
        "/var/cache/dnf/metadata_lock.pid": "4711",
        "/proc/4711/comm": "dnf\n",
        "/var/lib/dnf/rpmdb_lock.pid": "99",
    }
    found = held_locks(Machine(tmp_path, files, {}))
    assert [(lock["holder"], lock["pid"]) for lock in found] == [("dnf", 4711)]


def test_b6_a_lock_file_that_nobody_holds_is_no_lock(tmp_path: Path) -> None:
    files = {"/var/lib/dpkg/lock-frontend": "", "/proc/locks": "1: POSIX ADVISORY WRITE 9 00:1a:1 0 EOF\n"}
    assert held_locks(Machine(tmp_path, files, {})) == []


def test_c4_half_configured_packages_are_others_or_ours(tmp_path: Path) -> None:
    rows = (
        "ii  bash\niF  mariadb-server\niU  docker.io:amd64\nit  man-db\nrc  old\nhi  kept\niHR broken\nun  x"
    )
    owned = {"schema": 1, "roles": {"docker_engine": {"packages": ["docker.io"]}}}
    look = Machine(
        tmp_path, {"/var/lib/gpu-host/owned.json": json.dumps(owned)}, {"dpkg-query --show": (0, rows)}
    )
    found = pending(look)
    assert found["half_configured"] == ["broken", "mariadb-server"]
    assert found["half_configured_ours"] == ["docker.io"]


MOUNTS = (
    "28 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
    "29 28 253:2 / /boot rw - ext4 /dev/vda2 rw\n"
    "30 28 253:3 / /srv/my\\040disk rw - xfs /dev/vdb rw\n"
    "31 28 253:4 / /usr ro - erofs /dev/vdc ro\n"
    "short\n"
)


def test_i3_each_file_system_once_with_what_goes_there(tmp_path: Path) -> None:
    files = {
        "/proc/self/mountinfo": MOUNTS,
        "/etc/docker/daemon.json": '{"data-root": "/srv/my disk/docker"}',
    }
    spaces = dict.fromkeys(["/", "/boot", "/srv/my disk", "/usr"], ROOM)
    found = {row["mount"]: row for row in file_systems(Machine(tmp_path, files, {}, spaces))}
    assert set(found) == {"/", "/boot", "/srv/my disk", "/usr"}
    assert found["/srv/my disk"]["images"]
    assert not found["/"]["images"]
    assert found["/usr"]["read_only"]
    assert {"/", "/var"} <= set(found["/"]["paths"])
    assert found["/"]["free"] == 20 * GIGA


@pytest.mark.parametrize("text", ["", "{", "[]", '{"data-root": 3}', '{"data-root": "relative"}'])
def test_i3_a_damaged_daemon_json_leaves_the_usual_place(tmp_path: Path, text: str) -> None:
    files = {"/proc/self/mountinfo": MOUNTS, "/etc/docker/daemon.json": text}
    found = file_systems(Machine(tmp_path, files, {}, {"/": ROOM}))
    assert [row["mount"] for row in found if row["images"]] == ["/"]


def test_b6_sources_hosts_and_components(tmp_path: Path) -> None:
    files = {
        "/etc/apt/sources.list": "deb [arch=amd64 signed-by=/x] http://mirror.example/debian trixie main "
        "non-free\n"
        "# deb http://gone.example/ x y\n",
        "/etc/apt/sources.list.d/a.sources": "Types: deb\nURIs: "
        "https://user:pw@other.example/debian\nSuites: trixie\n"
        "Components: main non-free-firmware\n",
        "/etc/apt/sources.list.d/a.list.save": "deb http://ignored.example/ x main\n",
        "/etc/yum.repos.d/r.repo": "[r]\nbaseurl=https://rpm.example/el9\n",
    }
    found = pending(Machine(tmp_path, files, {}))
    assert found["source_hosts"] == ["mirror.example", "other.example", "rpm.example"]
    assert found["components"] == ["main", "non-free", "non-free-firmware"]
    assert "pw" not in json.dumps(found)


@pytest.mark.parametrize(
    ("path", "text", "there"),
    [
        ("/etc/apt/apt.conf.d/90proxy", 'Acquire::http::Proxy "http://p:3128";', True),
        ("/etc/dnf/dnf.conf", "[main]\nproxy=http://p:3128\n", True),
        ("/etc/environment", "https_proxy=http://p:3128\n", True),
        ("/etc/dnf/dnf.conf", "[main]\nproxy=\n", False),
        ("/etc/apt/apt.conf.d/90proxy", '// Acquire::http::Proxy "http://p:3128";', False),
    ],
)
def test_a_proxy_resolves_names_itself(tmp_path: Path, path: str, text: str, *, there: bool) -> None:
    assert pending(Machine(tmp_path, {path: text}, {}))["proxy"] is there


def test_b1_other_entries_for_the_toolkit_are_found_before_any_apt(tmp_path: Path) -> None:
    lists = "/etc/apt/sources.list.d"
    files = {
        f"{lists}/nvidia-docker.list": "deb https://nvidia.github.io/libnvidia-container/deb/amd64 /\n",
        f"{lists}/off.list": "# deb https://nvidia.github.io/libnvidia-container/stable/deb/amd64 /\n",
        f"{lists}/nvidia-docker.list.save": "deb https://nvidia.github.io/nvidia-docker/debian10/amd64 /\n",
        f"{lists}/nvidia-container-toolkit.sources": "URIs: https://nvidia.github.io/libnvidia-container\n",
        "/etc/yum.repos.d/old.repo": "[old]\nbaseurl=https://nvidia.github.io/nvidia-docker/centos7/x86_64\n",
    }
    found = pending(Machine(tmp_path, files, {}))
    assert found["toolkit_sources"] == [f"{lists}/nvidia-docker.list", "/etc/yum.repos.d/old.repo"]


def test_names_are_resolved_within_a_limit(tmp_path: Path) -> None:
    look = Machine(tmp_path, {}, {})
    assert look.resolves(["localhost"]) == {"localhost": True}
    assert look.resolves(["no-such-host.invalid"], 5.0) == {"no-such-host.invalid": False}
    assert look.resolves([]) == {}
    assert look.resolves(["localhost"], -1.0).keys() == {"localhost"}
