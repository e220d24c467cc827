"""Load and validate a recording: the raw state of one machine, nothing interpreted.

Accessors tell three things apart that must never be mixed up: an entry that was *not recorded*
(None), one that was recorded as *missing*, and one that holds text.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from verify.errors import VerifyError
from verify.json_values import as_number

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = 1
_NO_UID = 2**32 - 1  # what the kernel keeps for "nobody asked"
_LONGEST_INTEGER = 2**53
_ADVICE = "take a new one with `gpu-verify record`"
# Of such a file a part cannot be read: cut at the size limit, it counts as not recorded.
_DOCUMENT = re.compile(r"\s*[\[{<]")
_DOCUMENT_ENDS = (".json", ".yaml", ".yml", ".toml")
# Of these a part can: logs, and lists of which each line says something by itself. Of any other command
# what is not in a part may have been in the rest, so a part counts as not recorded.
_IN_PARTS = frozenset(
    {
        "dmesg-nvidia",
        "journal-nvidia",
        "modules-load",
        "docker-log",
        "fabricmanager-log",
        "apt-update",
        "docker-ps",
        "image-layers",
        "gpu-processes",
    }
)


class RecordingError(VerifyError):
    """A recording that cannot be read, and why."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One recorded file: its text, or why there is none."""

    path: str
    text: str | None = None
    missing: bool = False
    error: str | None = None
    mode: str | None = None
    mtime: str | None = None
    ctime: str | None = None

    @property
    def present(self) -> bool:
        """Whether the file is there, readable or not."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """One recorded command: how it ended and what it said."""

    name: str
    argv: tuple[str, ...] = ()
    rc: int | None = None
    stdout: str = ""
    stderr: str = ""
    missing: bool = False
    timed_out: bool = False
    error: str | None = None
    seconds: float | None = None
    cut: bool = False
    """Whether the size limit dropped an end of what it printed."""

    @property
    def ran(self) -> bool:
        """Whether it ran to its end, whatever its exit status."""
        return self.rc is not None and not self.timed_out and not self.missing

    @property
    def ok(self) -> bool:
        """Whether it ran to its end with exit status 0."""
        return self.rc == 0 and self.ran

    @property
    def said(self) -> str:
        """Everything it printed: nvidia-smi puts errors on either stream."""
        return f"{self.stdout}\n{self.stderr}".strip()

    @property
    def ended(self) -> str:
        """How it ended, in words."""
        if self.missing:
            return f"{self.argv[0] if self.argv else self.name} is not installed"
        if self.timed_out:
            return "no answer" + (
                f" within {self.seconds:.0f} s" if self.seconds and self.seconds > 0 else ""
            )
        return f"exit status {self.rc}" if self.rc is not None else (self.error or "did not run")


@dataclass(frozen=True, slots=True)
class Recording:
    """One machine's recording (schema 1)."""

    document: Mapping[str, Any]

    @classmethod
    def from_document(cls, document: object) -> Recording:
        """Validate a parsed document."""
        if not isinstance(document, dict):
            raise RecordingError(f"a recording is a JSON object, this is {_kind(document)}: {_ADVICE}")
        _check_head(document)
        for section in ("files", "commands", "disks"):
            for name, entry in _section(document, section).items():
                if not isinstance(entry, dict):
                    raise RecordingError(
                        f"{section}: {name!r} must be an object, it is {_kind(entry)}: {_ADVICE}"
                    )
        for section in ("globs", "links", "paths", "env"):
            _section(document, section)
        return cls(document)

    @property
    def where(self) -> Literal["host", "container"]:
        """Where it was taken."""
        return "host" if self.document["where"] == "host" else "container"

    @property
    def simulated(self) -> bool:
        """Whether the machine's cards are stand-ins."""
        return self.document.get("simulated") is True

    @property
    def taken_at(self) -> str | None:
        """The moment it was taken (UTC, ISO 8601)."""
        return _text(self.document.get("taken_at"))

    @property
    def uid(self) -> int | None:
        """Whose eyes it was taken with."""
        uid = _integer(self.document.get("uid"))
        return uid if uid is not None and 0 <= uid < _NO_UID else None

    @property
    def globs(self) -> Mapping[str, tuple[str, ...]]:
        """What each recorded pattern matched."""
        found = self.document.get("globs", {})
        return {
            pattern: tuple(path for path in paths if isinstance(path, str))
            for pattern, paths in found.items()
            if isinstance(paths, list)
        }

    @property
    def links(self) -> Mapping[str, str]:
        """Where recorded symbolic links point."""
        return {path: goal for path, goal in self.document.get("links", {}).items() if isinstance(goal, str)}

    @property
    def paths(self) -> Mapping[str, bool]:
        """Whether recorded paths exist."""
        return {
            path: there for path, there in self.document.get("paths", {}).items() if there in (True, False)
        }

    @property
    def disks(self) -> Mapping[str, Mapping[str, Any]]:
        """Sizes of recorded file systems."""
        found: Mapping[str, Mapping[str, Any]] = self.document.get("disks", {})
        return found

    @property
    def env(self) -> Mapping[str, str]:
        """Recorded variables; an absent one is unset."""
        return {name: value for name, value in self.document.get("env", {}).items() if isinstance(value, str)}

    @property
    def file_paths(self) -> tuple[str, ...]:
        """Every path that the section ``files`` mentions."""
        return tuple(self.document.get("files", {}))

    @property
    def command_names(self) -> tuple[str, ...]:
        """Every command that was recorded."""
        return tuple(self.document.get("commands", {}))

    def file(self, path: str) -> FileEntry | None:
        """Return a recorded file; None where it was not recorded."""
        entry = self.document.get("files", {}).get(path)
        if entry is None:
            return None
        text = _text(entry.get("text"))
        halved = bool(entry.get("cut")) and (path.endswith(_DOCUMENT_ENDS) or _is_document(text))
        return FileEntry(
            path=path,
            text=None if halved else text,
            missing=entry.get("missing") is True,
            error="cut at the size limit" if halved else _text(entry.get("error")),
            mode=_text(entry.get("mode")),
            mtime=_text(entry.get("mtime")),
            ctime=_text(entry.get("ctime")),
        )

    def command(self, name: str) -> CommandEntry | None:
        """Return a recorded command; None where it was not recorded."""
        entry = self.document.get("commands", {}).get(name)
        if entry is None:
            return None
        cut, timed_out = bool(entry.get("stdout_cut")), entry.get("timed_out") is True
        if cut and not timed_out and name not in _IN_PARTS:
            return None
        argv = entry.get("argv")
        return CommandEntry(
            name=name,
            argv=tuple(str(part) for part in argv) if isinstance(argv, list) else (),
            rc=_integer(entry.get("rc")),
            stdout=_text(entry.get("stdout")) or "",
            stderr=_text(entry.get("stderr")) or "",
            missing=entry.get("missing") is True,
            timed_out=timed_out,
            error=_text(entry.get("error")),
            seconds=as_number(entry.get("seconds")),
            cut=cut,
        )


