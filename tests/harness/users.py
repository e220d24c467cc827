"""What a person had put on the host before these roles came, and whether it is still as it was."""

from __future__ import annotations

import json
from typing import Any

from tests.harness.lab import Lab

DAEMON_JSON: dict[str, Any] = {
    "log-driver": "json-file",
    "log-opts": {"max-size": "10m", "max-file": "3"},
    "max-concurrent-downloads": 3,
    "runtimes": {"third": {"path": "/usr/bin/runc", "runtimeArgs": []}},
    "features": {"buildkit": True},
}
CDI = {
    "cdiVersion": "0.5.0",
    "kind": "users.example/thing",
    "devices": [{"name": "one", "containerEdits": {"env": ["USERS_THING=1"]}}],
}
FILES = {
    "/etc/docker/daemon.json": json.dumps(DAEMON_JSON, indent=3) + "\n",
    "/etc/systemd/system/docker.service.d/10-users.conf": "[Service]\nEnvironment=USERS_OWN=1\n",
    "/etc/apt/apt.conf.d/99users": '// the user\'s\nAPT::Install-Suggests "false";\n',
    "/etc/apt/preferences.d/users": "Package: users-package\nPin: release n=nowhere\nPin-Priority: 100\n",
    "/etc/apt/sources.list.d/users.sources": (
        "Types: deb\nURIs: http://users.example/debian\nSuites: stable\nComponents: main\nEnabled: no\n"
    ),
    "/etc/modprobe.d/users.conf": "options users_module answer=42\n",
    "/etc/cdi/users.json": json.dumps(CDI) + "\n",
}
HELD = "sudo"


def place(lab: Lab, files: dict[str, str] | None = None) -> None:
    """Put the user's things on the host."""
    for path, text in (FILES if files is None else files).items():
        lab.exec(["sh", "-ec", 'mkdir -p "${1%/*}"; cat > "$1"', "put", path], text)
    lab.sh(f"apt-mark hold {HELD} > /dev/null")


def lost(state: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Say which of the user's things are not what they were; daemon.json may have more in it than before."""
    lines = [
        f"{path}: {before['files'].get(path)} → {state['files'].get(path, 'nothing')}"
        for path in FILES
        if path != "/etc/docker/daemon.json" and state["files"].get(path) != before["files"].get(path)
    ]
    if HELD not in state["holds"]:
        lines.append(f"the hold on {HELD} is gone")
    return lines + lost_settings(state["daemon"], before["daemon"])


def lost_settings(now: Any, before: Any, path: str = "daemon.json") -> list[str]:
    """Say which settings are gone or other than before; new ones are nobody's loss."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            line
            for key, value in before.items()
            for line in lost_settings(now.get(key), value, f"{path} {key}")
        ]
    return [] if now == before else [f"{path}: {before!r} → {now!r}"]
