"""``gpu-verify image`` against a real registry (Debian's docker-registry, TLS by a CA of our own, htpasswd).

Needs the controller's engine alone: the registry is a container on a network of its own, try-image.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.live import registry
from tests.live.lab import ROOT
from tests.live.registry import PASSWORD, USER, Registry, docker
from tests.unit.image.images import (
    BASE,
    DEVEL,
    INDEX,
    INSTALL_BASE,
    INSTALL_DEVEL,
    INSTALL_LIBRARIES,
    OCI,
    RUNTIME,
    Shape,
    digest_of,
    index,
)  # fmt: skip

NAME = "try-image"
CLI = [sys.executable, "-m", "verify.cli", "image"]
RECORDING = ROOT / "tests/recordings/healthy-simulated-host.json"
STEPS = (INSTALL_BASE, INSTALL_LIBRARIES, INSTALL_DEVEL)
ARM = Shape(env=BASE, architecture="arm64")
SHAPES = {
    "base": Shape(env=BASE, history=STEPS[:1]),
    "runtime": Shape(env=RUNTIME, history=STEPS[:2], sizes=(10, 20)),
    "devel": Shape(env=DEVEL, history=STEPS, sizes=(10, 20, 30)),
    "torch": Shape(env=RUNTIME, labels={"gpu-host.torch": "torch==2.13.0+cu126"}, media=OCI),
    "no-cuda": Shape(env={"PATH": "/bin"}),
    "arm64-only": ARM,
}


@dataclass(frozen=True)
class Lab:
    """The registry, Docker's folder with its login, and the command."""

    registry: Registry
    folder: Path
    name: str

    def login(self, password: str = PASSWORD) -> None:
        auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
        self.config({"auths": {self.name: {"auth": auth}}})

    def config(self, document: object) -> None:
        (self.folder / "config.json").write_text(json.dumps(document), encoding="utf-8")

    def ask(self, name: str, *options: str, ca: bool = True) -> subprocess.CompletedProcess[str]:
        trust = ["--ca-file", str(self.registry.ca)] if ca else []
        path = f"{self.folder}:{os.environ['PATH']}"
        done = subprocess.run(
            [*CLI, f"{self.name}/{name}", *trust, *options], cwd=ROOT, capture_output=True, text=True,
            timeout=90, check=False, env={**os.environ, "DOCKER_CONFIG": str(self.folder), "PATH": path},
        )  # fmt: skip
        for secret in (PASSWORD, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()):
            assert secret not in done.stdout + done.stderr
        return done

    def found(self, name: str, *options: str) -> dict[str, Any]:
        done = self.ask(name, "--json", *options)
        assert done.returncode in (0, 1), done.stderr
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def refusal(self, name: str, *, ca: bool = True) -> str:
        done = self.ask(name, ca=ca)
        assert (done.returncode, done.stdout) == (2, ""), done.stdout + done.stderr
        assert len(done.stderr.splitlines()) == 1
        return done.stderr


def push(there: Registry, repository: str, tag: str, *shapes: Shape) -> None:
    """Put an image there, or an index of several: layers, configuration, manifest."""
    base = f"https://{there.name}/v2/{repository}/manifests"
    for shape in shapes:
        for number, size in enumerate(shape.sizes):
            there.blob(repository, f"{number} {size}".encode())
        there.blob(repository, shape.config())
        place = tag if len(shapes) == 1 else digest_of(shape.manifest())
        there.send("PUT", f"{base}/{place}", shape.manifest(), shape.media)
    if len(shapes) > 1:
        document = json.loads(index(*shapes))
        document["manifests"].pop()  # the registry takes no attestation that it does not have
        there.send("PUT", f"{base}/{tag}", json.dumps(document).encode(), INDEX)


@pytest.fixture(scope="module")
def there() -> Iterator[Registry]:
    builder = [sys.executable, str(ROOT / "tests/standins/base/build.py")]
    built = subprocess.run(builder, capture_output=True, text=True, timeout=600, check=True).stdout
    image = json.loads(built.splitlines()[-1])
    leave()
    with tempfile.TemporaryDirectory(prefix="gh-") as folder:
        try:
            docker("network", "create", NAME)
            docker(
                "run", "-d", f"--name={NAME}-host", f"--network={NAME}", str(named(image)), "sleep", "3600"
            )
            made = registry.start(f"{NAME}-host", Path(folder))
            for kind, shape in SHAPES.items():
                push(made, "team/cuda", kind, shape)
            push(made, "team/cuda", "both", SHAPES["base"], ARM)
            yield made
        finally:
            leave()


