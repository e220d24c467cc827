"""apt's source files: which repository is named with which key, and which file is no source list at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite, file_text, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verify.recording import Recording

SOURCES_LIST = "/etc/apt/sources.list"
SOURCES_FOLDER = "/etc/apt/sources.list.d/"
RETIRED_KEY = "7fa2af80"  # of the CUDA repository, until 27 April 2022
CUDA_REPO = "developer.download.nvidia.com/compute/cuda/repos/"
_KEYRINGS = ("/etc/apt/trusted.gpg.d/*", "/usr/share/keyrings/*")
# apt ignores these without a word.
_IGNORED = re.compile(r"(~|\.(disabled|bak|save|orig|distUpgrade|dpkg-[a-z]+|ucf-[a-z]+))$")
_OFF = ("no", "false", "without", "off", "disable", "0")
_LINE = re.compile(r"^\s*deb(?:-src)?\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)", re.MULTILINE)
_SIGNED = re.compile(r"signed-by=(\S+)", re.IGNORECASE)
_PAGE = re.compile(r"\A\s*<(?:!doctype|html|\?xml|head|body)", re.IGNORECASE)
_ERRORS = re.compile(
    r"^[EW]: .*(?:Signed-By|NO_PUBKEY|not signed|list of sources|Malformed|is not known).*$", re.MULTILINE
)
_NAMES_ONE = re.compile(r"^\s*#?\s*(?:deb\b|Types:)", re.MULTILINE)
_ANSWER = re.compile(r"unsupported|not found|\b40[34]\b", re.IGNORECASE)
_OURS = re.compile(r"nvidia|cuda|docker")
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One repository that a file names: the address as it is compared, the key as it is written."""

    path: str
    url: str
    suite: str
    key: str


@dataclass(frozen=True, slots=True)
class SourcesFacts:
    """``recorded`` is False where nobody looked, or where there is no apt."""

    recorded: bool
    entries: tuple[Entry, ...]
    pages: tuple[tuple[str, str], ...]
    """Files that hold a web page, and its first line: apt then reads no source at all."""
    comments: tuple[tuple[str, str], ...]
    """Files that hold what a server answered in the place of a list, and their first line."""
    retired: tuple[tuple[str, str], ...]
    """Where the retired key is named, and the line."""
    complaints: tuple[str, ...]
    """What apt itself says of its sources."""
    files: tuple[str, ...]


def sources_facts(recording: Recording) -> SourcesFacts:
    """Read every source file that apt reads."""
    files = {path: text for path in _files(recording) if (text := file_text(recording, path)) is not None}
    pages = [(path, first_line(text)) for path, text in files.items() if _PAGE.match(text)]
    architecture = _architecture(recording)
    entries = tuple(entry for path, text in files.items() for entry in _entries(path, text, architecture))
    named = {entry.path for entry in entries} | {path for path, _ in pages}
    return SourcesFacts(
        recorded=bool(files),
        entries=entries,
        pages=tuple(pages),
        comments=tuple(
            (path, first_line(text))
            for path, text in files.items()
            if path not in named and _is_answer(path, text)
        ),
        retired=tuple(_retired(recording, files)),
        complaints=tuple(_complaints(recording)),
        files=tuple(files),
    )


def _is_answer(path: str, text: str) -> bool:
    """Whether a file without any repository is an answer like "# Unsupported distribution!", not a note."""
    folder, _, name = path.rpartition("/")
    ours = _OURS.search(name) or _ANSWER.search(text)
    return (
        f"{folder}/" == SOURCES_FOLDER and bool(text.strip()) and not _NAMES_ONE.search(text) and bool(ours)
    )


def _files(recording: Recording) -> list[str]:
    paths = [path for path in recording.file_paths if path.startswith(SOURCES_FOLDER)]
    read = [path for path in paths if path.endswith((".list", ".sources")) and not _IGNORED.search(path)]
    return [SOURCES_LIST, *sorted(read)]


def _architecture(recording: Recording) -> str:
    entry = recording.command("uname")
    machine = next((word for word in reversed((entry.stdout if entry else "").split()) if "64" in word), "")
    return _ARCHITECTURES.get(machine, "amd64")


def _normal(url: str, architecture: str) -> str:
    """Write an address as it is compared: no $(ARCH), no double or last slash."""
    scheme, colon, plain = url.replace("$(ARCH)", architecture).partition("://")
    host, slash, path = plain.partition("/")
    return scheme.lower() + colon + re.sub(r"/+", "/", host.lower() + slash + path).rstrip("/")


def _entries(path: str, text: str, architecture: str) -> Iterator[Entry]:
    if path.endswith(".sources"):
        for stanza in re.split(r"\n\s*\n", text):
            given = _fields(stanza)
            if given.get("enabled", "yes").lower() in _OFF:
                continue
            for url in given.get("uris", "").split():
                for suite in given.get("suites", "").split():
                    yield Entry(path, _normal(url, architecture), _suite(suite), given.get("signed-by", ""))
        return
    for options, url, suite in _LINE.findall(text):
        key = _SIGNED.search(options)
        yield Entry(path, _normal(url, architecture), _suite(suite), key.group(1) if key else "")


def _suite(text: str) -> str:
    return text.rstrip("/") or "/"


def _fields(stanza: str) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in stanza.splitlines():
        if line.startswith("#"):
            continue
        if line[:1].isspace() and key:
            found[key] = f"{found[key]} {line.strip()}".strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            key = name.strip().lower()
            found[key] = value.strip()
    return found


def _retired(recording: Recording, files: dict[str, str]) -> Iterator[tuple[str, str]]:
    for path, text in files.items():
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        line = next((line for line in lines if RETIRED_KEY in line.lower()), None)
        if line:
            yield path, line.strip()
    for pattern in _KEYRINGS:
        for path in recording.globs.get(pattern, ()):
            if RETIRED_KEY in path.lower():
                yield pattern, path


def _complaints(recording: Recording) -> Iterator[str]:
    for name in ("apt-policy", "apt-update"):
        entry = recording.command(name)
        for line in _ERRORS.findall(entry.said if entry else ""):
            yield cite(name, line)
