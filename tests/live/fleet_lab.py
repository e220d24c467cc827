"""Sixteen light SSH hosts: one is down, one cannot be recorded, two hang, one of them once it was recorded.

Each is a container of the simulated hosts' Debian with sshd alone: no systemd, no engine. The twelve good
ones answer with what a simulated host's programs printed when it was recorded (tests/recordings). What is
real is the way there: SSH, sudo, Ansible, the recorder on the host that hangs, and the judging.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "tests/recordings"
NAMESPACE = "try-fleet"
LABELS = {"gpu-host.simulated": "true", "gpu-host.namespace": NAMESPACE}
OURS = {"label": f"gpu-host.namespace={NAMESPACE}"}
PREFIX = f"gpu-host-sim-{NAMESPACE}"
NAMES = [f"node-{number:02}" for number in range(1, 17)]
DOWN, FAILING, HANGING, LATE = NAMES[3], NAMES[7], NAMES[11], NAMES[13]
FAILED = [DOWN, FAILING, HANGING, LATE]
STATES = {FAILING: "failing", HANGING: "hanging", LATE: "late"}
GOOD = [name for name in NAMES if name not in FAILED]
# Less than the recorder gives one nvidia-smi, so that it is the deadline that ends the host that hangs.
DEADLINE_S = 18
# Nobody waits beside the one that hangs once it was recorded, which takes it a second.
LATE_S = 10
BOOT_S, RUN_S = 30, 240
BOOT = """
mkdir -p /run/sshd
install -m 600 /fleet/host_key /etc/ssh/ssh_host_ed25519_key
install -d -o admin -g admin -m 700 /home/admin/.ssh
install -o admin -g admin -m 600 /fleet/key.pub /home/admin/.ssh/authorized_keys
for program in python3 docker nvidia-smi systemctl; do ln -s /fleet/replay /usr/local/bin/$program; done
# Looking whether it answers is no attack that it has to slow down.
exec /usr/sbin/sshd -D -e -o PerSourcePenalties=no
"""
# Stands on the host before the system's own programs; Ansible's modules run by /usr/bin/python3.
REPLAY = """#!/bin/sh
name=$(basename "$0")
# What is piped in is read to its end, as a Python would: Ansible takes a closed pipe for a failure.
state=$(cat /fleet/state)
# The second look's containers hang; the recorder's does not, nor does anything else.
case "$state $name $*" in
  "late docker run "*" - "*) ;;
  "late docker run "*) exec sleep 900 ;;
esac
[ "$state" != late ] || state=good
case "$state $name $*" in
  "hanging python3 "*) ;;
  *" python3 - "*|*" docker run "*" - "*) cat > /dev/null ;;
esac
case "$state $name $*" in
  "failing python3 "*) echo "python3: cannot run" >&2; exit 3 ;;
  "hanging python3 "*) exec /usr/bin/python3 "$@" ;;
  "hanging nvidia-smi"*) exec sleep 900 ;;
  "good python3 - "*) exec cat /fleet/host.json ;;
  "good docker run "*" - "*) exec cat /fleet/container.json ;;
  "good docker run "*device=0*) exec head -n 1 /fleet/cards ;;
  "good docker run "*|"good nvidia-smi"*) exec cat /fleet/cards ;;
  "good docker ps "*|*" systemctl "*) exit 0 ;;
esac
echo "$name $*: not on this host" >&2
exit 127
"""


class FleetError(Exception):
    """The fleet itself could not be made: neither a pass nor a failure of what is tried on it."""


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it printed."""

    status: int
    printed: str


