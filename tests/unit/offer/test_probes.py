"""The programs that are sent: what they choose, measure and mark, and that they take everything away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from verify.image.reference import parse
from verify.offer import manifest, tries_probe

MOUNTS = """\
/dev/vda1 / ext4 rw,relatime 0 0
proc /proc proc rw 0 0
tmpfs /dev/shm tmpfs rw 0 0
/dev/vda1 /boot ext4 rw 0 0
/dev/vdb /data\\040sets xfs rw 0 0
server:/x /nfs nfs4 ro,vers=4 0 0
volume /workspace fuse.juicefs rw 0 0
lxcfs /proc/cpuinfo fuse.lxcfs rw 0 0
/dev/vdc /var/lib/docker ext4 rw 0 0
overlay /var/lib/docker/overlay2/x/merged overlay rw 0 0
/dev/vda1 /etc/hosts ext4 rw 0 0
"""


def test_only_mounts_that_data_could_be_kept_on_are_looked_at() -> None:
    found = [place["path"] for place in tries_probe.candidates(MOUNTS, [])]
    assert found == ["/", "/data sets", "/workspace", "/var/lib/docker"]


def test_a_folder_that_was_named_comes_first_with_its_mount() -> None:
    first = tries_probe.candidates(MOUNTS, ["/workspace/mine"])[0]
    assert (first["path"], first["mount"], first["kind"]) == ("/workspace/mine", "/workspace", "fuse.juicefs")


def test_the_measuring_is_bounded_and_leaves_nothing(tmp_path: Path) -> None:
    place = {"folder": str(tmp_path)}
    found = tries_probe.measure(place, ".gpu-verify-offer-1", {"bytes": 3 << 20, "seconds": 5})
    assert found["write"]["bytes"] == found["read"]["bytes"] == 3 << 20
    assert list(tmp_path.iterdir()) == []


def test_a_mount_without_room_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries_probe, "ROOM", 1 << 62)
    assert "skipped" in tries_probe.measure({"folder": str(tmp_path)}, "x", {"bytes": 1, "seconds": 1})
    assert list(tmp_path.iterdir()) == []


def test_a_marker_is_written_once_read_again_and_forgotten(tmp_path: Path) -> None:
    place = {"folder": str(tmp_path)}
    assert tries_probe.mark(place, None) == {"found": None, "written": False}
    assert tries_probe.mark(place, {"id": "first"})["written"] is True
    assert tries_probe.mark(place, {"id": "second"}) == {"found": {"id": "first"}, "written": False}
    assert tries_probe.forget(place) == {"forgotten": True}
    assert tries_probe.forget(place) == {"forgotten": False}
    assert list(tmp_path.iterdir()) == []


def test_a_marker_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text('{"id": "theirs"}', encoding="utf-8")
    (tmp_path / tries_probe.MARKER).symlink_to(tmp_path / "theirs")
    answer = tries_probe.aside(5, tries_probe.mark, {"folder": str(tmp_path)}, {"id": "mine"})
    assert "error" in answer
    assert (tmp_path / "theirs").read_text(encoding="utf-8") == '{"id": "theirs"}'


def test_what_hangs_is_left_behind() -> None:
    def hang() -> dict[str, Any]:
        time.sleep(30)
        return {}

    assert tries_probe.aside(0.2, hang)["timed_out"] is True


def test_folders_of_dead_runs_are_removed_and_of_living_ones_kept(tmp_path: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    for name in (f"{dead.pid}-a", f"{os.getpid()}-b"):
        (tmp_path / f"{tries_probe.PREFIX}-{name}").mkdir()
    assert tries_probe._swept(str(tmp_path), "0-none") == {"left": []}
    assert [path.name for path in tmp_path.iterdir()] == [f"{tries_probe.PREFIX}-{os.getpid()}-b"]


def test_without_docker_the_mounts_are_looked_at_all_the_same(tmp_path: Path) -> None:
    source = manifest.tries_source(
        mounts=(str(tmp_path),), docker=True, measure=False, mark=False, forget=False
    )
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    (bin_ / "docker").write_text("#!/bin/sh\necho no daemon here >&2; exit 1\n", encoding="utf-8")
    (bin_ / "docker").chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-"], input=source, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert "no daemon here" in answer["docker"] or "asking would start it" in answer["docker"]
    assert answer["places"][0]["path"] == str(tmp_path)
    assert (answer["steps"], answer["left"], answer["interrupted"]) == ({}, [], False)
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_the_text_that_is_sent_compiles_and_says_what_to_run() -> None:
    source = manifest.tries_source(mounts=(), docker=True, measure=True, mark=True, forget=False)
    compile(source, "sent", "exec")
    assert all(word in source for word in ("--pull=never", "--network=none", "gpu-host.offer={id}"))
    compile(manifest.metadata_source(), "sent", "exec")


# --- the registry's -----------------------------------------------------------------------------

SECRET = "Nicht'zu\"raten: ä"  # noqa: S105  # no password of anybody's
LAYER = bytes(2_000_000)


class _Registry(BaseHTTPRequestHandler):
    """A registry with basic authentication that sends on to a store for its layers."""

    seen: list[tuple[str, str | None]] = []  # noqa: RUF012  # one test, one server
    store = ""

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        if self.headers.get("Authorization") is None:
            self._say(401, b"", ("WWW-Authenticate", 'Basic realm="x"'))
        elif "/blobs/sha256:layer" in self.path:
            self._say(307, b"", ("Location", f"{self.store}/stored"))
        elif "/manifests/" in self.path:
            layers = [{"digest": "sha256:layer", "size": len(LAYER)}]
            self._say(200, json.dumps({"config": {"digest": "sha256:c"}, "layers": layers}).encode())
        else:
            self._say(200, b"{}")

    def _say(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


class _Store(_Registry):
    seen: list[tuple[str, str | None]] = []  # noqa: RUF012

    def do_GET(self) -> None:
        self.seen.append((self.path, self.headers.get("Authorization")))
        self._say(200, LAYER)


@pytest.fixture
def there() -> Iterator[str]:
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), kind) for kind in (_Registry, _Store)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    _Registry.seen.clear()
    _Store.seen.clear()
    _Registry.store = f"http://127.0.0.1:{servers[1].server_port}"
    yield f"127.0.0.1:{servers[0].server_port}"
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_registry_is_reached_with_the_login_and_its_store_without(there: str, tmp_path: Path) -> None:
    source = manifest.registry_source(
        there, plain=True, image=parse(f"{there}/team/train:1"), username="me", password=SECRET, ca=""
    )
    done = subprocess.run(
        [sys.executable, "-"], input=source, capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PATH": str(tmp_path), "no_proxy": "127.0.0.1"},
    )  # fmt: skip
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["reach"] == {"status": 200}
    assert answer["rate"]["bytes"] == len(LAYER)
    assert answer["login"]["missing"] is True
    assert any(login for _, login in _Registry.seen)
    assert _Store.seen == [("/stored", None)]
    assert SECRET not in done.stdout + done.stderr
    assert json.dumps(SECRET)[1:-1] not in done.stdout


def test_a_registry_that_is_not_there_is_an_answer(tmp_path: Path) -> None:
    source = manifest.registry_source("127.0.0.1:1", plain=True, image=None, username="", password="", ca="")
    done = subprocess.run(
        [sys.executable, "-"], input=source, capture_output=True, text=True, check=True, timeout=60,
        env={**os.environ, "PATH": str(tmp_path), "no_proxy": "127.0.0.1"},
    )  # fmt: skip
    assert "ConnectionRefusedError" in json.loads(done.stdout.splitlines()[-1])["reach"]["error"]
