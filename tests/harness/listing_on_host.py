"""Runs on the simulated host, as root, standard library only: prints the host's state as JSON."""

from __future__ import annotations

import grp
import hashlib
import json
import os
import stat
import subprocess
from pathlib import Path

FOLDERS = (
    "/etc", "/usr/share/keyrings", "/usr/local", "/var/lib/gpu-host", "/var/run/cdi", "/root", "/opt",
    "/usr/lib/modules", "/usr/lib/systemd/system", "/var/lib/dkms", "/usr/src", "/var/lib/dpkg/updates",
)  # fmt: skip


def says(*argv: str) -> list[str]:
    """Return a command's lines, none where it is missing or fails."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def parsed(path: str) -> object:
    """Return a JSON file's content, its text where it is none, None where there is no file."""
    try:
        text = Path(path).read_text(errors="replace")
    except OSError:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def entry(path: str) -> str:
    """Return type, mode, owner and content of a file in one word."""
    info = os.lstat(path)
    owner = f"{info.st_uid}:{info.st_gid}"
    if stat.S_ISLNK(info.st_mode):
        return f"link {Path(path).readlink()}"
    if stat.S_ISREG(info.st_mode):
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]
        return f"file {stat.S_IMODE(info.st_mode):o} {owner} {digest}"
    return f"{'dir' if stat.S_ISDIR(info.st_mode) else 'other'} {stat.S_IMODE(info.st_mode):o} {owner}"


def files() -> dict[str, str]:
    """Return every file below the folders that are looked at."""
    found = {}
    for top in FOLDERS:
        for folder, folders, names in os.walk(top):
            for name in folders + names:
                path = f"{folder}/{name}"
                found[path] = entry(path)
    return found


def docker() -> object:
    """Return what the running daemon shows of its configuration, None where it does not answer."""
    lines = says("timeout", "20", "docker", "info", "--format", "{{json .}}")
    info = json.loads(lines[0]) if lines else {}
    if not info.get("ServerVersion"):
        return None
    return {
        "runtimes": sorted(info["Runtimes"]),
        "default": info["DefaultRuntime"],
        "cdi": info.get("CDISpecDirs"),
        "logging": info["LoggingDriver"],
        "images": sorted(says("docker", "image", "ls", "--format", "{{.Repository}}:{{.Tag}}")),
    }


def main() -> None:
    packages = (
        line.split("\t")
        for line in says("dpkg-query", "-W", "-f=${Package}\\t${Version}\\t${db:Status-Abbrev}\\n")
    )
    state = {
        "packages": {name: f"{version} {status.strip()}" for name, version, status in packages},
        "holds": sorted(says("apt-mark", "showhold")),
        "manual": sorted(says("apt-mark", "showmanual")),
        "audit": says("dpkg", "--audit"),
        "files": files(),
        "units": sorted(
            line.split()[0] for line in says("systemctl", "list-unit-files", "--state=enabled", "--no-legend")
        ),
        "failed": sorted(
            line.split()[0] for line in says("systemctl", "list-units", "--failed", "--plain", "--no-legend")
        ),
        "groups": {group.gr_name: sorted(group.gr_mem) for group in grp.getgrall()},
        "owned": parsed("/var/lib/gpu-host/owned.json"),
        "daemon": parsed("/etc/docker/daemon.json"),
        "docker": docker(),
    }
    print(json.dumps(state))


main()
