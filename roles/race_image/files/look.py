# ruff: noqa: INP001
"""Look at an image in its registry, on the controller, and hold it against a host, before a byte is pulled.

``look.py recorder`` prints what to run on the host. ``look.py image`` reads one JSON object from standard
input (reference, the host's recording, registry, username, password, ca), prints {"rc", "document", "said"}.
Whatever is secret comes and goes by standard input and one private folder, never on a command line.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
from verify.manifest import manifest, recorder_argv, recorder_source  # noqa: E402

LIMIT_S = 120
# Docker's own registry is called so in config.json.
HUB, HUB_KEY = "docker.io", "https://index.docker.io/v1/"


def recorder() -> dict[str, Any]:
    """Return what is run on the host: no container is started, and no package manager asked."""
    whole = manifest("host")
    slow = ("run-", "apt-", "dpkg-", "toolkit-packages", "driver-packages", "held-packages", "compose-")
    commands = [command for command in whole["commands"] if not command["name"].startswith(slow)]
    return {
        "argv": recorder_argv("host", content={**whole, "commands": commands}),
        "recorder": recorder_source(),
    }


def private(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return file


def image(given: dict[str, Any]) -> dict[str, Any]:
    """Ask ``gpu-verify image``, with the credentials that were given, else with this user's own."""
    with tempfile.TemporaryDirectory(prefix="gpu-host-look-") as tmp:
        folder, environment = Path(tmp), dict(os.environ)
        argv = [sys.executable, "-m", "verify.cli", "image", given["reference"], "--json"]
        if given.get("recording"):
            argv += ["--recording", str(private(folder, "recording.json", given["recording"]))]
        if given.get("ca"):
            argv += ["--ca-file", str(private(folder, "ca.pem", given["ca"]))]
        if given.get("password"):
            auth = base64.b64encode(f"{given['username']}:{given['password']}".encode()).decode("ascii")
            key = HUB_KEY if given["registry"] == HUB else given["registry"]
            private(folder, "config.json", json.dumps({"auths": {key: {"auth": auth}}}))
            environment["DOCKER_CONFIG"] = tmp
        try:
            done = subprocess.run(
                argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return {"rc": None, "document": None, "said": f"no answer within {LIMIT_S} s"}
    try:
        document = json.loads(done.stdout)
    except ValueError:
        document = None
    said = (done.stderr.strip() or done.stdout.strip() or f"exit status {done.returncode}").splitlines()[-1]
    return {"rc": done.returncode, "document": document, "said": said.removeprefix("gpu-verify: ")}


def main() -> int:
    """Print one JSON object."""
    print(json.dumps(recorder() if sys.argv[1:] == ["recorder"] else image(json.load(sys.stdin))))  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
