"""A real registry beside the simulated host: Debian's docker-registry, TLS from a CA of our own, htpasswd.

A container on the host's own network, reached by its address from the host and from the controller alike.
"""

from __future__ import annotations

import base64
import hashlib
import json
import ssl
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

USER, PASSWORD = "reader", "Wohl-behütet:7"
LIMIT_S = 240
MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"
# No service is started by the package; perl is on every Debian, and its crypt knows bcrypt.
INSTALL = """
apt-get -o Acquire::Check-Valid-Until=false update -qq
printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d; chmod 755 /usr/sbin/policy-rc.d
export DEBIAN_FRONTEND=noninteractive
apt-get install -y -qq --no-install-recommends docker-registry openssl > /dev/null
mkdir -p /registry
"""
SETUP = """
cd /registry; exec 2> said
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=test CA' -keyout ca.key -out ca.crt \\
  -addext keyUsage=critical,keyCertSign,cRLSign
openssl req -newkey rsa:2048 -nodes -subj /CN=registry -keyout server.key -out server.csr
{ echo "subjectAltName=IP:$ADDRESS"; echo basicConstraints=CA:FALSE
  echo authorityKeyIdentifier=keyid; echo subjectKeyIdentifier=hash; } > extensions
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \\
  -extfile extensions -out server.crt
perl -e 'print "$ENV{NAME}:", crypt($ENV{WORD}, q($2y$05$abcdefghijklmnopqrstuu)), "\\n"' > htpasswd
cat > config.yml <<END
version: 0.1
log: {accesslog: {disabled: false}, level: warn}
storage: {filesystem: {rootdirectory: /registry/data}}
http: {addr: "0.0.0.0:5000", tls: {certificate: /registry/server.crt, key: /registry/server.key}}
auth: {htpasswd: {realm: gpu-host, path: /registry/htpasswd}}
END
"""


def docker(*argv: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["docker", *argv], input=stdin, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, f"docker {' '.join(argv[:4])}: {done.stderr[-2000:]}"
    return done.stdout


@dataclass
class Registry:
    """The running registry: its name as Docker has it, its CA, what was asked of it."""

    container: str
    name: str
    ca: Path

    def log(self) -> list[str]:
        """Return what was asked of it, a line a request."""
        done = subprocess.run(
            ["docker", "exec", self.container, "cat", "/registry/log"],
            capture_output=True, text=True, timeout=LIMIT_S, check=True,
        )  # fmt: skip
        return [line for line in done.stdout.splitlines() if '"GET /v2/' in line or '"HEAD /v2/' in line]

    def send(self, method: str, url: str, data: bytes = b"", kind: str = "application/octet-stream") -> Any:
        """Send one request with credentials; return the answer's headers."""
        auth = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        headers = {"Authorization": f"Basic {auth}", "Content-Type": kind}
        assert url.startswith("https://")
        request = urllib.request.Request(url, data=data or None, method=method, headers=headers)  # noqa: S310
        context = ssl.create_default_context(cafile=str(self.ca))
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:  # noqa: S310
            return answer.headers

    def blob(self, repository: str, data: bytes) -> str:
        """Upload a blob; return its digest."""
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        place = self.send("POST", f"https://{self.name}/v2/{repository}/blobs/uploads/")["Location"]
        self.send("PUT", f"{place}{'&' if '?' in place else '?'}digest={digest}", data)
        return digest

    def push(self, repository: str, env: dict[str, str], labels: dict[str, str] | None = None) -> Pushed:
        """Push a small image; return its reference by digest, and its layer's digest."""
        layer = packed({"who": repository.encode()})
        config = json.dumps({
            "architecture": "amd64", "os": "linux",
            "config": {"Env": [f"{k}={v}" for k, v in env.items()], "Labels": labels or {}},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
            "history": [{"created_by": "tests/live/registry.py"}],
        }).encode()  # fmt: skip
        parts = {CONFIG: config, LAYER: layer}
        digests = {kind: self.blob(repository, data) for kind, data in parts.items()}
        described = [
            {"mediaType": kind, "size": len(data), "digest": digests[kind]} for kind, data in parts.items()
        ]
        manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST, "config": described[0], "layers": described[1:],
        }).encode()  # fmt: skip
        self.send("PUT", f"https://{self.name}/v2/{repository}/manifests/1", manifest, MANIFEST)
        digest = f"sha256:{hashlib.sha256(manifest).hexdigest()}"
        return Pushed(f"{self.name}/{repository}@{digest}", digests[LAYER])


@dataclass(frozen=True)
class Pushed:
    """An image in the registry."""

    reference: str
    layer: str


def packed(files: dict[str, bytes]) -> bytes:
    """Return an uncompressed tar, which Docker takes for a layer too: its digest is its diff id."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, BytesIO(data))
    return buffer.getvalue()


def start(beside: str, folder: Path) -> Registry:
    """Start a registry in the network of a simulated host's container."""
    found = json.loads(docker("inspect", beside))[0]
    network = next(iter(found["NetworkSettings"]["Networks"]))
    labels = [f"--label={k}={v}" for k, v in found["Config"]["Labels"].items() if k.startswith("gpu-host.")]
    container = f"{network}-registry"
    subprocess.run(["docker", "rm", "-f", container], capture_output=True, timeout=LIMIT_S, check=False)
    docker("run", "-d", f"--name={container}", f"--network={network}", "--security-opt=seccomp=unconfined",
           *labels, found["Config"]["Image"], "sleep", "3600")  # fmt: skip
    docker("exec", "-i", container, "sh", "-es", stdin=INSTALL)
    address = json.loads(docker("inspect", container))[0]["NetworkSettings"]["Networks"][network]["IPAddress"]
    given = [f"ADDRESS={address}", f"NAME={USER}", f"WORD={PASSWORD}"]
    docker("exec", "-i", *[f"-e{pair}" for pair in given], container, "sh", "-es", stdin=SETUP)
    docker("exec", "-d", container, "sh", "-c",
           "exec docker-registry serve /registry/config.yml > /registry/log 2>&1")  # fmt: skip
    ca = folder / "ca.crt"
    ca.write_text(docker("exec", container, "cat", "/registry/ca.crt"), encoding="utf-8")
    registry = Registry(container, f"{address}:5000", ca)
    until = time.monotonic() + 30
    while True:
        try:
            registry.send("GET", f"https://{registry.name}/v2/")
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > until or isinstance(error, urllib.error.HTTPError):
                raise AssertionError(docker("exec", container, "cat", "/registry/log")) from error
            time.sleep(0.2)
        else:
            return registry


def stop(registry: Registry) -> None:
    docker("rm", "-f", registry.container)
