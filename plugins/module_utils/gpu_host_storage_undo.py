"""What gpu_storage set is taken back: settings, never data. What is on the volume stays there."""

from __future__ import annotations

import os
from pathlib import Path

from .gpu_host_dockerd import UNITS, Dockerd, run
from .gpu_host_engine import named
from .gpu_host_refused import RefusedError
from .gpu_host_storage_config import Config
from .gpu_host_storage_volume import unmount

STOP_S = 600


def undo(module, notes):
    """Take everything back; return what a person should know."""
    docker, said, left = Dockerd(), [], []
    noted = notes.settings.get("data_root")
    if notes.settings.get("moving"):
        raise RefusedError(
            "moving",
            (
                "An earlier run was stopped while it moved Docker's data, and Docker is between two places; "
                "needed is its end: run again with gpu_storage_state: present, then take it back."
            ),
        )
    if noted:
        config = Config(module, docker, noted["path"])
        changes = config.root == noted["set"]
        active = docker.running() and changes
        names = docker.engine()["containers"] if active else []
        if names and not module.params["stop_containers"]:
            raise RefusedError(
                "running",
                (
                    "Docker has to be stopped to go back to its old place, and containers run: "
                    f"{named(names)}. Stop them, or set gpu_storage_stop_containers: true. Nothing was "
                    "changed."
                ),
            )
        if active:
            if names:
                run([docker.client, "--context", "default", "stop", *names], STOP_S)
            run(["systemctl", "stop", UNITS[1], UNITS[0]], STOP_S)
        left = config.clear(notes)
        said += old_place(notes.settings, noted) if changes else []
        if active:
            failed = docker.restart()
            said += [f"Docker does not start: {failed}."] if failed else []
    for name in notes.files:
        # daemon.json is not among them: whether that goes is for what is in it to say.
        if Path(name).stem == "gpu-host-storage":
            Path(name).unlink(missing_ok=True)
            folder = Path(name).parent
            if folder.name == "docker.service.d" and not any(folder.iterdir()):
                folder.rmdir()
    said += unmount(module, notes)
    notes.end(left)
    return said


def old_place(settings, noted):
    """Rename the folder that was put aside back, where its place is free."""
    said = [f"What Docker had in {noted['set']} stays there, and this Docker does not read it any more."]
    kept, place = settings.get("kept"), settings.get("kept_from")
    if kept and Path(kept).is_dir():
        if Path(place).is_dir() and not any(Path(place).iterdir()):
            Path(place).rmdir()
        if os.path.lexists(place):
            said.append(f"{kept} was not put back: {place} is not empty.")
        else:
            Path(kept).rename(place)
            said.append(f"{place} is back as it was when it was moved; what came since is in {noted['set']}.")
    return said
