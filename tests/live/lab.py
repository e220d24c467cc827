"""A simulated host with a real Docker, for tests that run the role on it and look at what is left.

Named by GPU_HOST_TEST_SSH_CONFIG, GPU_HOST_TEST_HOST and GPU_HOST_INVENTORY. Its Docker is restarted several
times; what was in /etc/docker, in the unit's drop-ins and in the ownership file comes back at the end.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PLAY = "- {hosts: all, gather_facts: false, become: true, roles: [docker_nvidia_runtime]}\n"
FILE = "/etc/docker/daemon.json"
# Nothing here takes longer than a few seconds: what does, hangs.
LIMIT_S = 60
SAVE = """
[ -e /etc/gpu-host/simulated ] || { echo "this host is not a simulated one" >&2; exit 1; }
# A run that was killed left the host's own files here: they are the ones to bring back.
! [ -d /root/test-daemon-json ] || exit 0
mkdir /root/test-daemon-json
! [ -d /etc/docker ] || cp -a /etc/docker /root/test-daemon-json/etc
! [ -e /etc/default/docker ] || cp -a /etc/default/docker /root/test-daemon-json/default
! [ -e /var/lib/gpu-host/owned.json ] || cp -a /var/lib/gpu-host/owned.json /root/test-daemon-json/
"""
NO_DROP_IN = """if [ -e /etc/systemd/system/docker.service.d/try.conf ]; then
  rm -r /etc/systemd/system/docker.service.d; systemctl daemon-reload
fi"""
RESTART = "systemctl reset-failed docker docker.socket; systemctl restart docker"
RESTORE = f"""
rm -rf /etc/docker /var/lib/gpu-host/owned.json /etc/default/docker
{NO_DROP_IN}
! [ -e /root/test-daemon-json/default ] || cp -a /root/test-daemon-json/default /etc/default/docker
! [ -d /root/test-daemon-json/etc ] || cp -a /root/test-daemon-json/etc /etc/docker
! [ -e /root/test-daemon-json/owned.json ] || cp -a /root/test-daemon-json/owned.json /var/lib/gpu-host/
rm -rf /root/test-daemon-json
{RESTART}
"""
# A Docker that has loaded no file at all, and nothing that this role remembers.
BARE = f"""
owned=/var/lib/gpu-host/owned.json
{NO_DROP_IN}
rm -f /etc/default/docker /etc/docker/other.json*
rm -rf /etc/docker/daemon.json*
[ ! -e $owned ] || sed -i s/docker_nvidia_runtime/someone_else/ $owned
"""

# An image of the host's own programs: nothing is pulled.
IMAGE = """
files=$(ldd /usr/bin/sleep /usr/bin/nvidia-smi | grep -o '/lib[^ ]*' | sort -u | cut -c2-)
tar -C / -ch usr/bin/sleep usr/bin/dash $files --transform 's#usr/bin/dash#bin/sh#' |
  docker import - gpu-host-test-live
"""


@dataclass(frozen=True)
class Ran:
    """One run of the role: Ansible's exit status, the module's result, everything that was printed."""

    status: int
    result: dict[str, Any]
    printed: str


@dataclass(frozen=True)
class Host:
    """The host by SSH, and the role run on it."""

    name: str
    ssh_config: str
    inventory: str
    play: Path
    sockets: str

    def sh(self, script: str) -> str:
        done = subprocess.run(
            ["ssh", "-F", self.ssh_config, self.name, "sudo", "sh", "-es"],
            input=script, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{script}: {done.stderr}"
        return done.stdout

    def has(self, text: str) -> None:
        encoded = base64.b64encode(text.encode()).decode()
        self.sh(f"{BARE}\nmkdir -p /etc/docker; echo '{encoded}' | base64 -d > {FILE}")

    def bytes(self) -> str:
        return base64.b64decode(self.sh(f"base64 {FILE}")).decode()

    def files(self) -> list[str]:
        return self.sh("ls /etc/docker | grep daemon.json || true").split()

    def started(self) -> str:
        """Tell one start of Docker from the next."""
        return self.sh("systemctl show --value -p MainPID -p ActiveEnterTimestampMonotonic docker.service")

    def info(self) -> dict[str, Any]:
        info: dict[str, Any] = json.loads(self.sh("timeout 10 docker info --format '{{json .}}'"))
        return info

    def role(self, *arguments: str, **values: Any) -> Ran:
        ansible_playbook = Path(sys.executable).with_name("ansible-playbook")
        settings = {
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_STDOUT_CALLBACK": "ansible.posix.json",
            # Ansible names its sockets by the alias, which hosts of other inventories have too.
            "ANSIBLE_SSH_CONTROL_PATH_DIR": self.sockets,
        }
        done = subprocess.run(
            [ansible_playbook, "-i", self.inventory, "-l", self.name, self.play, *arguments,
             "-e", json.dumps(values)],
            cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False,
            env={**os.environ, **settings},
        )  # fmt: skip
        assert done.stdout.lstrip().startswith("{"), done.stdout + done.stderr
        tasks = json.loads(done.stdout)["plays"][0]["tasks"]
        ours = [task for task in tasks if task["task"]["name"].endswith("NVIDIA's runtime in Docker")]
        result: dict[str, Any] = (ours or tasks)[-1]["hosts"][self.name]
        return Ran(done.returncode, result, done.stdout + done.stderr)


def named(folder: str) -> Host:
    """Return the host that the environment names; the folder, of a short path, is for its sockets."""
    wanted = ("GPU_HOST_TEST_HOST", "GPU_HOST_TEST_SSH_CONFIG", "GPU_HOST_INVENTORY")
    missing = [variable for variable in wanted if variable not in os.environ]
    if missing:
        pytest.fail(f"needed are the variables {', '.join(wanted)}; not set: {', '.join(missing)}")
    name, ssh_config, inventory = (os.environ[variable] for variable in wanted)
    return Host(name, ssh_config, inventory, Path(folder, "play.yml"), folder)


@contextlib.contextmanager
def reach() -> Iterator[Host]:
    """Give the host, its own files put aside; they come back afterwards."""
    # Sockets' paths may have about 100 characters: pytest's folders are too long for that.
    with tempfile.TemporaryDirectory(prefix="gh-") as folder:
        host = named(folder)
        host.play.write_text(PLAY, encoding="utf-8")
        host.sh(SAVE)
        yield host
        host.sh(RESTORE)
