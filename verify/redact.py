"""Make recordings fit to be shown: what identifies a host, its people and its cards is replaced.

The same thing gets the same stand-in in every recording of one host, so that findings still see what
agrees and what does not; a card's UUID gets the same one wherever it is met. What is put in is valid and
recognisable (192.0.2.x, host-1.invalid) and is left alone by a second pass: redacting twice gives the same
bytes. Secrets never enter a recording; what an older recorder let through is removed here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from verify.json_values import as_list, as_object
from verify.manifest import manifest
from verify.recorder import redact as without_secrets
from verify.redact_names import Names, names_of
from verify.redact_rules import replace_identifiers

Json = dict[str, Any]
_VERBATIM = "nvidia-smi"  # evidence shows what it printed in the container as it stands


def redact_recordings(recordings: Sequence[Mapping[str, Any]], *, verbatim: bool = True) -> list[Json]:
    """Return the recordings of one host with what identifies it replaced, alike in all of them.

    With ``verbatim`` the table that nvidia-smi printed in a container stays as it is.
    """
    texts = [text for recording in recordings for text in strings(recording)]
    names = names_of(recordings, "\n".join(texts))
    return [_recording(recording, names, verbatim=verbatim) for recording in recordings]


def redact(recording: Mapping[str, Any], *, verbatim: bool = True) -> Json:
    """Return one recording with what identifies its host replaced."""
    return redact_recordings([recording], verbatim=verbatim)[0]


def _replacer(names: Names) -> Callable[[str], str]:
    known = _our_own()

    def replace(part: str) -> str:
        return part if part in known else names.replace(replace_identifiers(without_secrets(part)))

    return replace


def _recording(recording: Mapping[str, Any], names: Names, *, verbatim: bool) -> Json:
    redacted: Json = _walk(recording, _replacer(names))
    for name, entry in as_object(redacted.get("commands")).items():
        if isinstance(entry, dict) and isinstance(entry.get("stdout"), str):
            entry["stdout"] = names.replace_in(name, entry["stdout"])
    _blank_serial_column(as_object(as_object(redacted.get("commands")).get("nvidia-smi-query")))
    original = as_object(as_object(recording.get("commands")).get(_VERBATIM))
    if verbatim and recording.get("where") == "container" and "stdout" in original:
        redacted["commands"][_VERBATIM]["stdout"] = original["stdout"]
    return redacted


def _blank_serial_column(query: Json) -> None:
    """Blank the serial numbers of a query: only its argument list says which column holds them."""
    asked = next((a for a in as_list(query.get("argv")) if str(a).startswith("--query-gpu=")), "")
    fields = str(asked).partition("=")[2].split(",")
    if "serial" not in fields or not isinstance(query.get("stdout"), str):
        return
    column = fields.index("serial")
    lines = []
    for line in query["stdout"].splitlines():
        cells = line.split(", ")
        if len(cells) == len(fields) and not cells[column].startswith("["):
            cells[column] = "0"
        lines.append(", ".join(cells) + "\n")
    query["stdout"] = "".join(lines)


def _walk(value: Any, replace: Callable[[str], str]) -> Any:  # noqa: ANN401  # JSON
    """Replace every text; of the keys only paths: the others are the format's own words."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, Mapping):
        return {
            replace(key) if key.startswith("/") else key: _walk(item, replace) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_walk(item, replace) for item in value]
    return value


def strings(value: Any) -> list[str]:  # noqa: ANN401  # JSON
    """Return every text in a document, its keys too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() for text in [key, *strings(item)]]
    return [text for item in as_list(value) for text in strings(item)]


@cache
def _our_own() -> frozenset[str]:
    """Return the texts that our own manifests put into every recording: they name nobody."""
    return frozenset(strings([manifest("host"), manifest("container")]))
