"""The module as it runs on a host, with an engine of the test's own: written, proven, or taken back."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.plugins.modules import run_module

if TYPE_CHECKING:
    from pathlib import Path

# Stands in for the engine alone. It loads the file when it is restarted, and notes what was asked of it.
ENGINE = """
import json
from ansible.module_utils import gpu_host_dockerd
engine = json.load(open(sys.argv[3]))

class Dockerd:
    program = engine["program"]
    def version(self):
        return engine["version"]
    def objection(self, path):
        note("validate")
        return engine["objection"].replace("TMP", path) if engine["objection"] else None
    def info(self):
        if engine["loaded"] is None:
            return None
        return {"ServerVersion": "26", "Runtimes": {"runc": {}, **(engine["loaded"].get("runtimes") or {})},
                "DefaultRuntime": engine["loaded"].get("default-runtime", "runc"), "ContainersRunning": 2,
                "CDISpecDirs": ["/etc/cdi"] if engine["loaded"].get("features") else None}
    def running(self):
        return engine["loaded"] is not None
    def older_than(self, path):
        return engine["hook_is_newer"]
    def restart(self):
        note("restart")
        try:
            text = open(engine["path"]).read()
        except FileNotFoundError:
            text = "{}"
        if engine["breaks_on"] and engine["breaks_on"] in text:
            engine["loaded"] = None
            return "failed to start daemon: " + engine["breaks_on"]
        engine["loaded"] = {} if engine["deaf"] else json.loads(text)

def note(word):
    engine["asked"].append(word)
    json.dump(engine, open(sys.argv[3], "w"))

gpu_host_dockerd.Dockerd = Dockerd
"""


class Host:
    """A daemon.json, an ownership file and an engine below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path, self.owned = folder / "docker" / "daemon.json", folder / "lib" / "owned.json"
        self.engine: dict[str, Any] = {
            "program": "/usr/sbin/dockerd", "version": "Docker version 26.1.5, build x", "objection": None,
            "loaded": {}, "hook_is_newer": False, "breaks_on": None, "deaf": False, "asked": [],
            "path": str(self.path),
        }  # fmt: skip

    def has(self, text: str) -> bytes:
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(text, encoding="utf-8")
        return text.encode()

    def run(self, *, check: bool = False, umask: int = 0o022, **parameters: Any) -> dict[str, Any]:
        told = self.folder / "engine.json"
        self.engine["asked"] = []
        told.write_text(json.dumps(self.engine), encoding="utf-8")
        given = {"path": str(self.path), "owned": str(self.owned), **parameters}
        arguments = {**given, "_ansible_check_mode": check, "_ansible_remote_tmp": str(self.folder)}
        result = run_module("docker_daemon_config", arguments, str(told), before=ENGINE, umask=umask)
        self.engine = json.loads(told.read_text(encoding="utf-8"))
        if "restart" in self.engine["asked"]:
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else "{}"
            self.engine["loaded"] = json.loads(text)
        return result

    @property
    def asked(self) -> list[str]:
        asked: list[str] = self.engine["asked"]
        return asked

    @property
    def backups(self) -> list[Path]:
        return [path for path in self.path.parent.iterdir() if path != self.path]

    @property
    def document(self) -> Any:
        return json.loads(self.path.read_text(encoding="utf-8"))


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_missing_file_and_folder_are_normal(host: Host) -> None:
    done = host.run()
    assert done["changed"]
    assert host.document["runtimes"] == {"nvidia": {"path": "nvidia-container-runtime", "args": []}}
    assert host.document["features"] == {"cdi": True}
    assert stat.S_IMODE(host.path.stat().st_mode) == 0o644
    assert host.asked == ["validate", "restart"]
    assert "2 containers ran" in done["msg"]
    assert host.backups == []


def test_a_second_run_changes_nothing_and_restarts_nothing(host: Host) -> None:
    host.run()
    before = host.path.read_bytes(), host.owned.read_bytes(), host.path.stat().st_ino
    done = host.run()
    assert not done["changed"]
    assert host.asked == []
    assert (host.path.read_bytes(), host.owned.read_bytes(), host.path.stat().st_ino) == before