def named(built: Any) -> Any:
    """Return the image's name, however the builder puts it."""
    return next(iter(built.values())) if isinstance(built, dict) else built


def leave() -> None:
    """Remove what is ours, by its names."""
    for argv in (["rm", "-f", f"{NAME}-host", f"{NAME}-registry"], ["network", "rm", NAME]):
        subprocess.run(["docker", *argv], capture_output=True, timeout=60, check=False)


@pytest.fixture
def lab(there: Registry, tmp_path: Path) -> Lab:
    made = Lab(there, tmp_path, there.name)
    made.login()
    return made


@pytest.mark.parametrize(
    ("kind", "due"),
    [
        ("base", {"kind": "base", "cuda": "12.8.1", "compiler_bytes": None, "layers": 1}),
        ("runtime", {"kind": "runtime", "compiler_bytes": None, "layers": 2, "compressed_bytes": 30}),
        ("devel", {"kind": "devel", "compiler_bytes": 30, "layers": 3, "compressed_bytes": 60}),
        ("torch", {"kind": "runtime", "torch": {"version": "2.13.0+cu126", "cuda": "12.6", "cpu": False,
                                                "source": "label gpu-host.torch"}}),
        ("no-cuda", {"kind": None, "cuda": None, "torch": None, "demands": []}),
    ],
)  # fmt: skip
def test_shapes_and_never_a_layer(lab: Lab, kind: str, due: dict[str, Any]) -> None:
    found = lab.found(f"team/cuda:{kind}")
    assert {name: found[name] for name in due} == due
    assert found["digest"] == digest_of(SHAPES[kind].manifest())
    assert lab.found(f"team/cuda@{found['digest']}")["platform_digest"] == found["digest"]
    asked = "\n".join(lab.registry.log())
    assert found["digest"] in asked
    for number, size in enumerate(SHAPES[kind].sizes):
        assert digest_of(f"{number} {size}".encode()) not in asked


def test_an_index_gives_the_host_s_platform(lab: Lab, tmp_path: Path) -> None:
    found = lab.found("team/cuda:both")
    assert found["platform_digest"] == digest_of(SHAPES["base"].manifest())
    assert [one["architecture"] for one in found["other_platforms"]] == ["arm64"]
    recording = json.loads(RECORDING.read_text(encoding="utf-8"))
    recording["commands"]["uname"] = {"argv": ["uname"], "rc": 0, "stdout": "Linux h 6.12 aarch64 GNU/Linux"}
    host = tmp_path / "host.json"
    host.write_text(json.dumps(recording), encoding="utf-8")
    assert lab.found("team/cuda:both", "--recording", str(host))["platform_digest"] == digest_of(
        ARM.manifest()
    )


def test_an_image_for_another_machine_will_not_run_here(lab: Lab) -> None:
    done = lab.ask("team/cuda:arm64-only", "--here")
    assert done.returncode == 1
    assert "WILL NOT RUN" in done.stdout
    assert "it is built for linux/arm64, and the host is linux/amd64" in " ".join(done.stdout.split())


def test_layers_of_this_machine_s_engine_are_found(lab: Lab) -> None:
    image = docker("inspect", "--format={{.Image}}", f"{NAME}-host").strip()
    ids = json.loads(docker("image", "inspect", "--format={{json .RootFS.Layers}}", image))

    class Same(Shape):
        def diff_ids(self) -> tuple[str, ...]:
            return (*ids, "sha256:" + "0" * 64)

    push(lab.registry, "team/cuda", "shared", Same(sizes=tuple(range(len(ids) + 1))))
    assert lab.found("team/cuda:shared", "--here")["shared_layers"] == len(ids)


def test_a_wrong_password(lab: Lab) -> None:
    lab.login("wrong-one")
    said = lab.refusal("team/cuda:base")
    assert f"refuses the user {USER}" in said
    assert "wrong-one" not in said


def test_no_login(lab: Lab) -> None:
    lab.config({})
    assert "there is no login for it: `docker login" in lab.refusal("team/cuda:base")


