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
    def engine(self):
        return {"config_file": engine["path"], "flags": [], "no_cgroups": False, "rootless": [],
                "kind": "engine", "because": "a test", "containers": ["web", "train"],
                "active": engine["loaded"] is not None,
                **engine["seen"]}
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
                "LiveRestoreEnabled": engine["live_restore"],
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
            "seen": {}, "live_restore": False,
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
        asked = {"subset": ["machine"], "runtime": given, "_ansible_remote_tmp": str(self.folder)}
        settled = run_module("gpu_host_probe", asked, str(told), before=ENGINE)["settled"]["runtime"]
        result = run_module("docker_daemon_config", arguments, str(told), before=ENGINE, umask=umask)
        # What preflight's one look says of it, in every case that is tried here.
        silent = not result.get("failed") and "warnings" not in result
        assert settled == (given.get("state") != "absent" and silent and not result["changed"])
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


def flag(name: str, value: str, written: str) -> list[str]:
    return [name, value, written]


def test_a5_a_clash_of_the_users_own_is_refused_before_anything_is_changed(host: Host) -> None:
    before = host.has('{"hosts": ["tcp://0.0.0.0:2375"]}')
    host.engine.update(loaded=None, seen={"flags": [flag("host", "fd://", "-H fd://")]})
    for check in (False, True):
        done = host.run(check=check)
        assert done["failed"]
        assert "both set hosts (flag: -H fd://)" in done["msg"]
        assert "that is why Docker is down, and not this role's doing" in done["msg"]
    assert host.asked == []
    assert host.path.read_bytes() == before
    assert host.backups == []
    assert not host.owned.exists()


def test_a5_a_clash_is_refused_while_docker_still_runs_too(host: Host) -> None:
    before = host.has('{"default-shm-size": "2G", "debug": true}')
    host.engine["seen"] = {
        "flags": [flag("default-shm-size", "1G", "--default-shm-size=1G"), flag("debug", "", "-D")]
    }
    done = host.run()
    assert "both set debug (flag: -D), default-shm-size (flag: --default-shm-size=1G)" in done["msg"]
    assert "its next start would fail" in done["msg"]
    assert host.path.read_bytes() == before
    assert host.asked == []


def test_a5_a_flag_that_is_not_in_the_file_is_no_clash(host: Host) -> None:
    host.has('{"log-driver": "json-file"}')
    host.engine["seen"] = {
        "flags": [flag("host", "fd://", "-H fd://"), flag("default-shm-size", "1G", "--x")]
    }
    assert host.run()["restarted"]


def test_a5_what_of_ours_is_a_flag_is_not_written_and_said(host: Host) -> None:
    host.has("{}")
    host.engine["seen"] = {"flags": [
        flag("add-runtime", "nvidia=/opt/n", "--add-runtime nvidia=/opt/n"),
        flag("default-runtime", "nvidia", "--default-runtime=nvidia"),
        flag("feature", "cdi=true", "--feature cdi=true"),
    ]}  # fmt: skip
    host.engine["deaf"] = True  # this stand-in shows only what is in the file
    done = host.run(check=True, default_runtime="nvidia")
    assert done["diff"]["after"] == "{}"
    said = str(done["warnings"])
    assert "registers the runtime nvidia already (/opt/n)" in said
    assert "--default-runtime=nvidia already" in said


def test_a5_another_default_as_a_flag_is_refused(host: Host) -> None:
    before = host.has("{}")
    host.engine["seen"] = {"flags": [flag("default-runtime", "runsc", "--default-runtime=runsc")]}
    assert (
        "says --default-runtime=runsc, and nvidia is asked for" in host.run(default_runtime="nvidia")["msg"]
    )
    assert host.path.read_bytes() == before
    assert host.run()["restarted"]  # not asked for: the user's flag stays


def test_a5_features_stay_out_of_the_file_where_they_are_a_flag(host: Host) -> None:
    host.engine["seen"] = {"flags": [flag("feature", "buildkit", "--feature buildkit")]}
    assert "CDI stays off until --feature cdi=true" in str(host.run()["warnings"])
    assert "features" not in host.document


