"""Reach one registry from an offer: log in, read one image's documents, time a part of one layer.

Sent alone, as text, to python3 (3.6 or newer, standard library only): name and password come in that text,
on standard input, never in an argument. No other registry is asked; where the registry itself sends us on,
our credentials stay behind, but for the token server that it names. Prints one JSON object without a secret.
"""

import base64
import contextlib
import glob
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, List, Optional, Tuple

DOCUMENT_LIMIT = 4 * 1024 * 1024
TIMEOUT_S = 15
LOGIN_LIMIT_S = 40
PIECE = 256 * 1024
SAID = 400
OCI, DOCKER = "application/vnd.oci.image.", "application/vnd.docker.distribution."
INDEXES = (OCI + "index.v1+json", DOCKER + "manifest.list.v2+json")
MANIFESTS = (OCI + "manifest.v1+json", DOCKER + "manifest.v2+json")
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
OK, UNAUTHORIZED = 200, 401

Json = Dict[str, Any]


class Stopped(BaseException):
    """Somebody wants us to end."""


def _stop(*_: object) -> None:
    raise Stopped


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follow to another host, but leave our credentials behind."""

    def redirect_request(  # noqa: PLR0917  # the standard library's own
        self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> Any:
        fresh = super().redirect_request(req, fp, code, msg, headers, newurl)
        parts = urllib.parse.urlsplit(newurl)
        if fresh is not None and parts.netloc != urllib.parse.urlsplit(req.full_url).netloc:
            fresh.remove_header("Authorization")
        if parts.scheme != urllib.parse.urlsplit(req.full_url).scheme:
            raise urllib.error.URLError("it sends us on to an address without TLS")
        return fresh


class Registry:
    """One repository of a registry, and how it let us in."""

    def __init__(self, given: Json) -> None:
        self.given = given
        context = ssl.create_default_context(cadata=given.get("ca") or None)
        for path in glob.glob("/etc/docker/certs.d/%s/*.crt" % glob.escape(given["host"])):
            with contextlib.suppress(OSError, ssl.SSLError):
                context.load_verify_locations(path)
        self.opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), _Redirects())
        self.authorization = None  # type: Optional[str]
        self.base = "%s://%s/v2/" % ("http" if given.get("plain") else "https", given["host"])

    def open(self, url: str, accept: str = "*/*") -> Any:
        """Open an address as whoever we are to the registry by now."""
        headers = {"Accept": accept, "User-Agent": "gpu-verify"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        request = urllib.request.Request(url, headers=headers)  # noqa: S310  # its scheme is ours
        return self.opener.open(request, timeout=TIMEOUT_S)

    def get(self, path: str, accept: str = "*/*") -> Any:
        """Open one address of the registry; where it asks who we are, say it once."""
        try:
            return self.open(self.base + path, accept)
        except urllib.error.HTTPError as error:
            if error.code != UNAUTHORIZED or self.authorization:
                raise
            self.authorization = self._let_in(error.headers.get("WWW-Authenticate", ""))
            if self.authorization is None:
                raise
        return self.open(self.base + path, accept)

    def _basic(self) -> Optional[str]:
        if not self.given.get("username"):
            return None
        pair = "%s:%s" % (self.given["username"], self.given["password"])
        return "Basic " + base64.b64encode(pair.encode("utf-8")).decode("ascii")

    def _let_in(self, challenge: str) -> Optional[str]:
        kind, _, rest = challenge.partition(" ")
        if kind.lower() != "bearer":
            return self._basic()
        offer = {}
        for part in urllib.request.parse_http_list(rest):
            name, _, value = part.partition("=")
            offer[name.strip().lower()] = value.strip().strip('"')
        realm = offer.get("realm", "")
        if not realm.startswith(("https://", "http://") if self.given.get("plain") else "https://"):
            raise urllib.error.URLError("it sends us for a token to an address without TLS")
        asked = {"service": offer.get("service", ""), "scope": offer.get("scope", "")}
        query = urllib.parse.urlencode({name: value for name, value in asked.items() if value})
        address = realm + ("&" if "?" in realm else "?") + query
        request = urllib.request.Request(address)  # noqa: S310  # checked above
        known = self._basic()
        if known:
            request.add_unredirected_header("Authorization", known)
        with self.opener.open(request, timeout=TIMEOUT_S) as answer:
            document = json.loads(answer.read(DOCUMENT_LIMIT).decode("utf-8"))
        return "Bearer " + str(document.get("token") or document.get("access_token"))


def reach(registry: Registry) -> Json:
    """Say whether the registry answers, and whether it lets us in."""
    with registry.get("") as answer:
        return {"status": answer.status}


def _document(registry: Registry, path: str, accept: str) -> Tuple[Json, Json]:
    with registry.get(path, accept) as answer:
        text = answer.read(DOCUMENT_LIMIT + 1)
        kind = (answer.headers.get("Content-Type") or "").partition(";")[0].strip()
        digest = answer.headers.get("Docker-Content-Digest")
    if len(text) > DOCUMENT_LIMIT:
        raise ValueError("a document of more than %d bytes" % DOCUMENT_LIMIT)
    document = json.loads(text.decode("utf-8"))
    if not isinstance(document, dict):
        raise ValueError("no JSON object")  # noqa: TRY004  # it came from outside
    return document, {"kind": kind, "digest": digest, "text": text.decode("utf-8")}


def _chosen(index: Json) -> Optional[str]:
    machine = os.uname().machine
    architecture = MACHINES.get(machine, machine)
    entries = [entry for entry in index.get("manifests", []) if isinstance(entry, dict)]
    for entry in entries:
        platform = entry.get("platform") or {}
        if (platform.get("os"), platform.get("architecture")) == ("linux", architecture):
            return str(entry.get("digest"))
    return str(entries[0].get("digest")) if entries else None


def image(registry: Registry) -> Json:
    """Read the manifest and the configuration, as they are; of an index, for this machine's platform."""
    repository, wanted = registry.given["repository"], registry.given["wanted"]
    accept = ", ".join(INDEXES + MANIFESTS)
    top, entry = _document(registry, "%s/manifests/%s" % (repository, wanted), accept)
    documents = {"top": entry}
    if "manifests" in top:
        digest = _chosen(top)
        top, documents["manifest"] = _document(registry, "%s/manifests/%s" % (repository, digest), accept)
    config = top.get("config") or {}
    _, documents["config"] = _document(registry, "%s/blobs/%s" % (repository, config.get("digest")), "*/*")
    return {"documents": documents, "layers": [dict(layer) for layer in top.get("layers", [])]}


