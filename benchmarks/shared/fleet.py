"""Many hosts of one provisioned state: containers of the image that a Lab kept, each with its own engine."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.harness.lab import Lab


class Fleet:
    """The hosts, and the inventory that names them. They go with the Lab, by its label."""

    def __init__(self, lab: Lab, state: str, count: int) -> None:
        self.lab, self.state = lab, state
        self.names = [f"{lab.name}-{number:02}" for number in range(1, count + 1)]
        self.inventory = lab.folder / "fleet"

    def container(self, name: str) -> str:
        """Return the name of a host's container."""
        return f"{self.lab.prefix}-{name}"

    def containers(self, count: int) -> list[str]:
        """Return those of the first so many hosts."""
        return [self.container(name) for name in self.names[:count]]

    def make(self) -> None:
        """Start them all, wait for each, and write down how they are reached."""
        for name in self.names:
            self.lab.engine.api.start(self.lab.create(name, self.state))
        config = self.lab.folder / "state/ssh_config"
        _, _, common = config.read_text(encoding="utf-8").partition("Host *\n")
        # One image, one host key.
        blocks = [
            f"Host {name}\n  HostName {self.address(name)}\n  HostKeyAlias {self.lab.name}\n"
            for name in self.names
        ]
        config.write_text("".join(blocks) + "Host *\n" + common, encoding="utf-8")
        subprocess.run(["cp", "-R", f"{self.lab.inventory}/.", str(self.inventory)], check=True)
        hosts = dict.fromkeys(self.names, self.lab.settings)
        listed = {"gpu_hosts": {"children": {"simulated": {"hosts": hosts}}}}
        Path(self.inventory, "hosts.yml").write_text(json.dumps(listed), encoding="utf-8")

    def address(self, name: str) -> str:
        """Return where a host is, once a person could log in and its engine runs."""
        return self.lab.booted(self.container(name), "ssh", "docker")
