"""An image in its registry: index, manifest and configuration, read and nothing of it believed unchecked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.errors import VerifyError
from verify.json_values import as_list, as_object, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.image.registry import Blob, Registry

_DOCKER = "application/vnd.docker."
_OCI = "application/vnd.oci.image."
_MANIFESTS = (f"{_OCI}manifest.v1+json", f"{_DOCKER}distribution.manifest.v2+json")
_INDEXES = (f"{_OCI}index.v1+json", f"{_DOCKER}distribution.manifest.list.v2+json")
_CONFIGS = (f"{_OCI}config.v1+json", f"{_DOCKER}container.image.v1+json")
ACCEPT = ", ".join((*_INDEXES, *_MANIFESTS))
_UNPACKED = (".tar", "rootfs.diff.tar")
_MOST_LAYERS = 1000
_LARGEST = 2**53


@dataclass(frozen=True, slots=True)
class Platform:
    """What an image is built for."""

    os: str
    architecture: str
    variant: str | None = None

    def serves(self, other: Platform) -> bool:
        """Whether it runs where ``other`` is; the variant counts where both name one."""
        same = (self.os, self.architecture) == (other.os, other.architecture)
        return same and (not self.variant or not other.variant or self.variant == other.variant)

    def __str__(self) -> str:
        return "/".join(filter(None, (self.os, self.architecture, self.variant)))


DEFAULT = Platform("linux", "amd64")


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer as it is sent."""

    digest: str
    size: int
    packed: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One line of an image's history; a step without a layer only sets something."""

    command: str
    has_layer: bool


@dataclass(frozen=True, slots=True)
class Image:
    """What its registry says of one image; ``digest`` is what the reference means, perhaps an index's."""

    digest: str
    platform_digest: str
    platform: Platform
    others: tuple[Platform, ...]
    layers: tuple[Layer, ...]
    env: Mapping[str, str]
    labels: Mapping[str, str]
    diff_ids: tuple[str, ...]
    history: tuple[Step, ...]
    created: str | None


def read(registry: Registry, platform: Platform | None = None) -> Image:
    """Ask for manifest and configuration; of an index, for the platform's, else for the first there is."""
    top = registry.manifest(registry.reference.wanted, ACCEPT)
    wanted = platform or DEFAULT
    offered: tuple[Platform, ...] = ()
    blob, document = top, _object(top, registry)
    if _kind(top, document) in _INDEXES:
        entries = _entries(document, registry)
        offered = tuple(one for one, _ in entries)
        digest = next((digest for one, digest in entries if one.serves(wanted)), entries[0][1])
        blob = registry.manifest(digest, ", ".join(_MANIFESTS))
        document = _object(blob, registry)
    config = _object(registry.blob(_config(blob, document, registry)), registry)
    mine = Platform(
        as_text(config.get("os")) or "linux",
        as_text(config.get("architecture")) or "unknown",
        as_text(config.get("variant")),
    )
    inner = as_object(config.get("config"))
    return Image(
        digest=top.digest,
        platform_digest=blob.digest,
        platform=mine,
        others=tuple(one for one in offered if not one.serves(mine)),
        layers=_layers(document, registry),
        env=dict(_pair(text) for text in as_list(inner.get("Env")) if isinstance(text, str) and "=" in text),
        labels={str(k): v for k, v in as_object(inner.get("Labels")).items() if isinstance(v, str)},
        diff_ids=tuple(map(str, as_list(as_object(config.get("rootfs")).get("diff_ids")))),
        history=tuple(_step(as_object(step)) for step in as_list(config.get("history"))),
        created=as_text(config.get("created")),
    )


def _object(blob: Blob, registry: Registry) -> dict[str, Any]:
    try:
        document = json.loads(blob.body)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise VerifyError(
            f"{registry.reference.host} answers for {registry.reference} with something that is no JSON "
            "object: is it a registry, or a proxy's page? Check its name"
        )
    return document


def _kind(blob: Blob, document: Mapping[str, Any]) -> str:
    named = as_text(document.get("mediaType")) or blob.kind
    if named in (*_INDEXES, *_MANIFESTS):
        return named
    if document.get("schemaVersion") == 1:
        return ""
    return _INDEXES[0] if "manifests" in document else _MANIFESTS[0] if "layers" in document else named


def _entries(document: Mapping[str, Any], registry: Registry) -> list[tuple[Platform, str]]:
    found = []
    for entry in map(as_object, as_list(document.get("manifests"))):
        on, digest = as_object(entry.get("platform")), as_text(entry.get("digest"))
        kind = as_text(entry.get("mediaType")) or _MANIFESTS[0]
        os, architecture = as_text(on.get("os")), as_text(on.get("architecture"))
        # Signatures and build attestations stand there for a platform that nobody has.
        if digest and kind in _MANIFESTS and os and architecture and "unknown" not in (os, architecture):
            found.append((Platform(os, architecture, as_text(on.get("variant"))), digest))
    if not found:
        raise VerifyError(
            f"{registry.reference} is an index without an image in it: it was pushed by halves, or is none"
        )
    return found


def _config(blob: Blob, document: Mapping[str, Any], registry: Registry) -> str:
    kind = _kind(blob, document)
    if document.get("schemaVersion") == 1:
        raise VerifyError(
            f"{registry.reference} is in the first format of manifests (schema 1), which Docker does "
            "not pull any more: build it anew, or pull and push it with a Docker that still does"
        )
    config = as_object(document.get("config"))
    digest, media = as_text(config.get("digest")), as_text(config.get("mediaType")) or _CONFIGS[0]
    if kind not in _MANIFESTS or digest is None:
        raise VerifyError(
            f"{registry.reference}: the registry sends no manifest of an image ({kind or 'no kind'})"
        )
    if media not in _CONFIGS:
        raise VerifyError(f"{registry.reference} is no image to run: what it holds is called {media}")
    return digest


def _layers(document: Mapping[str, Any], registry: Registry) -> tuple[Layer, ...]:
    entries = list(map(as_object, as_list(document.get("layers"))))
    if len(entries) > _MOST_LAYERS:
        raise VerifyError(
            f"{registry.reference}: its manifest names {len(entries)} layers, more than {_MOST_LAYERS}, and "
            "no engine unpacks so many: build it anew with fewer"
        )
    found = []
    for entry in entries:
        size, digest = entry.get("size"), as_text(entry.get("digest"))
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < _LARGEST or digest is None:
            raise VerifyError(
                f"{registry.reference}: its manifest names a layer without a digest or size; push it anew"
            )
        found.append(Layer(digest, size, not str(entry.get("mediaType")).endswith(_UNPACKED)))
    return tuple(found)


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _step(step: Mapping[str, Any]) -> Step:
    return Step(as_text(step.get("created_by")) or "", step.get("empty_layer") is not True)
