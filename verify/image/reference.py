"""The name of an image, taken apart as Docker does: registry, repository, tag, digest."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from verify.errors import VerifyError

HUB = "docker.io"
_HUB_NAMES = (HUB, "index.docker.io", "registry-1.docker.io")
_HUB_HOST, _HUB_KEY = "registry-1.docker.io", "https://index.docker.io/v1/"
_HOST = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(?::\d{1,5})?")
_REPOSITORY = re.compile(r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*")
_TAG = re.compile(r"\w[\w.-]{0,127}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_EXAMPLE = "registry.example.com:5000/team/race:1.0, nvidia/cuda:12.8.1-base-ubuntu24.04"


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@dataclass(frozen=True, slots=True)
class Reference:
    """One image; by its digest where it has one, and by its tag otherwise."""

    registry: str
    repository: str
    tag: str | None
    digest: str | None

    @property
    def name(self) -> str:
        """Return registry and repository."""
        return f"{self.registry}/{self.repository}"

    @property
    def wanted(self) -> str:
        """Return what the registry is asked for."""
        return self.digest or self.tag or "latest"

    @property
    def host(self) -> str:
        """Return who is asked: Docker Hub's registry has another name than its images."""
        return _HUB_HOST if self.registry == HUB else self.registry

    @property
    def credentials_key(self) -> str:
        """Return the name under which Docker keeps the credentials."""
        return _HUB_KEY if self.registry == HUB else self.registry

    @property
    def loopback(self) -> bool:
        """Whether the registry is this machine: there, and nowhere else, Docker speaks plain HTTP unasked."""
        host = self.registry if self.registry.endswith("]") else self.registry.rsplit(":", 1)[0]
        return is_loopback(host.strip("[]"))

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.name}{tag}{'@' + self.digest if self.digest else ''}"


def is_digest(text: str) -> bool:
    """Whether a text is a digest, and nothing that leads elsewhere."""
    return bool(_DIGEST.fullmatch(text))


def parse(text: str) -> Reference:
    """Read a reference; a sentence where it is none."""
    if "://" in text:
        raise VerifyError(
            f"{text!r} is an address, not an image: write it without {text.partition('://')[0]}://"
        )
    name, at, digest = text.strip().partition("@")
    if at and not _DIGEST.fullmatch(digest):
        raise VerifyError(
            f"{text!r}: what follows the @ is no digest; needed is sha256: and 64 hexadecimal digits"
        )
    registry, rest = _split(name)
    path, colon, tag = rest.partition(":")
    if registry == HUB and "/" not in path:
        path = f"library/{path}"
    if not _REPOSITORY.fullmatch(path):
        raise VerifyError(f"{text!r} is not an image: write it in small letters, as in {_EXAMPLE}")
    if not _HOST.fullmatch(registry):
        raise VerifyError(f"{text!r}: {registry!r} is no registry; write HOST or HOST:PORT, as in {_EXAMPLE}")
    if colon and not _TAG.fullmatch(tag):
        raise VerifyError(f"{text!r}: {tag!r} is no tag; it is letters, digits, dots, dashes, underscores")
    return Reference(registry, path, tag or (None if digest else "latest"), digest or None)


def _split(name: str) -> tuple[str, str]:
    """Return registry and the rest: the first part is a registry where it looks like a host."""
    first, slash, rest = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return (HUB if first in _HUB_NAMES else first), rest
    return HUB, name