def load(source: Path | str) -> Recording:
    """Load a recording from a file (a ``Path``) or from its text (a ``str``)."""
    if isinstance(source, Path):
        try:
            data = source.read_bytes()
        except OSError as error:
            raise RecordingError(f"cannot read {source}: {error}") from error
        try:
            return load(_decoded(data))
        except RecordingError as error:
            raise RecordingError(f"{source}: {error}") from error
    try:
        document = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise RecordingError(f"a recording is a JSON document, this is not ({error}): {_ADVICE}") from error
    return Recording.from_document(document)


def _decoded(data: bytes) -> str:
    """Decode what somebody saved: UTF-8, with or without the mark that Windows puts in front."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data[:2]:
        raise RecordingError(
            "it is UTF-16, as PowerShell's `>` writes it: record with `--out FILE` in the place of `>`, or "
            "`iconv -f UTF-16 -t UTF-8`"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordingError(f"it is not UTF-8 ({error.reason} at byte {error.start}): {_ADVICE}") from error


def _check_head(document: dict[str, Any]) -> None:
    if document.get("schema") != SCHEMA or isinstance(document.get("schema"), bool):
        raise RecordingError(
            f"schema is {document.get('schema')!r}, this gpu-verify reads schema {SCHEMA}: {_ADVICE}"
        )
    if document.get("where") not in ("host", "container"):
        raise RecordingError(
            f'where is {document.get("where")!r}, it must be "host" or "container": {_ADVICE}'
        )


def _section(document: dict[str, Any], name: str) -> dict[str, Any]:
    section = document.get(name, {})
    if not isinstance(section, dict):
        raise RecordingError(f"{name} must be an object, it is {_kind(section)}: {_ADVICE}")
    return section


def _is_document(text: str | None) -> bool:
    return _DOCUMENT.match(text or "") is not None


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LONGEST_INTEGER:
        return None
    return value
