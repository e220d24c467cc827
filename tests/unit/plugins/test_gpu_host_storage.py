"""The move, with an engine of the test's own and real copies: moved, gone on with, taken back, undone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils.gpu_host_storage_root import contents, differences, weight
from tests.unit.plugins.modules import run_module

# Stands in for Docker and systemd: knows the folder that it was started with, and what lies there.
ENGINE = """
import json, os
from ansible.module_utils import gpu_host_dockerd, gpu_host_storage_notes
state = json.load(open(sys.argv[3]))
gpu_host_storage_notes.alone.__defaults__ = (state["lock"],)

def keep(word):
    state["asked"].append(word)
    json.dump(state, open(sys.argv[3], "w"))

def images(root):
    place = root + "/image/overlay2/imagedb/content/sha256"
    return sorted(os.listdir(place)) if os.path.isdir(place) else []

class Dockerd:
    program = client = state["program"]
    def engine(self):
        return {"containers": state["running"]}
    def version(self):
        return "Docker version 26.1.5, build x"
    def objection(self, path):
        return state["objection"]
    def running(self):
        return state["root"] is not None
    def info(self):
        if state["root"] is None:
            return None
        shown = [] if state["blind"] == state["root"] else images(state["root"])
        return {"DockerRootDir": state["root"], "Driver": "overlay2", "Images": len(shown), "Containers": 0}
    def restart(self):
        document = json.load(open(state["config"])) if os.path.exists(state["config"]) else {}
        state["root"] = document.get("data-root", state["default"])
        os.makedirs(state["root"], exist_ok=True)
        keep("restart")

def run(argv, seconds):
    if argv[:2] == ["systemctl", "stop"]:
        state["root"] = None
        keep("stop")
    elif "ls" in argv:
        shown = [] if state["blind"] == state["root"] else images(state["root"])
        return 0, "\\n".join(shown), ""
    elif argv[0] == state["program"]:
        keep(" ".join(argv[3:]))
    return 0, "", ""

gpu_host_dockerd.Dockerd, gpu_host_dockerd.run = Dockerd, run
"""


class Host:
    """Docker's old folder, a volume, daemon.json and the ownership file below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.old, self.new = folder / "lib" / "docker", folder / "volume" / "docker"
        self.config, self.owned = folder / "etc" / "daemon.json", folder / "owned" / "owned.json"
        self.new.parent.mkdir()
        self.fill(self.old)
        self.engine: dict[str, Any] = {
            "program": "docker", "config": str(self.config), "default": str(self.old), "root": str(self.old),
            "running": [], "objection": None, "blind": "", "asked": [], "lock": str(folder / "lock"),
        }  # fmt: skip

    @staticmethod
    def fill(root: Path) -> None:
        place = root / "image" / "overlay2" / "imagedb" / "content" / "sha256"
        place.mkdir(parents=True)
        (place / "abc").write_text("{}", encoding="utf-8")
        layer = root / "overlay2" / "layer" / "diff"
        layer.mkdir(parents=True)
        (layer / "one").write_bytes(b"x" * 5000)
        os.link(layer / "one", layer / "other")
        (layer / "link").symlink_to("one")
        (layer / "one").chmod(0o4755)

    def write(self, document: Any) -> bytes:
        self.config.parent.mkdir(exist_ok=True)
        self.config.write_text(json.dumps(document), encoding="utf-8")
        return self.config.read_bytes()

    def run(self, **given: Any) -> dict[str, Any]:
        told = self.folder / "engine.json"
        self.engine["asked"] = []
        told.write_text(json.dumps(self.engine), encoding="utf-8")
        given = {"owned": str(self.owned), "_ansible_remote_tmp": str(self.folder), **given}
        result = run_module("gpu_host_storage", given, str(told), before=ENGINE)
        self.engine = json.loads(told.read_text(encoding="utf-8"))
        return result

    def act(self, do: str, **more: Any) -> dict[str, Any]:
        plan = {
            "do": do, "from": str(self.old), "to": str(self.new), "config": str(self.config),
            "running": self.engine["running"], "graph": False, "volume": str(self.new.parent),
        }  # fmt: skip
        return self.run(docker={**plan, **more.pop("plan", {})}, **more)

    @property
    def document(self) -> Any:
        return json.loads(self.config.read_text(encoding="utf-8"))

    @property
    def noted(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.owned.read_text(encoding="utf-8"))["roles"]["gpu_storage"]
        return found

    @property
    def put_aside(self) -> list[Path]:
        return sorted(self.old.parent.glob("docker.moved-*"))


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    found = Host(tmp_path)
    yield found
    # Whatever happened, no test leaves a host with its images in neither place.
    assert any(contents(str(place))["images"] for place in (found.old, found.new, *found.put_aside))