def test_a6_the_file_of_config_file_is_followed(host: Host) -> None:
    elsewhere = host.folder / "srv" / "docker.json"
    elsewhere.parent.mkdir()
    elsewhere.write_text('{"debug": true}', encoding="utf-8")
    host.path = elsewhere
    host.engine.update(path=str(elsewhere))
    host.engine["seen"] = {"flags": [flag("config-file", str(elsewhere), f"--config-file {elsewhere}")]}
    done = host.run(path=None)
    assert done["restarted"]
    assert host.document["debug"] is True
    assert "nvidia" in host.document["runtimes"]
    assert f"--config-file {elsewhere}: that file is the one" in str(done["warnings"])
    # Found again from the note, whatever the unit says by then.
    host.engine.update(seen={"config_file": "/etc/docker/daemon.json"})
    host.run(path=None, state="absent")
    assert host.document == {"debug": True}


@pytest.mark.parametrize("kind", ["snap", "desktop", "rootless", "podman-docker", "two"])
def test_a6_a_daemon_that_does_not_read_the_file_is_named_and_nothing_changes(host: Host, kind: str) -> None:
    before = host.has("{}")
    host.engine["seen"] = {"kind": kind, "because": "seen so"}
    done = host.run()
    assert done["failed"]
    assert "does not read /etc/docker/daemon.json" in done["msg"]
    assert "seen so" in done["msg"]
    assert host.path.read_bytes() == before
    assert host.asked == []


def test_a6_a_failed_proof_names_the_file_that_is_read(host: Host) -> None:
    host.has("{}")
    host.engine.update(deaf=True, seen={"config_file": "/srv/docker.json"})
    assert f"dockerd reads /srv/docker.json here, not {host.path}" in host.run()["msg"]


@pytest.mark.parametrize(("seen", "said"), [
    ({"no_cgroups": True}, "for rootless Docker only"),
    ({"rootless": ["/run/user/1000/docker.sock"]}, "can serve only one of the two"),
])  # fmt: skip
def test_a8_the_switch_is_said(host: Host, seen: dict[str, Any], said: str) -> None:
    host.engine["seen"] = seen
    assert said in str(host.run()["warnings"])


def test_g7_never_writes_validates_and_says_what_is_pending(host: Host) -> None:
    host.has('{"debug": true}')
    done = host.run(restart="never")
    assert (done["changed"], done["restarted"]) == (True, False)
    assert done["pending"] == ["daemon.json changed"]
    assert "Docker was not restarted (daemon.json changed)" in str(done["warnings"])
    assert "containers that were running" not in str(done["warnings"])
    assert host.asked == ["validate"]
    assert "nvidia" in host.document["runtimes"]
    again = host.run(restart="never")
    assert not again["changed"]
    assert "no runtime nvidia" in str(again["pending"])
    assert host.run()["restarted"]
    assert host.run(restart="never")["pending"] == []


def test_g7_never_does_not_restart_to_take_out_either(host: Host) -> None:
    host.run()
    done = host.run(state="absent", restart="never")
    assert (done["changed"], done["restarted"]) == (True, False)
    assert "restart" not in host.asked


def test_g7_live_restore_is_respected_and_the_names_are_said(host: Host) -> None:
    host.engine["live_restore"] = True
    said = str(host.run()["warnings"])
    assert "stay up over Docker's restart: 2 (web, train)" in said
    assert "stopped" not in said


def test_g7_the_containers_that_will_stop_are_named_in_check_mode(host: Host) -> None:
    done = host.run(check=True)
    assert "will stop the containers that were running: 2 (web, train)" in str(done["warnings"])
    assert done["containers"] == ["web", "train"]
    assert done["due"]
    assert not host.path.exists()


def test_g2_check_mode_where_an_engine_is_about_to_be_put_beside_docker_desktop(host: Host) -> None:
    host.engine.update(program=None, version="", loaded=None, seen={"kind": "desktop"})
    assert host.run(check=True)["changed"]
    assert "does not read" in host.run()["msg"]
