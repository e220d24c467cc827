"""What the registry that the user named answered to this machine, and the image as it describes it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.errors import VerifyError
from verify.image.manifest import Image, read
from verify.image.reference import parse
from verify.image.registry import Blob
from verify.json_values import as_number, as_object, as_text, as_whole
from verify.recording import CommandEntry, Recording

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.image.reference import Reference

_BITS, _MEGA = 8, 1_000_000
_LEAST = 1_000_000  # bytes: less says more of the first packets than of the line


@dataclass(frozen=True, slots=True)
class RegistryFacts:
    """``status`` and ``trouble`` of the first question; ``mbit``: how fast a layer came, in Mbit/s."""

    host: str
    status: int | None
    trouble: str | None
    named: bool
    login: CommandEntry | None
    image: str | None
    image_trouble: str | None
    mbit: float | None
    moved: int | None


def registry_facts(answer: Mapping[str, object]) -> tuple[RegistryFacts | None, Image | None]:
    """Read the probe's answer, and the image's documents in it."""
    host = as_text(answer.get("host"))
    if host is None:
        return None, None
    reach, described = as_object(answer.get("reach")), as_object(answer.get("described"))
    rate = as_object(answer.get("rate"))
    reference = as_text(answer.get("image"))
    image, trouble = _image(reference, as_object(described.get("documents")))
    facts = RegistryFacts(
        host=host,
        status=as_whole(reach.get("status")),
        trouble=as_text(reach.get("error")),
        named=answer.get("named") is True,
        login=_login(answer.get("login")),
        image=reference,
        image_trouble=as_text(described.get("error")) or trouble,
        mbit=_mbit(rate),
        moved=as_whole(rate.get("bytes")),
    )
    return facts, image


def _login(value: object) -> CommandEntry | None:
    if not isinstance(value, dict):
        return None
    document = {"schema": 1, "where": "host", "commands": {"login": value}}
    return Recording.from_document(document).command("login")


def _mbit(rate: Mapping[str, object]) -> float | None:
    amount, seconds = as_number(rate.get("bytes")), as_number(rate.get("seconds"))
    if amount is None or seconds is None or amount < _LEAST or seconds <= 0:
        return None
    return min(amount * _BITS / seconds / _MEGA, 1e9)


@dataclass(slots=True)
class _Recorded:
    """A registry that answers with what it once said."""

    reference: Reference
    documents: Mapping[str, object]

    def manifest(self, wanted: str, accept: str) -> Blob:  # noqa: ARG002  # as the real one has it
        name = "top" if wanted == self.reference.wanted else "manifest"
        return self._blob(name)

    def blob(self, digest: str) -> Blob:  # noqa: ARG002  # likewise
        return self._blob("config")

    def _blob(self, name: str) -> Blob:
        entry = as_object(self.documents.get(name))
        text = as_text(entry.get("text"))
        if text is None:
            raise VerifyError(f"its {name} was not recorded")
        body = text.encode("utf-8", "replace")
        return Blob(as_text(entry.get("digest")) or "sha256:unknown", as_text(entry.get("kind")) or "", body)


def _image(reference: str | None, documents: Mapping[str, object]) -> tuple[Image | None, str | None]:
    if reference is None or not documents:
        return None, None
    try:
        # The real reader, over what was recorded: it asks for nothing else.
        return read(_Recorded(parse(reference), documents)), None  # type: ignore[arg-type]
    except VerifyError as error:
        return None, str(error)
