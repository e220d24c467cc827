"""Field cases A1 to A3 on a host with a real Docker: the role as a user runs it, and what is left.

Needs a simulated host, named by GPU_HOST_TEST_SSH_CONFIG, GPU_HOST_TEST_HOST and GPU_HOST_INVENTORY: its
Docker is restarted several times. What was in /etc/docker and in the ownership file comes back at the end.
"""

from __future__ import annotations

import base64
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
THEIRS: dict[str, Any] = {
    "log-driver": "json-file",
    "log-opts": {"max-size": "10m", "max-file": "3"},
    "exec-opts": ["native.cgroupdriver=systemd"],
    "max-concurrent-downloads": 3,
    "runtimes": {"third": {"path": "/usr/bin/runc", "runtimeArgs": []}},
    "default-runtime": "third",
    "features": {"buildkit": True},
}
SAVE = """
[ -e /etc/gpu-host/simulated ] || { echo "this host is not a simulated one" >&2; exit 1; }
# A run that was killed left the host's own files here: they are the ones to bring back.
! [ -d /root/test-daemon-json ] || exit 0
mkdir /root/test-daemon-json
! [ -d /etc/docker ] || cp -a /etc/docker /root/test-daemon-json/etc
! [ -e /var/lib/gpu-host/owned.json ] || cp -a /var/lib/gpu-host/owned.json /root/test-daemon-json/
"""
RESTART = "systemctl reset-failed docker docker.socket; systemctl restart docker"
RESTORE = f"""
rm -rf /etc/docker /var/lib/gpu-host/owned.json
! [ -d /root/test-daemon-json/etc ] || cp -a /root/test-daemon-json/etc /etc/docker
! [ -e /root/test-daemon-json/owned.json ] || cp -a /root/test-daemon-json/owned.json /var/lib/gpu-host/
rm -rf /root/test-daemon-json
{RESTART}
"""
# A Docker that has loaded no file at all, and nothing that this role remembers.
BARE = """
owned=/var/lib/gpu-host/owned.json
rm -rf /etc/docker/daemon.json*
[ ! -e $owned ] || sed -i s/docker_nvidia_runtime/someone_else/ $owned
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
        result: dict[str, Any] = tasks[-1]["hosts"][self.name]
        return Ran(done.returncode, result, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def reached() -> Iterator[Host]:
    wanted = ("GPU_HOST_TEST_HOST", "GPU_HOST_TEST_SSH_CONFIG", "GPU_HOST_INVENTORY")
    missing = [variable for variable in wanted if variable not in os.environ]
    if missing:
        pytest.fail(f"needed are the variables {', '.join(wanted)}; not set: {', '.join(missing)}")
    name, ssh_config, inventory = (os.environ[variable] for variable in wanted)
    # Sockets' paths may have about 100 characters: pytest's folders are too long for that.
    with tempfile.TemporaryDirectory(prefix="gh-") as folder:
        play = Path(folder, "play.yml")
        play.write_text(PLAY, encoding="utf-8")
        host = Host(name, ssh_config, inventory, play, folder)
        host.sh(SAVE)
        yield host
        host.sh(RESTORE)


@pytest.fixture
def host(reached: Host) -> Host:
    reached.sh(BARE)
    return reached


def test_a1_everything_else_is_kept_and_a_second_run_changes_nothing(host: Host) -> None:
    host.has(json.dumps(THEIRS))
    before = host.bytes()
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert ran.result["changed"]
    after = json.loads(host.bytes())
    assert after["runtimes"].pop("nvidia") == {"path": "nvidia-container-runtime", "args": []}
    assert after["features"].pop("cdi") is True
    assert after == THEIRS
    assert base64.b64decode(host.sh(f"base64 {ran.result['backup']!r}")).decode() == before
    info = host.info()
    assert {"nvidia", "third"} <= set(info["Runtimes"])
    assert info["DefaultRuntime"] == "third"
    assert info["CDISpecDirs"]

    started, kept = host.started(), host.bytes()
    again = host.role()
    assert again.status == 0, again.printed
    assert not again.result["changed"]
    assert (host.started(), host.bytes()) == (started, kept)

    # Written and never loaded: a file alone is no proof.
    host.sh(f"mv {FILE} /root/aside; {RESTART}; mv /root/aside {FILE}")
    drifted = host.role()
    assert drifted.status == 0, drifted.printed
    assert drifted.result["restarted"]
    assert host.bytes() == kept
    assert "nvidia" in host.info()["Runtimes"]

    gone = host.role(docker_nvidia_runtime_state="absent")
    assert gone.status == 0, gone.printed
    assert json.loads(host.bytes()) == THEIRS
    assert "nvidia" not in host.info()["Runtimes"]


def test_a1_an_entry_of_the_users_is_reported_and_not_flattened(host: Host) -> None:
    entry = {"path": "/usr/local/bin/nvidia-container-runtime", "runtimeArgs": ["--debug"]}
    host.has(json.dumps({"runtimes": {"nvidia": entry}, "features": {"cdi": True}}))
    before = host.bytes()
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "kept as it is" in ran.printed
    assert host.bytes() == before
    assert host.info()["Runtimes"]["nvidia"]["path"] == entry["path"]


DAMAGED = {
    "comma-before-the-brace": ('{\n  "debug": true,\n}\n', "line 2, column 16"),
    "comma-missing": ('{\n  "debug": true\n  "runtimes": {}\n}\n', "line 3, column 3"),
    "stray-brace": ('{\n  "exec-opts": ["a=b"]\n},\n  "runtimes": {}\n}\n', "line 3, column 2"),
    "web-page": ("<!DOCTYPE html>\n<html></html>\n", "line 1, column 1"),
    "comment": ('{\n  // less\n  "debug": true\n}\n', "line 2, column 3"),
    "single-quotes": ("{'debug': true}\n", "line 1, column 2"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a2_damage_is_refused_and_stays(host: Host, case: str) -> None:
    text, where = DAMAGED[case]
    host.has(text)
    started = host.started()
    ran = host.role()
    assert ran.status != 0
    assert f"{FILE}, {where}: " in ran.result["msg"]
    assert text.split("\n")[int(where.split()[1].rstrip(",")) - 1].strip() in ran.result["msg"]
    assert host.bytes() == text
    assert host.files() == ["daemon.json"]
    assert host.started() == started


def test_a3_an_empty_file_is_said_and_kept_beside(host: Host) -> None:
    host.has("")
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "was empty; treated as {}" in ran.printed
    assert json.loads(host.bytes())["runtimes"].keys() == {"nvidia"}
    assert host.sh(f"cat {ran.result['backup']!r}") == ""


def test_a3_no_file_and_no_folder_are_normal(host: Host) -> None:
    host.sh("rm -rf /etc/docker")
    ran = host.role("--check")
    assert ran.status == 0, ran.printed
    assert ran.result["changed"]
    host.sh("! [ -e /etc/docker ]")
    ran = host.role()
    assert ran.status == 0, ran.printed
    assert "nvidia" in host.info()["Runtimes"]


@pytest.mark.parametrize(("made", "said"), [
    (f"mkdir -p {FILE}", "is a directory"),
    (f"mkdir -p /etc/docker; ln -s /nowhere {FILE}", "which does not exist"),
])  # fmt: skip
def test_a3_a_directory_and_a_dangling_link_are_refused(host: Host, made: str, said: str) -> None:
    host.sh(made)
    started = host.started()
    ran = host.role()
    assert ran.status != 0
    assert said in ran.result["msg"]
    assert host.started() == started
    assert host.sh(f"stat -c %F {FILE}").strip() in {"directory", "symbolic link"}


def test_what_docker_does_not_start_with_goes_back_byte_for_byte(host: Host) -> None:
    text = '{"debug":false,   "log-driver":"json-file"}'
    host.has(text)
    # dockerd --validate lets an undefined default runtime pass; only the start refuses it.
    ran = host.role(docker_nvidia_runtime_default="nosuch")
    assert ran.status != 0
    assert "specified default runtime 'nosuch' does not exist" in ran.result["msg"]
    assert "back byte for byte, and Docker runs again" in ran.result["msg"]
    assert host.bytes() == text
    assert host.files() == ["daemon.json"]
    assert "nvidia" not in host.info()["Runtimes"]
