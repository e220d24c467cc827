"""A registry's front door on this machine: TLS with a certificate of its own, and a login of either kind."""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USER, PASSWORD = "reader", "correct horse:battery"  # a password may have a colon
EXPIRED = (
    "Your Authorization Token has expired. Please run 'aws ecr get-login-password' to fetch a new token."
)
BASIC = f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"


def certificate(folder: Path, name: str, *names: str) -> Path:
    """Make a certificate that vouches for itself; return the file, whose key lies beside it."""
    file = folder / f"{name}.crt"
    alternatives = ",".join(f"{'IP' if n[0].isdigit() else 'DNS'}:{n}" for n in names)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName={alternatives}", "-keyout", f"{file}.key", "-out", file],
        check=True, capture_output=True,
    )  # fmt: skip
    return file


def plain_chain(folder: Path, *names: str) -> tuple[Path, Path]:
    """Make a CA and a certificate as many companies have them: without key usage, without key identifiers."""
    ca, file = folder / "plain-ca.crt", folder / "plain.crt"
    (folder / "ca.cnf").write_text(
        "[req]\ndistinguished_name=d\nx509_extensions=ca\n[d]\n[ca]\nbasicConstraints=CA:TRUE\n"
    )
    (folder / "ext.cnf").write_text(f"subjectAltName={','.join(f'DNS:{name}' for name in names)}\n")
    key = ["-newkey", "rsa:2048", "-nodes"]
    for argv in (
        ["req", "-x509", *key, "-days", "2", "-subj", "/CN=plain CA", "-config", folder / "ca.cnf",
         "-keyout", f"{ca}.key", "-out", ca],
        ["req", *key, "-subj", "/CN=plain", "-keyout", f"{file}.key", "-out", f"{file}.csr"],
        ["x509", "-req", "-in", f"{file}.csr", "-CA", ca, "-CAkey", f"{ca}.key", "-CAcreateserial",
         "-days", "2", "-extfile", folder / "ext.cnf", "-out", file],
    ):  # fmt: skip
        subprocess.run(["openssl", *argv], check=True, capture_output=True)
    return ca, file


class Door(BaseHTTPRequestHandler):
    """Answers /v2/ and /token as ``server.kind`` says."""

    server: Any

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        kind, given = self.server.kind, self.headers.get("Authorization", "")
        self.server.asked.append((self.path, given))
        if self.path.startswith("/token"):
            self.answer(200, {"token": "abc"}) if given == BASIC else self.answer(401)
        elif isinstance(kind, int):
            self.answer(kind, headers={"Location": f"https://{self.headers['Host']}/elsewhere"})
        elif kind == "anybody" or given == {"basic": BASIC, "bearer": "Bearer abc"}.get(kind):
            self.answer(200, {})
        elif kind == "expired" and given:  # as Amazon's registry says it
            self.answer(403, {"errors": [{"code": "DENIED", "message": EXPIRED}]})
        elif kind in ("basic", "expired"):
            self.answer(401, headers={"WWW-Authenticate": 'Basic realm="Registry Realm"'})
        else:
            realm = f"{'http' if kind == 'open' else 'https'}://{self.headers['Host']}/token"
            wanted = f'Bearer realm="{realm}",service="registry.test"'
            self.answer(401, headers={"WWW-Authenticate": wanted})

    def answer(self, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(body or {}).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class Proxy(BaseHTTPRequestHandler):
    """Lets nobody through: CONNECT is answered with ``server.status``."""

    server: Any

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)
        self.send_error(self.server.status)


@contextlib.contextmanager
def proxying(status: int) -> Iterator[Any]:
    """Be a proxy that refuses with this status; ``url`` is its address."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    server.status, server.asked, server.url = status, [], f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def serving(file: Path | None, kind: str | int = "basic") -> Iterator[Any]:
    """Serve until left; ``asked`` has what came, ``name`` is host and port."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    server.daemon_threads = True
    server.kind, server.asked, server.name = kind, [], f"localhost:{server.server_address[1]}"
    if file:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file, f"{file}.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