def rate(registry: Registry, layers: List[Json]) -> Json:
    """Time the transfer of the largest layer, of a part of it: bounded in bytes and in seconds."""
    largest = max(layers, key=lambda layer: int(layer.get("size") or 0), default=None)
    if largest is None:
        return {"error": "the image has no layer"}
    path = "%s/blobs/%s" % (registry.given["repository"], largest.get("digest"))
    with registry.get(path) as answer:
        began, amount = time.monotonic(), 0
        while amount < registry.given["bytes"] and time.monotonic() - began < registry.given["seconds"]:
            piece = answer.read(min(PIECE, registry.given["bytes"] - amount))
            if not piece:
                break
            amount += len(piece)
        return {"bytes": amount, "seconds": round(time.monotonic() - began, 4)}


def docker_login(given: Json) -> Json:
    """Let Docker log in as a user does; its file with the login is in a folder of ours, and goes with it."""
    if shutil.which("docker") is None:
        return {"argv": ["docker", "login"], "missing": True}
    argv = ["docker", "login", "--username", given["username"], "--password-stdin", given["host"]]
    began = time.monotonic()
    folder = tempfile.mkdtemp(prefix=".gpu-verify-offer-%d-" % os.getpid())
    process = None
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=dict(os.environ, LC_ALL="C", DOCKER_CONFIG=folder),
        )
        out, err = process.communicate(given["password"].encode("utf-8"), LOGIN_LIMIT_S)
        said = {
            "rc": process.returncode,
            "stdout": out.decode("utf-8", "replace"),
            "stderr": err.decode("utf-8", "replace"),
        }
    except subprocess.TimeoutExpired:
        said = {"timed_out": True}
    finally:
        if process is not None and process.poll() is None:
            process.kill()
        shutil.rmtree(folder, ignore_errors=True)
    return dict(said, argv=["docker", "login", given["host"]], seconds=round(time.monotonic() - began, 3))


def _tried(work: Any, *arguments: Any) -> Json:
    """Do one thing; what goes wrong is the answer."""
    try:
        return dict(work(*arguments))
    except urllib.error.HTTPError as error:
        return {"status": error.code, "error": "HTTP %d" % error.code}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = getattr(error, "reason", None) or error
        return {"error": ("%s: %s" % (type(reason).__name__, reason))[:SAID]}


def without(value: Any, secrets: List[str]) -> Any:
    """Take the secrets out of an answer, whoever put them there."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "REDACTED")
        return value
    if isinstance(value, dict):
        return {name: without(item, secrets) for name, item in value.items()}
    return [without(item, secrets) for item in value] if isinstance(value, list) else value


def _secrets(given: Json) -> List[str]:
    password = given.get("password") or ""
    pair = "%s:%s" % (given.get("username"), password)
    coded = [base64.b64encode(text.encode("utf-8")).decode("ascii") for text in (password, pair)]
    return [text for text in [password, *coded, urllib.parse.quote(password)] if password]


def main(given: Json) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    answer = {
        "schema": 1,
        "host": given["host"],
        "image": given.get("image"),
        "named": bool(given.get("username")),
    }
    registry = Registry(given)
    answer["reach"] = _tried(reach, registry)
    if given.get("username"):
        answer["login"] = _tried(docker_login, given)
    if given.get("repository"):
        registry.authorization = None  # a token is for one repository
        answer["described"] = _tried(image, registry)
        layers = answer["described"].get("layers")
        if layers:
            answer["rate"] = _tried(rate, registry, layers)
    sys.stdout.write("\n" + json.dumps(without(answer, _secrets(given)), sort_keys=True) + "\n")
    sys.stdout.flush()
    return 0
