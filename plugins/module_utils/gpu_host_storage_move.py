"""Docker's data-root goes to the volume: stopped, copied, compared, renamed, and only then written down.

Killed anywhere, the next run goes on: the note `moving` says what was being done, daemon.json which side
counts.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

from .gpu_host_dockerd import UNITS, Dockerd, run
from .gpu_host_refused import RefusedError
from .gpu_host_storage_config import Config
from .gpu_host_storage_copy import copy
from .gpu_host_storage_mounts import below, mounts
from .gpu_host_storage_root import contents

STOP_S = 600


class Move:
    """One change of the data-root, and the way back."""

    def __init__(self, module, notes, lock, plan):
        self.module, self.notes, self.lock, self.plan = module, notes, lock, plan
        self.docker = Dockerd()
        self.config = Config(module, self.docker, plan["config"])
        self.said = []

    def run(self):
        """Do what the plan says, or what an earlier run began."""
        if self.plan["do"] == "set":
            self.config.set(self.notes, self.plan["to"], graph=self.plan["graph"])
            self.said.append(f"Docker, once it is there, keeps its data in {self.plan['to']}.")
            return
        self.note = self.begin()
        source, target = self.note["from"], self.note["to"]
        if self.config.root != target:
            self.stop()
            try:
                if self.note["do"] == "move":
                    copy(source, target, self.lock)
                self.config.set(self.notes, target, graph=self.note["graph"])
            except (RefusedError, OSError) as error:
                raise self.given_up(error) from error
        failed = self.prove() if self.note["active"] else None
        if failed:
            raise self.taken_back(failed)
        if self.note["do"] == "move":
            self.put_aside(source)
        self.start_containers()
        self.notes.forget("moving")
        self.said.append(f"Docker keeps its data in {target}: {contents(target)['images']} images.")

    def begin(self):
        """Note what is about to be done, and what has to be there afterwards."""
        note = self.notes.settings.get("moving")
        if note is None:
            keys = ("do", "from", "to", "graph", "running")
            note = {**{key: self.plan[key] for key in keys}, "active": self.docker.running()}
        if self.docker.running() and self.config.root != note["to"]:
            # Also where somebody started Docker again since an earlier run was stopped.
            note = {**note, **self.shown(), "active": True}
        self.notes.note(moving=note)
        return note

    def ask(self, *arguments, seconds=60):
        """Run docker, on the engine that systemd runs."""
        return run([self.docker.client, "--context", "default", *arguments], seconds)

    def shown(self):
        """Return what the running daemon has."""
        info = self.docker.info() or {}
        ids = sorted(set(self.ask("image", "ls", "--all", "--quiet", "--no-trunc")[1].split()))
        return {"driver": info.get("Driver"), "images": ids, "containers": info.get("Containers")}

    def stop(self):
        """Stop the containers, also those that live-restore would keep, then Docker and its socket."""
        names = self.note["running"]
        if names and self.docker.running():
            self.ask("stop", *names, seconds=STOP_S)
        run(["systemctl", "stop", UNITS[1], UNITS[0]], STOP_S)
        if self.docker.running():
            raise self.given_up("systemctl stop docker did not stop it")
        found = mounts(Path("/proc/self/mountinfo").read_text(encoding="utf-8"))
        # Only now: while it runs, dockerd mounts its folder on itself.
        mounted = self.note["from"] in {each["target"] for each in found}
        self.note = {**self.note, "old_mount": mounted}
        self.notes.note(moving=self.note)
        left = below(found, self.note["from"])
        if left and self.note["do"] == "move":
            raise self.given_up(f"still mounted within {self.note['from']}: {', '.join(left[:5])}")

    def prove(self):
        """Start Docker; return what it then fails to show, None where it shows all."""
        failed = self.docker.restart()
        if failed:
            return failed
        info, target = self.docker.info() or {}, self.note["to"]
        if os.path.realpath(info.get("DockerRootDir") or "/") != target:
            return f"it keeps its data in {info.get('DockerRootDir')}"
        if self.note["do"] == "move" and "images" in self.note:
            now = self.shown()
            lost = [key for key in ("driver", "images", "containers") if now[key] != self.note[key]]
            return f"it shows other {' and '.join(lost)} than before" if lost else None
        held = contents(target)["images"]
        if held and not info.get("Images"):
            return (
                f"it shows none of the {held} images there (its storage driver is {info.get('Driver')}; "
                f"{', '.join(sorted(each.name for each in Path(target, 'image').iterdir()))} is what they "
                "were made with)"
            )
        return None

    def put_aside(self, source):
        """Rename the old folder, or remove it; what is a mount of its own cannot be renamed, and stays."""
        keep = self.module.params["keep_old"]
        if self.note["old_mount"]:
            if keep:
                self.said.append(
                    f"{source} is a mount of its own and stays as it was; Docker does not read it now."
                )
                return
            for each in Path(source).iterdir():
                shutil.rmtree(each) if each.is_dir() and not each.is_symlink() else each.unlink()
            return
        kept = self.notes.settings.get("kept")
        if kept is None or (Path(source).is_dir() and Path(kept).exists()):
            plain = f"{source}.moved-{time.strftime('%Y%m%d')}"
            kept = next(
                name
                for name in [plain, *(f"{plain}-{n}" for n in range(2, 999))]
                if not os.path.lexists(name)
            )
            self.notes.note(kept=kept, kept_from=source)
        if Path(source).is_dir():
            Path(source).rename(kept)
        if keep:
            self.said.append(f"What was in {source} is kept as {kept}; remove it once you are content.")
        else:
            shutil.rmtree(kept, ignore_errors=True)
            self.notes.forget("kept")

    def start_containers(self):
        """Start those again that ran; a restart policy may have done so."""
        if self.note["running"] and self.note["active"]:
            rc, _, said = self.ask("start", *self.note["running"], seconds=STOP_S)
            if rc != 0:
                self.said.append(f"Not all containers that ran before were started again: {said.strip()}.")

    def given_up(self, why):
        """Docker goes on where it was."""
        then = self.again()
        return RefusedError(
            "move", f"Docker's data was not moved: {why}. {then} Correct that, and run again."
        )

    def taken_back(self, why):
        """Docker does not do with it: the file goes back, and the copy is no data-root any more."""
        if self.config.root == self.note["to"]:
            Config(self.module, self.docker, self.plan["config"]).clear(self.notes)  # an earlier run wrote it
        else:
            self.config.put_back()
        self.notes.forget("data_root")
        self.notes.disown(str(self.config.path))
        run(["systemctl", "stop", UNITS[1], UNITS[0]], STOP_S)
        if self.note["do"] == "move":
            Path(self.note["to"]).rename(f"{self.note['to']}.part")
        then = self.again()
        return RefusedError(
            "move", f"Docker did not work with its data in {self.note['to']}: {why}. The file is back. {then}"
        )

    def again(self):
        """Start Docker where it was; return what came of it."""
        failed = self.docker.restart() if self.note["active"] else None
        if not failed:
            self.start_containers()
            self.notes.forget("moving")
        place = self.note["from"]
        if not self.note["active"]:
            return f"Docker was stopped, and stays so; its data is in {place}."
        return (
            f"Docker does not start either: {failed}."
            if failed
            else f"Docker runs again, with its data in {place}."
        )