def test_moved_it_is_the_same_and_the_old_folder_is_beside(host: Host) -> None:
    host.write({"debug": True})
    done = host.act("move")
    assert done["changed"], done
    assert host.document == {"debug": True, "data-root": str(host.new)}
    assert host.engine["root"] == str(host.new)
    assert [differences(str(path), str(host.new)) for path in host.put_aside] == [[]]
    assert not host.old.exists()
    assert not Path(f"{host.new}.part").exists()
    assert "moving" not in host.noted["settings"]
    assert [path.read_text() for path in host.config.parent.glob("daemon.json.*")] == ['{"debug": true}']


def test_the_old_folder_goes_where_it_is_not_to_be_kept(host: Host) -> None:
    assert host.act("move", keep_old=False)["changed"]
    assert (host.put_aside, host.old.exists()) == ([], False)


def test_containers_that_ran_are_stopped_before_and_started_after(host: Host) -> None:
    host.engine["running"] = ["web"]
    host.act("move")
    assert host.engine["asked"] == ["stop web", "stop", "restart", "start web"]


def test_docker_that_was_stopped_stays_so(host: Host) -> None:
    host.engine["root"] = None
    assert host.act("move")["changed"]
    assert "restart" not in host.engine["asked"]
    assert contents(str(host.new))["images"] == 1


@pytest.mark.parametrize("rename", [False, True], ids=["in the copy", "after its rename"])
def test_killed_before_the_file_changed_the_next_run_goes_on(host: Host, *, rename: bool) -> None:
    part = Path(f"{host.new}.part")
    half = host.new if rename else part
    (half / "overlay2").mkdir(parents=True)
    (half / "overlay2" / "half").write_text("a copy that stopped here", encoding="utf-8")
    note = {
        "do": "move",
        "from": str(host.old),
        "to": str(host.new),
        "graph": False,
        "running": [],
        "active": True,
    }
    host.owned.parent.mkdir()
    host.owned.write_text(
        json.dumps({"schema": 1, "roles": {"gpu_storage": {"settings": {"moving": note}}}}), encoding="utf-8"
    )
    host.engine["root"] = None
    done = host.act("continue")
    assert done["changed"], done
    assert host.engine["root"] == str(host.new)
    assert [differences(str(path), str(host.new)) for path in host.put_aside] == [[]]


def test_killed_after_the_file_changed_the_next_run_goes_on(host: Host) -> None:
    host.act("move")
    host.put_aside[0].rename(host.old)
    note = {
        "do": "move", "from": str(host.old), "to": str(host.new), "graph": False, "running": ["web"],
        "active": True, "old_mount": False, "driver": "overlay2", "images": ["abc"], "containers": 0,
    }  # fmt: skip
    document = json.loads(host.owned.read_text(encoding="utf-8"))
    document["roles"]["gpu_storage"]["settings"]["moving"] = note
    host.owned.write_text(json.dumps(document), encoding="utf-8")
    host.engine["root"] = None
    assert host.act("continue")["changed"]
    assert host.engine["asked"] == ["restart", "start web"]
    assert (len(host.put_aside), host.old.exists()) == (1, False)


def test_docker_that_does_not_show_its_images_there_is_put_back(host: Host) -> None:
    before = host.write({"debug": True})
    host.engine["blind"] = str(host.new)
    done = host.act("move")
    assert "it shows other images than before" in done["msg"]
    assert host.config.read_bytes() == before
    assert host.engine["root"] == str(host.old)
    assert not host.new.exists()
    assert "moving" not in host.noted["settings"]
    host.engine["blind"] = ""
    assert host.act("move")["changed"]


def test_what_was_taken_back_is_nobodys_and_absent_leaves_a_file_that_came_since(host: Host) -> None:
    host.engine["blind"] = str(host.new)
    assert host.act("move")["failed"]
    later = host.write({"debug": True})
    assert host.run(state="absent")["changed"]
    assert host.config.read_bytes() == later


def test_a_file_that_dockerd_refuses_stays_and_docker_runs_where_it_was(host: Host) -> None:
    before = host.write({"debug": True})
    host.engine["objection"] = "unknown key"
    done = host.act("move")
    assert "dockerd refuses" in done["msg"]
    assert (host.config.read_bytes(), host.engine["root"]) == (before, str(host.old))


def test_an_engine_without_data_starts_on_the_volume(host: Host) -> None:
    host.old.rename(host.new)
    assert host.act("adopt")["changed"]
    assert host.engine["root"] == str(host.new)
    assert host.put_aside == []


