"""A registry that misbehaves on request: on this machine, without TLS."""

from __future__ import annotations

import base64
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tests.unit.image.images import INDEX, MANIFEST, Shape, digest_of, encoded, index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USER, PASSWORD, TOKEN = "reader", "Wohl-behütet:7", "token-of-the-test"
BASIC = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@dataclass
class Reply:
    """One answer; ``cut`` drops the end of the body that its length promises."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int = 0


@dataclass
class Registry:
    """What it holds by path, what it was asked, how it lets people in."""

    documents: dict[str, Reply] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    before: Callable[[str, str | None], Reply | None] | None = None
    access: str = ""
    port: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def put(self, repository: str, tag: str, *shapes: Shape) -> str:
        """Put an image there, or an index of several; return its digest."""
        for shape in shapes:
            self._hold(repository, shape.manifest(), shape.media)
            config = shape.config()
            self.documents[f"/v2/{repository}/blobs/{digest_of(config)}"] = Reply(body=config)
        top, kind = (shapes[0].manifest(), shapes[0].media) if len(shapes) == 1 else (index(*shapes), INDEX)
        digest = self._hold(repository, top, kind)
        self.documents[f"/v2/{repository}/manifests/{tag}"] = self.documents[
            f"/v2/{repository}/manifests/{digest}"
        ]
        self.documents[f"/v2/{repository}/tags/list"] = Reply(
            body=encoded({"name": repository, "tags": [tag]})
        )
        return digest

    def _hold(self, repository: str, body: bytes, kind: str = MANIFEST) -> str:
        digest = digest_of(body)
        headers = {"Content-Type": kind, "Docker-Content-Digest": digest}
        self.documents[f"/v2/{repository}/manifests/{digest}"] = Reply(body=body, headers=headers)
        return digest

    def answer(self, path: str, authorization: str | None) -> Reply:
        self.asked.append((path, authorization))
        special = self.before(path, authorization) if self.before else None
        if special is not None:
            return special
        parts = urlsplit(path)
        if parts.path == "/token":
            return self._token(parse_qs(parts.query), authorization)
        if self.access == "basic" and authorization != BASIC:
            return Reply(401, headers={"WWW-Authenticate": 'Basic realm="gpu-host"'})
        if self.access in ("bearer", "anonymous") and authorization != f"Bearer {TOKEN}":
            realm = (
                f'Bearer realm="http://{self.host}/token",service="fake, really",scope="repository:a:pull"'
            )
            return Reply(401, headers={"WWW-Authenticate": realm})
        missing = Reply(404, encoded({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "unknown"}]}))
        return self.documents.get(parts.path, missing)

    def _token(self, query: dict[str, list[str]], authorization: str | None) -> Reply:
        assert query == {"service": ["fake, really"], "scope": ["repository:a:pull"]}
        if self.access == "bearer" and authorization != BASIC:
            return Reply(401)
        return Reply(body=encoded({"token": TOKEN}))


@contextmanager
def serve() -> Iterator[Registry]:
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(registry.answer(self.path, self.headers.get("Authorization")))

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.reply(registry.answer(f"{self.path}?POST&{form}", self.headers.get("Authorization")))

        def reply(self, given: Reply) -> None:
            self.send_response(given.status)
            for name, value in {"Content-Length": str(len(given.body)), **given.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(given.body[: len(given.body) - given.cut])

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None: ...  # somebody spoke TLS, or hung up

    server = Server(("127.0.0.1", 0), Handler)
    registry.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield registry
    finally:
        registry.stop.set()
        server.shutdown()
        server.server_close()
        thread.join()
