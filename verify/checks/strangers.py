"""Daemons that do not read this system's daemon.json: what to call them, and what to do (case A6)."""

from __future__ import annotations

from verify.facts.engine import Stranger

# What it is, and the next command.
STRANGERS = {
    Stranger.DESKTOP: (
        "Docker Desktop, which reads no file of this system",
        "docker context use default  # the system's own engine; is there none? make site LIMIT=HOST",
    ),
    Stranger.SNAP: (
        "a snap, which keeps a daemon.json of its own",
        "snap remove docker && make site LIMIT=HOST  # its images go; role docker_engine installs another",
    ),
    Stranger.ROOTLESS: (
        "rootless, and reads ~/.config/docker/daemon.json of its user",
        (
            "nvidia-ctk runtime configure --runtime=docker --config=$HOME/.config/docker/daemon.json && "
            "systemctl --user restart docker"
        ),
    ),
}