def test_a_volume_that_docker_shows_nothing_of_is_put_back_untouched(host: Host) -> None:
    host.old.rename(host.new)
    host.engine["blind"] = str(host.new)
    done = host.act("adopt")
    assert "shows none of the 1 images" in done["msg"]
    assert "overlay2 is what they were made with" in done["msg"]
    assert host.engine["root"] == str(host.old)
    assert contents(str(host.new))["images"] == 1
    assert not host.config.exists()


def test_before_the_engine_is_there_the_file_is_all(host: Host) -> None:
    host.engine.update(program=None, root=None)
    host.act("set", plan={"graph": True})
    assert host.document == {"features": {"containerd-snapshotter": False}, "data-root": str(host.new)}
    assert host.engine["asked"] == []


def test_a_second_run_at_the_same_time_is_told_so(host: Host) -> None:
    import fcntl  # noqa: PLC0415  # only here

    with Path(host.engine["lock"]).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "is at work on this host" in host.act("move")["msg"]
    assert host.engine["root"] == str(host.old)


def test_absent_puts_everything_back_and_leaves_the_volume(host: Host) -> None:
    host.act("move")
    done = host.run(state="absent")
    assert done["changed"], done
    assert not host.config.exists()
    assert not host.owned.exists()
    assert host.engine["root"] == str(host.old)
    assert (host.put_aside, contents(str(host.old))["images"]) == ([], 1)
    assert contents(str(host.new))["images"] == 1
    assert not host.run(state="absent")["changed"]


def test_absent_leaves_what_was_changed_since_and_names_who_runs(host: Host) -> None:
    host.write({"debug": True})
    host.act("move")
    host.engine["running"] = ["web"]
    assert "containers run: web" in host.run(state="absent")["msg"]
    host.write({"data-root": "/elsewhere"})
    assert host.run(state="absent")["changed"]
    assert host.document == {"data-root": "/elsewhere"}


def test_absent_in_the_middle_of_a_move_is_refused(host: Host) -> None:
    host.act("move")
    document = json.loads(host.owned.read_text(encoding="utf-8"))
    document["roles"]["gpu_storage"]["settings"]["moving"] = {"do": "move"}
    host.owned.write_text(json.dumps(document), encoding="utf-8")
    assert "between two places" in host.run(state="absent")["msg"]


def test_the_file_is_left_to_the_other_role_that_has_keys_in_it(host: Host) -> None:
    host.act("move")
    host.write({**host.document, "runtimes": {"nvidia": {}}})
    document = json.loads(host.owned.read_text(encoding="utf-8"))
    document["roles"]["docker_nvidia_runtime"] = {"settings": {"keys": {}}}
    host.owned.write_text(json.dumps(document), encoding="utf-8")
    host.run(state="absent")
    left = json.loads(host.owned.read_text(encoding="utf-8"))["roles"]
    assert list(left) == ["docker_nvidia_runtime"]
    assert left["docker_nvidia_runtime"]["files"] == [str(host.config)]
    assert host.document == {"runtimes": {"nvidia": {}}}


def test_a_dry_run_does_nothing(host: Host) -> None:
    assert host.act("move", _ansible_check_mode=True)["changed"]
    assert host.engine["asked"] == []
    assert not host.owned.exists()


def relink(path: Path) -> None:
    path.unlink()
    path.symlink_to("x")


CHANGES: dict[str, Callable[[Path], object]] = {
    "is missing": lambda new: (new / "overlay2/layer/diff/link").unlink(),
    "another size": lambda new: (new / "overlay2/layer/diff/one").write_bytes(b"short"),
    "another mode": lambda new: (new / "overlay2/layer/diff/one").chmod(0o755),
    "another time": lambda new: os.utime(new / "overlay2/layer/diff/one", (1, 1)),
    "only in the copy": lambda new: (new / "more").touch(),
    "another link": lambda new: relink(new / "overlay2/layer/diff/link"),
    "another names": lambda new: (new / "overlay2/layer/diff/other").rename(new / "x"),
    "another attributes": lambda new: os.setxattr(new / "overlay2/layer/diff/one", "user.x", b"y"),
}


@pytest.mark.parametrize("said", CHANGES)
def test_a_copy_that_differs_in_anything_is_found(host: Host, said: str) -> None:
    host.act("move")
    CHANGES[said](host.new)
    if said == "another names":
        (host.new / "x").unlink()
    assert said in "; ".join(differences(str(host.put_aside[0]), str(host.new)))


def test_what_has_two_names_counts_once(host: Host) -> None:
    two = weight(str(host.old))
    (host.old / "overlay2/layer/diff/other").unlink()
    assert weight(str(host.old)) == two
