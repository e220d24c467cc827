"""The misbehaving server in the place of a lab's repository."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from tests.harness.lab import Lab, LabError

SERVER = Path(__file__).with_name("bad_server.py")
START_S = 60


class BadRepo:
    """A container with the name and the place of the stand-in toolkit's repository."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.container = lab, f"{lab.prefix}-repo"

    def start(self) -> str:
        """Take the place of the good one; return the fingerprint of the key that it is signed with."""
        api = self.lab.engine.api
        good = api.inspect_container(self.container)
        api.remove_container(self.container, force=True)
        host = {**good["HostConfig"], "Binds": [*good["HostConfig"]["Binds"], f"{SERVER}:/bad_server.py:ro"]}
        config = {
            **good["Config"],
            "Cmd": ["python3", "/bad_server.py", "/srv"],
            "HostConfig": host,
            "NetworkingConfig": {
                "EndpointsConfig": {self.lab.prefix: {"Aliases": ["toolkit-repo", "foreign-repo"]}}
            },
        }
        api.create_container_from_config(config, name=self.container)
        api.start(self.container)
        until = time.monotonic() + START_S
        while not (said := self.lab.exec(["python3", "-c", ASK], check=False).stdout.strip()):
            if time.monotonic() > until:
                logs = api.logs(self.container).decode(errors="replace")
                raise LabError(f"{self.container} does not answer: {logs[-500:]}")
            time.sleep(0.3)
        return said

    def mode(self, name: str) -> None:
        """Misbehave in this way from now on; empty for well."""
        subprocess.run(
            ["docker", "exec", "-i", self.container, "sh", "-c", "cat > /tmp/mode"],
            input=name, text=True, check=True,
        )  # fmt: skip


ASK = """
import urllib.request
print(urllib.request.urlopen("http://toolkit-repo:8000/fingerprint", timeout=5).read().decode())
"""
