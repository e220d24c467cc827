"""The container engine that is there."""

from __future__ import annotations

from typing import Any


def engine(look: Any) -> dict[str, Any]:
    """Look at the engine without a word to its socket, which would start it."""
    client = look.which("docker")
    real = look.real(client) if client else ""
    rc, version = look.run(["docker", "--version"], 5.0) if client else (None, "")
    _, active = look.run(["systemctl", "is-active", "docker.service"], 5.0)
    return {
        "client": client,
        "snap": real.startswith("/snap/") or real.endswith("/snap"),
        "version": version.split()[2].rstrip(",") if rc == 0 and len(version.split()) > 2 else None,  # noqa: PLR2004
        "daemon": look.which("dockerd"),
        "active": active.splitlines()[-1:] == ["active"],
    }
