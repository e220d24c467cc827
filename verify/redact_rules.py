"""What can be recognised by its form alone: UUIDs and machine ids. Each gets a stand-in of its own.

The stand-in is made of a hash, so that it is the same in every recording, and has an ending by which it is
known again. Nothing here depends on the rest of a recording.
"""

from __future__ import annotations

import hashlib
import re

_TAIL = "-0000-4000-8000-00005edac7ed"
_UUID = re.compile(
    r"(?<![0-9a-zA-Z])(?:GPU-|MIG-)?(?:GPU-)?"
    r"([0-9a-f]{8}([-_])[0-9a-f]{4}\2[0-9a-f]{4}\2[0-9a-f]{4}\2[0-9a-f]{12})(?![0-9a-zA-Z])",
    re.IGNORECASE,
)
_SHORT = re.compile(r"(?<![\w-])((?:GPU|MIG)-)([0-9a-f]{4,8})(?![\w-])", re.IGNORECASE)
_MACHINE_ID = re.compile(r"(?<![0-9a-zA-Z])([0-9a-f]{32})(?![0-9a-zA-Z])")
_MACHINE_TAIL = "0000000000005edac7ed0000"
_ENGINE_ID = re.compile(r'("ID"\s*:\s*")((?:[A-Z0-9]{4}:){11}[A-Z0-9]{4})(")')
_XML_ID = re.compile(r"(<(?:pdi|gpu_fabric_guid|fabric_guid)>)(?!N/A)([^<]+)(<)")
# GUIDs that the public knows: the EFI variables' and the empty one.
_PUBLIC = frozenset({"8be4df61-93ca-11d2-aa0d-00e098032b8c", "00000000-0000-0000-0000-000000000000"})


def replace_identifiers(text: str) -> str:
    """Replace what a form alone gives away."""
    text = _UUID.sub(_uuid, text)
    text = _MACHINE_ID.sub(_machine_id, text)
    text = _XML_ID.sub(r"\g<1>0x0\g<3>", text)
    return _ENGINE_ID.sub(r"\g<1>engine\g<3>", text)


def abbreviations(text: str) -> dict[str, str]:
    """Return how the beginnings of the cards' UUIDs are replaced: docker takes one for the whole."""
    found = {match.group(1).lower() for match in _UUID.finditer(text) if "-" in match.group()[:4]}
    return {uuid[:8]: uuid[:8] if is_stand_in(uuid) else _hash(uuid) for uuid in found}


def replace_abbreviations(text: str, known: dict[str, str]) -> str:
    """Replace the beginnings of known UUIDs."""

    def short(match: re.Match[str]) -> str:
        begins = [made for whole, made in known.items() if whole.startswith(match.group(2).lower())]
        return match.group(1) + begins[0] if begins else match.group()

    return _SHORT.sub(short, text) if known else text


def is_stand_in(uuid: str) -> bool:
    """Whether a UUID has been replaced before."""
    return uuid.lower().endswith(_TAIL)


def _uuid(match: re.Match[str]) -> str:
    found = match.group(1).lower().replace("_", "-")
    if found in _PUBLIC or is_stand_in(found):
        return match.group()
    made = (_hash(found) + _TAIL).replace("-", match.group(2))
    return match.group().replace(match.group(1), made)


def _machine_id(match: re.Match[str]) -> str:
    found = match.group()
    if found.endswith(_MACHINE_TAIL) or found == "0" * 32:
        return found
    return _hash(found) + _MACHINE_TAIL


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