def test_mode_is_kept_and_the_old_file_is_beside_it(host: Host) -> None:
    before = host.has('{"debug": true}')
    host.path.chmod(0o640)
    done = host.run()
    assert stat.S_IMODE(host.path.stat().st_mode) == 0o640
    assert [path.read_bytes() for path in host.backups] == [before]
    assert done["backup"] == str(host.backups[0])


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_empty_file_is_said_and_kept_beside(host: Host, text: str) -> None:
    host.has(text)
    done = host.run()
    assert "was empty; treated as {}" in json.dumps(done["warnings"])
    assert "nvidia" in host.document["runtimes"]
    assert [path.read_text(encoding="utf-8") for path in host.backups] == [text]


def test_a_damaged_file_is_refused_and_stays(host: Host) -> None:
    before = host.has('{\n  "debug": true,\n}\n')
    done = host.run()
    assert done["failed"]
    assert f"{host.path}, line 2, column 16" in done["msg"]
    assert host.path.read_bytes() == before
    assert host.asked == []
    assert host.backups == []


def test_a_directory_and_a_dangling_link_are_refused(host: Host) -> None:
    host.path.mkdir(parents=True)
    assert "is a directory" in host.run()["msg"]
    host.path.rmdir()
    host.path.symlink_to(host.folder / "nowhere")
    assert "which does not exist" in host.run()["msg"]
    assert host.path.is_symlink()
    assert host.asked == []


def test_a_link_stays_a_link(host: Host) -> None:
    real = host.folder / "real.json"
    real.write_text("{}", encoding="utf-8")
    host.path.parent.mkdir()
    host.path.symlink_to(real)
    assert host.run()["changed"]
    assert host.path.is_symlink()
    assert "nvidia" in json.loads(real.read_text(encoding="utf-8"))["runtimes"]


def test_what_dockerd_refuses_is_not_put_in_place(host: Host) -> None:
    before = host.has('{"nonsense": 1}')
    host.engine["objection"] = "unable to configure the Docker daemon with file TMP: nonsense"
    done = host.run()
    assert f"unable to configure the Docker daemon with file {host.path}: nonsense" in done["msg"]
    assert host.path.read_bytes() == before
    assert host.asked == ["validate"]
    assert not host.owned.exists()


def test_an_engine_before_23_cannot_validate(host: Host) -> None:
    host.engine["version"] = "Docker version 20.10.24+dfsg1, build x"
    host.run()
    assert host.asked == ["restart"]
    assert "features" not in host.document


def test_a_file_that_docker_does_not_take_goes_back_byte_for_byte(host: Host) -> None:
    before = host.has('{"debug":true}')
    host.path.chmod(0o600)
    host.engine["breaks_on"] = "nosuch"
    done = host.run(default_runtime="nosuch")
    assert done["failed"]
    assert "failed to start daemon: nosuch" in done["msg"]
    assert "back byte for byte, and Docker runs again" in done["msg"]
    assert host.path.read_bytes() == before
    assert stat.S_IMODE(host.path.stat().st_mode) == 0o600
    assert host.asked == ["validate", "restart", "restart"]
    assert host.backups == []
    assert not host.owned.exists()


def test_a_file_that_was_not_there_is_removed_again(host: Host) -> None:
    host.engine["breaks_on"] = "nvidia"
    done = host.run()
    assert "The old file is removed again, and Docker runs again" in done["msg"]
    assert not host.path.exists()


def test_a_daemon_that_starts_without_the_runtime_is_a_failure(host: Host) -> None:
    before = host.has("{}")
    host.engine["deaf"] = True
    done = host.run()
    assert "the running daemon has no runtime nvidia (it has: runc)" in done["msg"]
    assert host.path.read_bytes() == before


def test_docker_that_was_broken_before_is_said(host: Host) -> None:
    before = host.has('{"debug": "broken"}')
    host.engine.update(loaded=None, breaks_on="broken")
    done = host.run()
    assert "Docker does not start with that either" in done["msg"]
    assert host.path.read_bytes() == before


