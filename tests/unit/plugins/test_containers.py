"""Containers told apart from machines, by what each technique really leaves to be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from plugins.module_utils.gpu_host_machine import container_of, kind_of, machine, missing_capabilities
from tests.unit.plugins.machines import Machine

if TYPE_CHECKING:
    from pathlib import Path

DOCKER_ROOT = (
    "286 168 0:81 / / rw,relatime master:61 - overlay overlay "
    "rw,lowerdir=/var/lib/docker/overlay2/l/BYKN,upperdir=/var/lib/docker/overlay2/181/diff\n"
    "304 286 254:0 /var/lib/docker/containers/e727/hostname /etc/hostname rw,relatime - ext4 /dev/vda rw\n"
)
CONTAINERD_ROOT = (
    "612 498 0:301 / / rw,relatime - overlay overlay rw,lowerdir=/var/lib/containerd/"
    "io.containerd.snapshotter.v1.overlayfs/snapshots/12/fs,upperdir=/x\n"
)
POD_FILES = (
    "640 612 259:1 /var/lib/kubelet/pods/8c1f/etc-hosts /etc/hosts rw,relatime - ext4 /dev/nvme0n1p1 rw\n"
)
PODMAN_ROOT = (
    "511 402 0:88 / / rw,relatime - overlay overlay "
    "rw,lowerdir=/home/u/.local/share/containers/storage/overlay/l/AB,upperdir=/x\n"
)
LXC_ROOT = (
    "380 241 0:49 /lxc/vm/rootfs / rw,relatime - zfs rpool rw\n"
    "397 389 0:52 /proc/meminfo /proc/meminfo rw,nosuid - fuse.lxcfs lxcfs rw\n"
)
VM_ROOT = "28 1 253:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard\n"
# A host with Docker, Podman and LXC on it: their mounts are below their own folders, never its root.
BUSY_ROOT = (
    VM_ROOT
    + "90 28 0:60 / /var/lib/docker/overlay2/ab/merged rw - overlay overlay rw,lowerdir=/var/lib/docker/x\n"
    + "91 28 0:61 / /var/lib/lxcfs rw - fuse.lxcfs lxcfs rw\n"
)
V2 = "0::/\n"
FULL, DOCKERS = "000001ffffffffff", "00000000a80425fb"
# name: container, kind, files
MACHINES: dict[str, tuple[str | None, str, dict[str, str]]] = {
    "docker, cgroup v1": (
        "docker",
        "rented-container",
        {"/proc/1/cgroup": "5:devices:/docker/e727\n", "/proc/self/mountinfo": DOCKER_ROOT},
    ),
    "docker, cgroup v2": (
        "docker",
        "rented-container",
        {"/proc/1/cgroup": V2, "/proc/self/mountinfo": DOCKER_ROOT},
    ),
    "docker by its mark": ("docker", "rented-container", {"/.dockerenv": "", "/proc/1/cgroup": V2}),
    "podman by its mark": ("podman", "rented-container", {"/run/.containerenv": "engine=podman\n"}),
    "podman, rootless": (
        "podman",
        "rented-container",
        {"/proc/1/cgroup": V2, "/proc/self/mountinfo": PODMAN_ROOT},
    ),
    "podman, cgroup v1": (
        "podman",
        "rented-container",
        {"/proc/1/cgroup": "5:devices:/machine.slice/libpod-9d.scope\n"},
    ),
    "containerd": (
        "containerd",
        "rented-container",
        {"/proc/1/cgroup": V2, "/proc/self/mountinfo": CONTAINERD_ROOT},
    ),
    "a pod": (
        "kubernetes",
        "rented-container",
        {"/proc/1/cgroup": "5:devices:/kubepods/besteffort/pod8c1f/12\n"},
    ),
    "a pod, cgroup v2": (
        "kubernetes",
        "rented-container",
        {"/proc/1/cgroup": V2, "/proc/self/mountinfo": CONTAINERD_ROOT + POD_FILES},
    ),
    "RunPod": (
        "docker",
        "rented-container",
        {
            "/proc/1/cgroup": V2,
            "/proc/self/mountinfo": DOCKER_ROOT,
            "/proc/self/status": f"CapEff:\t{DOCKERS}\n",
        },
    ),
    "lxc": (
        "lxc",
        "system-container",
        {
            "/run/systemd/system/x": "",
            "/proc/1/cgroup": V2,
            "/proc/1/environ": "container=lxc\0",
            "/proc/self/mountinfo": LXC_ROOT,
        },
    ),
    "lxc that hides its name": (
        "lxc",
        "system-container",
        {"/run/systemd/system/x": "", "/proc/1/cgroup": V2, "/proc/self/mountinfo": LXC_ROOT},
    ),
    "a real VM": (
        None,
        "rented",
        {
            "/proc/1/cgroup": "0::/init.scope\n",
            "/proc/self/mountinfo": VM_ROOT,
            "/run/systemd/system/x": "",
            "/proc/cpuinfo": "flags : fpu hypervisor\n",
            "/proc/self/status": f"CapEff:\t{FULL}\n",
        },
    ),
    "a lab host full of containers": (
        None,
        "lab",
        {
            "/proc/1/cgroup": "0::/init.scope\n",
            "/proc/self/mountinfo": BUSY_ROOT,
            "/run/systemd/system/x": "",
        },
    ),
}


@pytest.mark.parametrize("name", MACHINES)
def test_i1_the_offer_is_a_container_or_a_machine(tmp_path: Path, name: str) -> None:
    container, kind, files = MACHINES[name]
    look = Machine(tmp_path, files, {})
    assert (container_of(look), kind_of(look)[0]) == (container, kind)


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        (f"CapEff:\t{FULL}", []),
        (f"CapEff:\t{DOCKERS}", ["SYS_MODULE", "SYS_ADMIN"]),
        ("CapEff:\t0000000000200000", ["SYS_MODULE"]),
        ("CapEff:\tnonsense", []),
        ("CapEff:", []),
        ("", []),
    ],
)
def test_i1_what_a_container_may_not_do(tmp_path: Path, line: str, missing: list[str]) -> None:
    look = Machine(tmp_path, {"/proc/self/status": f"Name:\tpython3\n{line}\n", "/.dockerenv": ""}, {})
    assert missing_capabilities(look) == missing
    assert all(name in kind_of(look)[1] for name in missing)


def test_g3_systemd_is_seen_by_its_folder(tmp_path: Path) -> None:
    without = machine(Machine(tmp_path / "a", {"/.dockerenv": ""}, {}), uid=0, architecture="x86_64")
    booted = machine(
        Machine(tmp_path / "b", {"/.dockerenv": "", "/run/systemd/system/x": ""}, {}),
        uid=0,
        architecture="x86_64",
    )
    assert (without["systemd"], without["kind"]) == (False, "rented-container")
    assert (booted["systemd"], booted["kind"]) == (True, "system-container")


@pytest.mark.parametrize("kernel", ["5.15.153.1-microsoft-standard-WSL2", "4.4.0-19041-Microsoft"])
def test_f4_wsl_by_its_kernel(tmp_path: Path, kernel: str) -> None:
    files = {"/proc/sys/kernel/osrelease": f"{kernel}\n", "/run/systemd/system/x": ""}
    assert kind_of(Machine(tmp_path, files, {}))[0] == "wsl"


def test_boards_nodes_and_appliances(tmp_path: Path) -> None:
    files = {
        "/proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0",
        "/etc/kubernetes/kubelet.conf": "apiVersion: v1\n",
        "/etc/dgx-release": 'DGX_PRETTY_NAME="NVIDIA DGX Server"\nDGX_SWBUILD_VERSION="7.2.0"\n',
    }
    found = machine(Machine(tmp_path / "a", files, {}), uid=0, architecture="aarch64")
    assert found["jetson"] == "NVIDIA Jetson AGX Orin Developer Kit"
    assert found["kubernetes"] == "/etc/kubernetes/kubelet.conf exists"
    assert found["dgx"] == "NVIDIA DGX Server 7.2.0"
    none = machine(Machine(tmp_path / "b", {}, {}), uid=0, architecture="x86_64")
    assert (none["jetson"], none["kubernetes"], none["dgx"]) == (None, None, None)
    old = Machine(tmp_path / "c", {"/etc/nv_tegra_release": "# R35\n"}, {})
    assert machine(old, uid=0, architecture="aarch64")["jetson"] == "/etc/nv_tegra_release exists"