class Fleet:
    """The hosts, their inventory, and the evidence about them."""

    def __init__(self) -> None:
        # Sockets' paths may have about 100 characters, and HOME is where they are: a short one of our own.
        self.folder = Path(tempfile.mkdtemp(prefix="gh-"))
        self.evidence = self.folder / "evidence"
        self.inventory = self.folder / "hosts.yml"
        self.engine = docker.from_env()
        self.addresses: dict[str, str] = {}

    def make(self) -> None:
        """Start all hosts, wait until each answers, write the inventory, and take one down."""
        self.remove_hosts()
        for name in ("key", "host_key"):
            made = str(self.folder / name)
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", made], check=True)
        image = base_image()
        self.engine.networks.create(PREFIX, labels=LABELS)
        for name in NAMES:
            self.start(name, image)
        for name, address in self.addresses.items():
            if not answering(address):
                host = self.engine.containers.get(f"{PREFIX}-{name}")
                raise FleetError(f"{name} does not answer: it is {host.status}: {host.logs().decode()}")
        self.engine.containers.get(f"{PREFIX}-{DOWN}").kill()
        self.write_inventory()

    def start(self, name: str, image: str) -> None:
        """Start one host."""
        made = self.engine.containers.create(
            image, ["sh", "-ec", BOOT], name=f"{PREFIX}-{name}", hostname=name, labels=LABELS, network=PREFIX
        )
        made.put_archive("/", self.files(STATES.get(name, "good")))
        made.start()
        made.reload()
        self.addresses[name] = made.attrs["NetworkSettings"]["Networks"][PREFIX]["IPAddress"]

    def files(self, state: str) -> bytes:
        """Return what a host has in /fleet, as an archive."""
        recorded = {
            where: (RECORDINGS / f"healthy-simulated-{where}.json").read_bytes()
            for where in ("host", "container")
        }
        cards = json.loads(recorded["host"])["commands"]["nvidia-smi-list"]["stdout"]
        contents = {
            "state": state.encode(),
            "replay": REPLAY.encode(),
            "cards": cards.encode(),
            "host_key": (self.folder / "host_key").read_bytes(),
            "key.pub": (self.folder / "key.pub").read_bytes(),
            **{f"{where}.json": content for where, content in recorded.items()},
        }
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as archive:
            for name, content in contents.items():
                entry = tarfile.TarInfo(f"fleet/{name}")
                entry.size, entry.mode = len(content), 0o755
                archive.addfile(entry, io.BytesIO(content))
        return stream.getvalue()

    def mend(self, name: str) -> None:
        """Make a good host of one that is up."""
        self.engine.containers.get(f"{PREFIX}-{name}").put_archive("/", self.files("good"))

    def processes(self, name: str) -> list[str]:
        """Return the command lines of what runs on a host."""
        shown = self.engine.containers.get(f"{PREFIX}-{name}").top(ps_args="-eo pid,args")
        return [line[-1] for line in shown["Processes"]]

    def write_inventory(self) -> None:
        """Write the hosts and how they are reached, as a user would."""
        host_key = " ".join((self.folder / "host_key.pub").read_text().split()[:2])
        lines = [f"{address} {host_key}\n" for address in self.addresses.values()]
        (self.folder / "known_hosts").write_text("".join(lines))
        named = [f"Host {name}\n  HostName {address}\n" for name, address in self.addresses.items()]
        config = "".join(named) + (
            f"Host *\n  User admin\n  IdentityFile {self.folder}/key\n  ConnectTimeout 15\n"
            f"  UserKnownHostsFile {self.folder}/known_hosts\n"
        )
        (self.folder / "ssh_config").write_text(config)
        settings = {
            "ansible_ssh_common_args": f"-F {self.folder}/ssh_config",
            "ansible_python_interpreter": "/usr/bin/python3",
            "gpu_verify_ssh_config": str(self.folder / "ssh_config"),
            "gpu_verify_evidence_dir": str(self.evidence),
            "gpu_verify_deadline": DEADLINE_S,
            # As on every simulated host: its PyTorch is a CPU build, and says so.
            "gpu_verify_expected_findings": ["framework.cpu-build"],
        }
        hosts: dict[str, dict[str, Any]]
        hosts = {name: {"ansible_host": address} for name, address in self.addresses.items()}
        hosts[LATE]["gpu_verify_deadline"] = LATE_S
        self.inventory.write_text(json.dumps({"gpu_hosts": {"hosts": hosts, "vars": settings}}))

    def verify(self, *arguments: str) -> Ran:
        """Run the playbook as `make verify RACE=never` does."""
        playbook = ["playbooks/verify.yml", "-e", "gpu_verify_race=never"]
        return self.run("ansible-playbook", "-i", str(self.inventory), *playbook, *arguments)

    def report(self) -> Ran:
        """Print the table of what is in evidence, as `make verify` does at its end."""
        return self.run("gpu-verify", "report", "--from", str(self.evidence))

    def run(self, program: str, *arguments: str) -> Ran:
        """Run one of our programs; one that does not end is ended, with all it has started."""
        started = subprocess.Popen(
            [Path(sys.executable).with_name(program), *arguments],
            cwd=ROOT, env=os.environ | {"HOME": str(self.folder)}, start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            printed, _ = started.communicate(timeout=RUN_S)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            printed, _ = started.communicate()
            raise AssertionError(f"{program} did not end within {RUN_S} s:\n{printed[-4000:]}") from None
        return Ran(started.returncode, printed)

    def judged(self, name: str) -> dict[str, Any]:
        """Return what a host's evidence says of its collection."""
        run: dict[str, Any] = json.loads((self.evidence / name / "run.json").read_text())
        collection: dict[str, Any] = run["collection"]
        return collection

    def remove_hosts(self) -> None:
        """Remove the containers and the network of this namespace, an earlier run's too."""
        for container in self.engine.containers.list(all=True, filters=OURS):
            container.remove(force=True, v=True)
        for network in self.engine.networks.list(filters=OURS):
            network.remove()

    def remove(self) -> None:
        """Remove all of it."""
        for path in (self.folder / ".ansible/cp").glob("*"):
            close = ["ssh", "-O", "exit", "-o", f"ControlPath={path}", "x"]
            subprocess.run(close, capture_output=True, check=False)
        self.remove_hosts()
        shutil.rmtree(self.folder)


def base_image() -> str:
    """Return the simulated hosts' base image, built where it is missing."""
    built = subprocess.run(
        [sys.executable, "tests/standins/base/build.py"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return str(json.loads(built.stdout.splitlines()[-1])["image"])


def answering(address: str) -> bool:
    """Wait until sshd answers; say whether it did."""
    until = time.monotonic() + BOOT_S
    while True:
        try:
            with socket.create_connection((address, 22), timeout=5) as reached:
                if reached.recv(4) == b"SSH-":
                    return True
        except OSError:
            pass
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