def test_a_file_that_was_never_loaded_is_drift(host: Host) -> None:
    host.run()
    host.engine["loaded"] = {}
    before = host.path.read_bytes()
    assert host.run(check=True)["changed"]
    assert host.asked == []
    done = host.run()
    assert done["changed"]
    assert done["restarted"]
    assert host.asked == ["restart"]
    assert host.path.read_bytes() == before


def test_a_daemon_that_reads_another_file_is_said(host: Host) -> None:
    host.run()
    host.engine.update(loaded={}, deaf=True)
    before = host.path.read_bytes()
    done = host.run()
    assert "Does this daemon read another one" in done["msg"]
    assert host.path.read_bytes() == before


def test_a_hook_that_came_after_the_start_means_a_restart(host: Host) -> None:
    host.run()
    host.engine["hook_is_newer"] = True
    done = host.run()
    assert host.asked == ["restart"]
    assert "came after Docker's start" in done["msg"]


def test_check_mode_shows_and_changes_nothing(host: Host) -> None:
    before = host.has('{"debug": true}')
    done = host.run(check=True)
    assert done["changed"]
    assert "would be restarted" in done["msg"]
    assert '"nvidia"' in done["diff"]["after"]
    assert host.asked == ["validate"]
    assert host.path.read_bytes() == before
    assert not host.owned.exists()


def test_check_mode_on_a_host_without_docker(host: Host) -> None:
    host.engine.update(program=None, version="", loaded=None)
    done = host.run(check=True)
    assert done["changed"]
    assert not host.path.parent.exists()


def test_a_host_without_docker_is_refused(host: Host) -> None:
    host.engine.update(program=None, version="", loaded=None)
    assert "There is no dockerd on this host" in host.run()["msg"]
    assert not host.path.exists()


def test_absent_takes_out_ours_alone(host: Host) -> None:
    host.has('{"runtimes": {"kata": {"path": "kata"}}, "default-runtime": "kata"}')
    before = host.document
    host.run(default_runtime="nvidia")
    assert host.document["default-runtime"] == "nvidia"
    done = host.run(state="absent")
    assert done["changed"]
    assert host.document == before
    assert host.asked == ["validate", "restart"]
    assert json.loads(host.owned.read_text(encoding="utf-8"))["roles"] == {}
    assert not host.run(state="absent")["changed"]


def test_absent_removes_the_file_that_was_made(host: Host) -> None:
    host.run()
    host.run(state="absent")
    assert list(host.path.parent.iterdir()) == []


def test_absent_does_not_start_a_docker_that_is_stopped(host: Host) -> None:
    host.run()
    host.engine["loaded"] = None
    assert host.run(state="absent")["changed"]
    assert host.asked == []
    assert not host.path.exists()


def test_containers_that_a_restart_stops_are_counted_aloud(host: Host) -> None:
    assert "will stop the containers that were running: 2" in str(host.run(check=True)["warnings"])
    assert "stopped the containers that were running: 2" in str(host.run()["warnings"])
    assert "warnings" not in host.run()


def test_a_new_file_can_be_read_by_everybody(host: Host) -> None:
    host.run(umask=0o077)
    assert stat.S_IMODE(host.path.stat().st_mode) == 0o644
    assert stat.S_IMODE(host.owned.stat().st_mode) == 0o644


def test_absent_without_a_note_touches_nothing(host: Host) -> None:
    before = host.has('{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}')
    assert not host.run(state="absent")["changed"]
    assert host.path.read_bytes() == before
    assert host.asked == []


def test_absent_after_docker_is_gone(host: Host) -> None:
    host.run()
    host.engine.update(program=None, version="", loaded=None)
    assert host.run(state="absent")["changed"]
    assert not host.path.exists()
    assert host.asked == []


def test_what_was_there_first_is_remembered_over_several_runs(host: Host) -> None:
    host.has('{"default-runtime": "kata"}')
    host.run(default_runtime="first")
    host.run(default_runtime="second")
    host.run(state="absent")
    assert host.document == {"default-runtime": "kata"}


def test_a_damaged_ownership_file_stops_everything(host: Host) -> None:
    host.owned.parent.mkdir()
    host.owned.write_text("{", encoding="utf-8")
    before = host.has("{}")
    assert "cannot be read" in host.run()["msg"]
    assert host.path.read_bytes() == before
