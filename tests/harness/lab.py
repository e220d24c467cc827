"""One simulated host of a harness's own, brought back to a kept state in seconds.

Made by playbooks/simulated_host.yml, as a user's are; kept states are images of it (`docker commit`), and a
host that comes back is a new container of such an image with a new, empty /var/lib/docker.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docker

from tests.harness.archive import tiny_archive
from tests.harness.plays import ROOT, Play, Ran, play

# The stand-in's own time limits: what a host does in these seconds it does not do at all.
BOOT_S = 60
SCRIPT_S = 300
SIMULATED = ROOT / "inventory/simulated/group_vars/simulated.yml"


class LabError(Exception):
    """The harness's own ground gave way: neither a pass nor a failure of what is tried."""


class Lab:
    """A namespace with one host in it."""

    def __init__(
        self, namespace: str, kind: str = "debian13", settings: dict[str, Any] | None = None
    ) -> None:
        self.namespace, self.name = namespace, f"sim-{namespace}"
        self.prefix = f"gpu-host-sim-{namespace}"
        self.container = f"{self.prefix}-{self.name}"
        self.volume = f"{self.container}-docker"
        self.folder = ROOT / ".cache/harness" / namespace
        self.inventory = self.folder / "inventory"
        self.engine = docker.from_env(timeout=SCRIPT_S)
        self.settings = {
            "simulated_kind": kind,
            "race_image_archive": str(tiny_archive(self.folder / "race")),
            **(settings or {}),
        }
        self.configure()

    def configure(self, **settings: Any) -> None:
        """Write what a user would: a host, where its things are, and what is set for it."""
        self.settings |= settings
        shutil.rmtree(self.inventory, ignore_errors=True)
        (self.inventory / "group_vars/all").mkdir(parents=True)
        shutil.copy(SIMULATED, self.inventory / "group_vars/simulated.yml")
        common = {"simulated_namespace": self.namespace, "simulated_dir": str(self.folder / "state")}
        (self.inventory / "group_vars/all/main.yml").write_text(json.dumps(common), encoding="utf-8")
        hosts = {"gpu_hosts": {"children": {"simulated": {"hosts": {self.name: self.settings}}}}}
        (self.inventory / "hosts.yml").write_text(json.dumps(hosts), encoding="utf-8")

    def make(self) -> None:
        """Make the host: bare, with its cards; what a run that was killed has left goes first."""
        ours = {"label": f"gpu-host.namespace={self.namespace}"}
        for container in self.engine.containers.list(all=True, filters=ours):
            container.remove(force=True, v=True)
        for volume in self.engine.volumes.list(filters=ours):
            volume.remove()
        ran = play(self.inventory, "simulated_host")
        if ran.status:
            raise LabError(f"{self.namespace} could not be made: {ran.why()}\n{ran.printed[-3000:]}")
        self.made = self.engine.api.inspect_container(self.container)

    def remove(self) -> None:
        """Remove all of it."""
        ran = play(self.inventory, "simulated_host", "-e", "simulated_state=absent")
        for image in self.engine.images.list(filters={"label": f"gpu-host.namespace={self.namespace}"}):
            self.engine.images.remove(image.id, force=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        if ran.status:
            raise LabError(f"{self.namespace} could not be removed: {ran.why()}")

    def keep(self, state: str) -> None:
        """Keep the host as it is now, without its /var/lib/docker."""
        labels = f"LABEL gpu-host.namespace={self.namespace}"
        self.engine.containers.get(self.container).commit(
            repository=self.image(state), pause=True, changes=[labels]
        )

    def image(self, state: str) -> str:
        return f"gpu-host-sim/{self.namespace}-{state}"

    def back(self, state: str) -> None:
        """Bring the host back to a kept state: a new container, a new volume."""
        api = self.engine.api
        api.remove_container(self.container, force=True)
        api.remove_volume(self.volume)
        self.create(self.name, state)
        self.start()

    def create(self, name: str, state: str) -> str:
        """Create a host of a kept state, with a volume of its own; return the container's name."""
        api, container = self.engine.api, f"{self.prefix}-{name}"
        volume = f"{container}-docker"
        api.create_volume(volume, labels=self.made["Config"]["Labels"])
        config = {
            **self.made["Config"],
            "Hostname": name,
            "Image": self.image(state),
            "HostConfig": {**self.made["HostConfig"], "Binds": [f"{volume}:/var/lib/docker:rw"]},
            "NetworkingConfig": {"EndpointsConfig": {self.prefix: {"Aliases": [name]}}},
        }
        api.create_container_from_config(config, name=container)
        return container

    def start(self) -> None:
        """Start the container and wait until a person can log in."""
        self.engine.api.start(self.container)
        address = self.booted(self.container, "ssh")
        file = self.folder / "state/ssh_config"
        file.write_text(re.sub(r"(?m)^( *HostName ).*", rf"\g<1>{address}", file.read_text()))
        # A connection to the container that was here before leads nowhere.
        for socket in Path.home().glob(f".ansible/cp/gpu-host-{self.namespace}-*"):
            subprocess.run(
                ["ssh", "-O", "exit", "-o", f"ControlPath={socket}", "x"], capture_output=True, check=False
            )
            socket.unlink(missing_ok=True)

    def booted(self, container: str, *units: str) -> str:
        """Wait until a host is up and these units run; return its address."""
        until = time.monotonic() + BOOT_S
        up = "systemctl is-system-running | grep -Eq 'running|degraded' && systemctl is-active --quiet"
        ready = ["docker", "exec", "-i", container, "sh", "-c", f"{up} {' '.join(units)}"]
        while subprocess.run(
            ready, input="", capture_output=True, text=True, timeout=SCRIPT_S, check=False
        ).returncode:
            if time.monotonic() > until:
                raise LabError(f"{container} did not boot within {BOOT_S} s")
            time.sleep(0.2)
        found = self.engine.api.inspect_container(container)
        return str(found["NetworkSettings"]["Networks"][self.prefix]["IPAddress"])

    def kill(self) -> None:
        """SIGKILL to the host and everything on it at once, and start it again."""
        self.engine.api.kill(self.container)
        self.start()

    def exec(
        self, argv: list[str], stdin: str = "", *, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on the host as root, past Ansible and SSH."""
        done = subprocess.run(
            ["docker", "exec", "-i", self.container, *argv],
            input=stdin, capture_output=True, text=True, timeout=SCRIPT_S, check=False,
        )  # fmt: skip
        if check and done.returncode:
            raise LabError(
                f"on {self.name}: {' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}\n{stdin}"
            )
        return done

    def sh(self, script: str) -> str:
        return self.exec(["sh", "-es"], script).stdout

    def playing(self, playbook: str, *arguments: str, halt_after: int = 0) -> Play:
        return Play(self.inventory, playbook, *arguments, halt_after=halt_after)

    def roles(self, names: Sequence[str], **values: Any) -> Ran:
        """Run some of the roles, with these settings."""
        roles = ", ".join(names)
        file = self.folder / "roles.yml"
        file.write_text(f"- {{hosts: gpu_hosts, gather_facts: false, become: true, roles: [{roles}]}}\n")
        return play(self.inventory, str(file), "-e", json.dumps(values))

    def play(self, playbook: str, *arguments: str) -> Ran:
        return play(self.inventory, playbook, *arguments)
