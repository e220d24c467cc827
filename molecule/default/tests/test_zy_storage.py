"""A volume for what is to outlive the host: a real block device, formatted, mounted, moved to, adopted.

Named to run late: Docker's data goes to the volume and comes back, and the host is as it was.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lab
import pytest

Host = Any
PATH = "/mnt/gpu-host-volume"
DEVICE = "/dev/disk/by-id/simulated-volume"
IMAGE = "/srv/simulated-volume.img"
ON_IT = ("-e", f"gpu_storage_path={PATH}", "-e", f"gpu_storage_device={DEVICE}")
PLAY = """
- hosts: gpu_hosts
  gather_facts: false
  become: true
  roles: [gpu_storage]
"""
# A device of the kernel's, on a file. What formats it, and the nodes that udev would make, this host lacks.
ATTACH = f"""
set -e
command -v mkfs.ext4 > /dev/null || {{ apt-get update -qq; apt-get install -y -qq e2fsprogs; }} > /dev/null
[ -e /dev/loop-control ] || mknod /dev/loop-control c 10 237
truncate -s 8G {IMAGE}
loop=$(losetup -f); loop=${{loop%% *}}
[ -e "$loop" ] || mknod "$loop" b 7 "${{loop#/dev/loop}}"
losetup "$loop" {IMAGE}
mkdir -p /dev/disk/by-id
ln -sfn "$loop" {DEVICE}
"""
DETACH = f"losetup -d $(readlink -f {DEVICE}); rm -rf {IMAGE} {DEVICE}; apt-get purge -y -qq e2fsprogs"
# As soon as the copy is under way its process goes, and the one that waits for it.
KILL = f"""
find_copy() {{ pid=$(pgrep -f "^[a-z/]*(cp|rsync) .*{PATH}/docker.part" | head -n 1) && [ -n "$pid" ]; }}
until find_copy; do sleep 0.02; done
sleep 0.3
kill -9 "$(ps -o ppid= -p "$pid" | tr -d ' ')" "$pid"
"""
# What an instance has that has not run anything yet, while the old things wait aside.
ASIDE = """
systemctl stop docker.socket docker.service && mkdir /var/lib/docker/aside
find /var/lib/docker -mindepth 1 -maxdepth 1 ! -name aside -exec mv -t /var/lib/docker/aside {} +
systemctl start docker
"""
BACK = """
systemctl stop docker.socket docker.service
find /var/lib/docker -mindepth 1 -maxdepth 1 ! -name aside -exec rm -rf {} +
find /var/lib/docker/aside -mindepth 1 -maxdepth 1 -exec mv -t /var/lib/docker {} +
rmdir /var/lib/docker/aside && systemctl reset-failed docker && systemctl start docker
"""


@dataclass(frozen=True)
class Volume:
    """The host with a volume attached, and the role alone."""

    host: Host
    playbook: Path
    images: str

    def role(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return lab.play(self.playbook, *arguments)

    def root(self) -> str:
        return str(self.host.check_output("docker info --format '{{.DockerRootDir}}'"))


def images(host: Host) -> str:
    return str(
        host.check_output("docker image ls --all --no-trunc --format '{{.Repository}}:{{.Tag}} {{.ID}}'")
    )


def changed(done: subprocess.CompletedProcess[str], name: str) -> str:
    recap = next(line for line in done.stdout.splitlines() if line.startswith(name) and "changed=" in line)
    return recap.split("changed=")[1].split()[0]


@pytest.fixture(scope="module")
def volume(host: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Volume]:
    playbook = tmp_path_factory.mktemp("storage") / "storage.yml"
    playbook.write_text(PLAY, encoding="utf-8")
    daemon = host.file("/etc/docker/daemon.json").content_string
    attached = host.run(ATTACH)
    assert attached.rc == 0, attached.stderr
    found = Volume(host, playbook, images(host))
    try:
        yield found
        done = found.role("-e", "gpu_storage_state=absent")
        assert done.returncode == 0, done.stdout[-3000:]
        # As later tests, and the user, had it.
        assert host.file("/etc/docker/daemon.json").content_string == daemon
        assert found.root() == "/var/lib/docker"
        assert images(host) == found.images
        assert PATH not in host.file("/etc/fstab").content_string
        for path in (PATH, "/etc/profile.d/gpu-host-storage.sh", "/etc/systemd/system/docker.service.d"):
            assert not host.file(path).exists
    finally:
        host.run(DETACH)


def test_a_dry_run_says_so_and_changes_nothing(volume: Volume, name: str) -> None:
    done = volume.role("--check", *ON_IT)
    assert done.returncode == 0, done.stdout[-3000:]
    assert changed(done, name) == "1"
    assert not volume.host.file(PATH).exists
    assert volume.host.run(f"blkid -p {DEVICE}").stdout == ""


def test_killed_in_the_middle_of_the_copy_and_run_again_it_ends_the_same(volume: Volume) -> None:
    killer = threading.Thread(target=volume.host.run, args=(KILL,), daemon=True)
    killer.start()
    done = volume.role(*ON_IT)
    killer.join(timeout=lab.LIMIT_S)
    assert done.returncode != 0
    noted = json.loads(volume.host.file("/var/lib/gpu-host/owned.json").content_string)["roles"][
        "gpu_storage"
    ]
    assert noted["settings"]["moving"]["to"] == f"{PATH}/docker"
    # Nothing points to half a copy.
    assert "data-root" not in volume.host.file("/etc/docker/daemon.json").content_string
    assert not volume.host.file(f"{PATH}/docker").exists
    assert volume.host.file(f"{PATH}/docker.part").exists
    again = volume.role(*ON_IT)
    assert again.returncode == 0, again.stdout[-3000:]
    assert volume.root() == f"{PATH}/docker"
    assert images(volume.host) == volume.images
    assert not volume.host.file(f"{PATH}/docker.part").exists


def test_the_proof_still_passes_and_nothing_is_brought_again(
    volume: Volume, name: str, tmp_path: Path
) -> None:
    since = volume.host.check_output("date +%s")
    provisioned = lab.play("provision", *ON_IT)
    assert provisioned.returncode == 0, provisioned.stdout[-3000:]
    assert changed(provisioned, name) == "0"
    done = lab.verify(tmp_path)
    assert done.returncode == 0, done.stdout[-3000:]
    failed = [f["id"] for f in lab.findings(tmp_path / name) if f["status"] == "fail"]
    assert failed == ["framework.cpu-build"]
    brought = "docker events --since %s --until $(date +%%s) --filter event=pull --filter event=load"
    assert volume.host.run(brought % since).stdout == ""


def test_users_find_the_caches_on_the_volume(volume: Volume) -> None:
    said = volume.host.check_output("sh -lc 'echo $HF_HOME $HF_TOKEN_PATH $PIP_CACHE_DIR'")
    assert said.split() == [f"{PATH}/huggingface", "/root/.cache/huggingface/token", f"{PATH}/pip/root"]
    assert volume.host.file(f"{PATH}/datasets").mode == 0o1777


def test_data_on_both_sides_is_refused_and_neither_touched(volume: Volume) -> None:
    assert volume.role("-e", "gpu_storage_state=absent").returncode == 0
    done = volume.role(*ON_IT)
    assert done.returncode != 0
    assert "one is never copied over the other" in " ".join(done.stdout.split())
    assert volume.root() == "/var/lib/docker"
    assert images(volume.host) == volume.images


def test_an_instance_without_data_starts_on_what_the_volume_has(volume: Volume, name: str) -> None:
    known = volume.host.check_output(f"blkid -p -s UUID -o value {DEVICE}")
    # Mounted by the refused run: this instance has it attached and no more.
    assert volume.role("-e", "gpu_storage_state=absent").returncode == 0
    volume.host.run_expect([0], ASIDE)
    try:
        assert images(volume.host) == ""
        done = volume.role(*ON_IT)
        assert done.returncode == 0, done.stdout[-3000:]
        assert images(volume.host) == volume.images
        assert volume.host.check_output(f"blkid -p -s UUID -o value {DEVICE}") == known
        second = volume.role(*ON_IT)
        assert changed(second, name) == "0"
        assert volume.role("-e", "gpu_storage_state=absent").returncode == 0
    finally:
        volume.host.run_expect([0], BACK)


def test_a_device_with_anything_on_it_is_never_formatted(volume: Volume) -> None:
    volume.host.run_expect([0], f"wipefs -aq {DEVICE}")
    before = volume.host.check_output(f"dd if={DEVICE} bs=1M count=64 status=none | sha256sum")
    done = volume.role(*ON_IT)
    assert done.returncode != 0
    assert "something was written there" in " ".join(done.stdout.split())
    assert volume.host.check_output(f"dd if={DEVICE} bs=1M count=64 status=none | sha256sum") == before
    assert not volume.host.file(PATH).exists
