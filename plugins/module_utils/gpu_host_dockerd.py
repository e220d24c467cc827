"""The running Docker Engine: what it says, whether it takes a file, how it comes back; with time limits."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from .gpu_host_daemon_merge import CDI_BY_DEFAULT, GPUS_BY_CDI
from .gpu_host_engine import engine
from .gpu_host_look import Look

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UNITS = ("docker.service", "docker.socket")


def run(argv: list, seconds: float) -> tuple:
    """Return exit status, output and error output; no status where it did not end in time."""
    # The daemon that systemd runs, whatever root's own context and environment are.
    aside = {key: value for key, value in os.environ.items() if not key.startswith("DOCKER_")}
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=seconds,
            check=False,
            env={**aside, "LC_ALL": "C", "PATH": PATH},
        )
    except subprocess.TimeoutExpired:
        return None, "", f"{argv[0]}: no answer within {seconds:g} s"
    except OSError as error:
        return None, "", f"{argv[0]}: {error.strerror}"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class Dockerd:
    """The engine of this host, by its programs and its systemd unit."""

    def __init__(self) -> None:
        self.program = shutil.which("dockerd", path=PATH)
        self.client = shutil.which("docker", path=PATH)

    def engine(self) -> dict:
        """Return the look at the engine: whose it is, its flags, its containers."""
        return engine(Look())

    def version(self) -> str:
        """Return what `dockerd --version` prints, nothing without a dockerd."""
        return run([self.program, "--version"], 10)[1] if self.program else ""

    def running(self) -> bool:
        """Tell whether the daemon runs, without a word to its socket, which would start it."""
        return run(["systemctl", "is-active", "--quiet", UNITS[0]], 10)[0] == 0

    def info(self) -> dict | None:
        """Return the running daemon's `docker info`; None where it does not run or answer."""
        if not self.client or not self.running():
            return None
        out = run([self.client, "--context", "default", "info", "--format", "{{json .}}"], 20)[1]
        try:
            info = json.loads(out)
        except ValueError:
            return None
        return info if isinstance(info, dict) and info.get("ServerVersion") else None

    def objection(self, path: str) -> str | None:
        """Return what dockerd has against a file; None where nothing."""
        rc, out, said = run([self.program, "--validate", "--config-file", path], 30)
        return None if rc == 0 else (said or out).strip() or f"exit status {rc}"

    def older_than(self, file: str) -> bool:
        """Tell whether the running daemon started before a file came."""
        if not Path(file).exists() or not self.running():
            return False
        # To the microsecond: within one second neither order may be taken for the other, at every run anew.
        asked = ["systemctl", "show", "--value", "--timestamp=us", "-p", "ExecMainStartTimestamp", UNITS[0]]
        said = run(asked, 10)[1].strip()
        rc, started, _ = run(["date", "-d", said, "+%s.%N"], 10)
        # An empty date would be midnight.
        return bool(said) and rc == 0 and float(started) < Path(file).stat().st_ctime

    def restart(self) -> str | None:
        """Restart, whatever was tried shortly before; return why it does not run, None where it does."""
        # Three starts within a minute and systemd starts it no more.
        run(["systemctl", "reset-failed", *UNITS], 10)
        rc, _, said = run(["systemctl", "restart", UNITS[0]], 120)
        return (
            None
            if rc == 0
            else self.reason() or said.strip().rstrip(".") or "systemctl restart docker did not end"
        )

    def reason(self) -> str:
        """Return dockerd's own last words."""
        out = run(["journalctl", "-u", UNITS[0], "-n", "40", "-o", "cat", "--no-pager"], 10)[1]
        said = [
            line for line in out.splitlines() if re.search(r"level=(fatal|error)|^failed to|unable to", line)
        ]
        found = re.search(r'msg="(.*)"', said[-1]) if said else None
        return (found.group(1) if found else said[-1].strip()) if said else ""


def lacks(info: dict | None, document: dict) -> list:
    """Return what of the document the running daemon does not show."""
    if info is None:
        return ["the daemon does not answer"]
    missing = []
    runtimes = info.get("Runtimes") or {}
    entry = (document.get("runtimes") or {}).get("nvidia")
    if entry is not None and "nvidia" not in runtimes and not by_cdi(info):
        missing.append(
            f"the running daemon has no runtime nvidia (it has: {', '.join(sorted(runtimes)) or 'none'})"
        )
    default = document.get("default-runtime")
    if default == "nvidia" and info.get("DefaultRuntime") != default:
        missing.append(f"the running daemon's default runtime is {info.get('DefaultRuntime')}")
    cdi = (document.get("features") or {}).get("cdi")
    if cdi is True and "CDISpecDirs" in info and not info["CDISpecDirs"]:
        missing.append("the running daemon does not read CDI specifications")
    return missing


def by_cdi(info: dict) -> bool:
    """Tell whether an engine that does it so (28.2 and newer) discovered NVIDIA's cards as CDI devices."""
    devices = [device.get("ID", "") for device in info.get("DiscoveredDevices") or []]
    return at_least(info, CDI_BY_DEFAULT) and any(name.startswith("nvidia.com/gpu=") for name in devices)


def at_least(info: dict, version: tuple) -> bool:
    shown = re.match(r"(\d+)\.(\d+)", info.get("ServerVersion") or "")
    return shown is not None and (int(shown.group(1)), int(shown.group(2))) >= version


def gpus_way(info: dict | None) -> str:
    """Say which way `--gpus` takes in this daemon; nothing where it does not answer."""
    if not info:
        return ""
    version = info["ServerVersion"]
    if at_least(info, GPUS_BY_CDI) and by_cdi(info):
        return f"`--gpus` goes through CDI (Docker {version} tries it first), `--runtime=nvidia` still works"
    first = " tries CDI first and found no card there" if at_least(info, GPUS_BY_CDI) else ""
    # What the hook adds, systemd is never told of: at the next reload it sets the rules that it knows.
    loses = (
        ": from a container that runs so, a `systemctl daemon-reload` takes the card away (Docker's cgroup "
        "driver is systemd); `--device nvidia.com/gpu=all` and `--runtime=nvidia` keep it"
        if info.get("CgroupDriver") == "systemd"
        else ""
    )
    return f"`--gpus` goes through the toolkit's hook (Docker {version}{first}){loses}"
