"""Docker's daemon.json: what is wrong with it, what a flag says too, and what a backup still holds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.daemon_flags import clashes, command_line, flags, keys_of
from verify.facts.source import cite
from verify.json_values import as_object

if TYPE_CHECKING:
    from verify.recording import FileEntry, Recording

DAEMON_JSON = "/etc/docker/daemon.json"
_CONFIG_FILE = "config-file"
# Of the object in a backup these are ours to change; the rest is the user's.
_OURS = frozenset({"runtimes.nvidia", "features.cdi"})
_INNER = ("runtimes", "features", "log-opts")
_FOLDER = "it is a directory"
_WEB_PAGE = "a web page (HTML or XML), saved in the place of the file"
# What stands where json stopped, and what that is.
_DAMAGE = (
    (r",\s*[}\]]", "a comma before a closing bracket"),
    (r"//|/\*|#", "a comment, which Docker's JSON does not have"),
    (r"'", "single quotes where JSON has double quotes"),
)


@dataclass(frozen=True, slots=True)
class DaemonFileFacts:
    """``damage`` says why dockerd refuses the file; ``flagged`` are keys that a flag sets too.

    ``lost`` are the keys that the newest backup beside it has and the file has not.
    """

    path: str
    recorded: bool
    missing: bool
    dangling: str | None
    damage: str | None
    misplaced: bool
    """Whether something else stands in its place: a folder, a web page."""
    empty: bool
    flagged: tuple[tuple[str, str, object], ...]
    backup: str | None
    lost: tuple[str, ...]
    written: str | None
    evidence: tuple[str, ...]
    backup_evidence: tuple[str, ...]


def daemon_file_facts(recording: Recording) -> DaemonFileFacts:
    """Read the file that the daemon reads, its flags, and the backups beside it."""
    given = flags(engine_argv(recording))
    path = next((value for name, value, _ in reversed(given) if name == _CONFIG_FILE and value), DAEMON_JSON)
    entry = recording.file(path)
    text = entry.text if entry else None
    document, damage = parse(text) if text is not None else ({}, None)
    if entry is not None and entry.error == "EISDIR":
        damage = _FOLDER
    elif text is not None and not text.strip():
        damage = f"it is empty ({len(text)} bytes), which is not JSON"
    there = keys_of(document)
    flagged = tuple((key, ", ".join(said), there[key]) for key, said in clashes(given, document).items())
    backup, lost = (None, ()) if damage or text is None else _lost(recording, path, document)
    evidence = [] if entry is None else [cite(path, _line(entry, document, damage))]
    evidence += [cite("docker-unit", f"{written} (in the file: {key})") for key, written, _ in flagged]
    return DaemonFileFacts(
        path=path,
        recorded=entry is not None and (entry.error is None or damage is not None),
        missing=entry is not None and entry.missing,
        dangling=recording.links.get(path) if entry is not None and entry.missing else None,
        damage=damage,
        misplaced=damage is not None and (damage == _FOLDER or _WEB_PAGE in damage),
        empty=text is not None and not text.strip(),
        flagged=flagged,
        backup=backup,
        lost=lost,
        written=entry.mtime if entry else None,
        evidence=tuple(evidence),
        backup_evidence=(cite(backup, f"has {', '.join(lost)}"),) if backup else (),
    )


def engine_argv(recording: Recording) -> list[str]:
    """Return the words that systemd starts dockerd with, without what an environment file adds."""
    unit = recording.command("docker-unit")
    return command_line(unit.stdout if unit else "", lambda _: None)


def parse(text: str) -> tuple[dict[str, object], str | None]:
    """Read the file's object, or say at which line it is damaged, and show that. Empty counts as {} here."""
    if not text.strip():
        return {}, None
    plain = text.removeprefix("\ufeff")
    try:
        document = json.loads(plain)
    except json.JSONDecodeError as error:
        at, found = _found_at(plain, error)
        return {}, _pointed(plain, at, found)
    except (ValueError, RecursionError) as error:
        return {}, str(error)
    if not isinstance(document, dict):
        return {}, "it must hold a JSON object"
    return document, None


def _found_at(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Return where the damage is, and what it is in words: json's own differ between Python's versions."""
    at, found = error.pos, error.msg
    comma = re.search(r",\s*\Z", text[:at])
    if comma and text[at : at + 1] in ("}", "]"):
        at = comma.start()
    rest = text[at:]
    if error.msg == "Extra data":
        found = "more text after the end of the object (a closing brace too many before it?)"
    elif error.msg == "Expecting ',' delimiter" and rest[:1] == '"':
        found = "a comma is missing before this"
    elif not rest.strip():
        at, found = max(len(text.rstrip()) - 1, 0), "the file ends too early (a closing bracket is missing)"
    elif rest.startswith("<") and not text[:at].strip():
        found = _WEB_PAGE
    return at, next((meaning for pattern, meaning in _DAMAGE if re.match(pattern, rest)), found)


def _pointed(text: str, at: int, found: str) -> str:
    start = text.rfind("\n", 0, at) + 1
    line = text[start:].partition("\n")[0].strip()
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - start + 1}: {found}: {line}"


def _line(entry: FileEntry, document: dict[str, object], damage: str | None) -> str:
    if damage or entry.error or entry.missing:
        return damage or entry.error or "missing"
    return f"keys: {', '.join(document) or 'none'}"


def _lost(recording: Recording, path: str, document: dict[str, object]) -> tuple[str | None, tuple[str, ...]]:
    """Return the newest backup that can be read, and the user's settings in it that the file lacks."""
    beside = [other for other in recording.file_paths if other.startswith(path) and other != path]
    entries = [entry for entry in map(recording.file, beside) if entry and (entry.text or "").strip()]
    for entry in sorted(entries, key=lambda one: (one.mtime or "", one.path), reverse=True):
        kept, damage = parse(entry.text or "")
        if damage is None:
            lost = sorted(_settings(kept) - _settings(document))
            return (entry.path, tuple(lost)) if lost else (None, ())
    return None, ()


def _settings(document: dict[str, object]) -> set[str]:
    """List what an object sets, one step into those objects of which a part may be lost."""
    found: set[str] = set()
    for key, value in document.items():
        inner = as_object(value) if key in _INNER else {}
        found.update(f"{key}.{name}" for name in inner)
        if not inner and not (key == "default-runtime" and value == "nvidia"):
            found.add(key)
    return found - _OURS