def test_a_credential_helper(lab: Lab) -> None:
    helper = lab.folder / "docker-credential-try"
    said = json.dumps({"ServerURL": lab.name, "Username": USER, "Secret": PASSWORD})
    helper.write_text(f"#!/bin/sh\ncat > /dev/null\ncat <<'END'\n{said}\nEND\n", encoding="utf-8")
    helper.chmod(0o755)
    lab.config({"credHelpers": {lab.name: "try"}})
    assert lab.found("team/cuda:base")["cuda"] == "12.8.1"


def test_an_unknown_tag_and_an_unknown_image(lab: Lab) -> None:
    assert "has no tag nine; it has arm64-only, base, both" in lab.refusal("team/cuda:nine")
    assert "has no tag 1: check the name" in lab.refusal("team/nothing:1")


def test_an_unknown_ca(lab: Lab) -> None:
    said = lab.refusal("team/cuda:base", ca=False)
    assert "is not trusted here" in said
    assert "--ca-file FILE" in said


def test_a_registry_that_hangs(lab: Lab) -> None:
    docker("pause", lab.registry.container)
    try:
        assert "did not answer within 10 s" in lab.refusal("team/cuda:base")
    finally:
        docker("unpause", lab.registry.container)
    assert lab.found("team/cuda:base")["kind"] == "base"


@contextmanager
def between(there: Registry, trouble: str) -> Iterator[tuple[str, list[int]]]:
    """Stand between client and registry, on this machine and without TLS, and make trouble once or always."""
    context, seen = ssl.create_default_context(cafile=str(there.ca)), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen[0] += 1
            status, headers, body = self.ask()
            if trouble == "429" or (trouble == "429 once" and seen[0] == 1):
                status, headers, body = 429, {"Retry-After": "1"}, b""
            cut = 40 if trouble == "cut" and status == 200 else 0
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) - cut])
            self.close_connection = bool(cut)

        def ask(self) -> tuple[int, dict[str, str], bytes]:
            wanted = {name: self.headers[name] for name in ("Authorization", "Accept") if self.headers[name]}
            address = f"https://{there.name}{self.path}"
            request = urllib.request.Request(address, headers=wanted)
            kept = ("Content-Type", "Docker-Content-Digest", "WWW-Authenticate")
            try:
                with urllib.request.urlopen(request, context=context, timeout=20) as answer:  # noqa: S310
                    got, status, body = answer.headers, answer.status, answer.read()
            except urllib.error.HTTPError as error:
                got, status, body = error.headers, error.code, error.read()
            return status, {name: got[name] for name in kept if got[name]}, body

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None: ...

    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", seen
    finally:
        server.shutdown()
        server.server_close()


def test_a_registry_that_limits_how_often(lab: Lab) -> None:
    with between(lab.registry, "429 once") as (name, _):
        mine = replace(lab, name=name)
        mine.login()
        assert mine.found("team/cuda:base")["kind"] == "base"
    with between(lab.registry, "429") as (name, seen):
        mine = replace(lab, name=name)
        assert "limits how often it answers (429): try again in 1 s" in mine.refusal("team/cuda:base")
        assert seen[0] == 3


def test_a_truncated_answer(lab: Lab) -> None:
    with between(lab.registry, "cut") as (name, _):
        mine = replace(lab, name=name)
        mine.login()
        assert "broke off in the middle of its answer" in mine.refusal("team/cuda:base")


def test_what_will_not_run_is_refused_before_a_byte_of_it(lab: Lab, tmp_path: Path) -> None:
    new = Shape(env={"CUDA_VERSION": "13.0.2", "NVIDIA_REQUIRE_CUDA": "cuda>=13.0"}, sizes=(77,))
    push(lab.registry, "team/cuda", "new", new)
    recording = json.loads(RECORDING.read_text(encoding="utf-8"))
    recording["commands"]["uname"] = {"argv": ["uname"], "rc": 0, "stdout": "Linux h 6.12 x86_64 GNU/Linux"}
    host = tmp_path / "host.json"
    host.write_text(json.dumps(recording), encoding="utf-8")
    done = lab.ask("team/cuda:new", "--recording", str(host))
    assert done.returncode == 1
    assert "CUDA 13 needs driver 580.65.06 or newer, the driver is 550.163.01" in " ".join(
        done.stdout.split()
    )
    assert digest_of(b"0 77") not in "\n".join(line for line in lab.registry.log() if '"GET' in line)
