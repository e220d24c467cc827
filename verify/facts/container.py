"""What the ``run-*`` commands saw: containers that asked for a card in one way or another."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.facts.driver import INFOROM_RC
from verify.facts.smi import parse_list
from verify.facts.source import cite, cite_command, first_line
from verify.json_values import as_list, as_object, as_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.facts.card import Card
    from verify.recording import CommandEntry, Recording

RUNS = (
    "run-none",
    "run-gpus-all",
    "run-gpus-first",
    "run-runtime",
    "run-runtime-first",
    "run-cdi",
    "run-cdi-first",
)
_DAEMON_ERROR = re.compile(r"^.*Error response from daemon: ", re.MULTILINE)
_DOCKER_FAILED = 125  # docker run's own status where the container did not start
_NO_PROGRAM = re.compile(r'exec: "?nvidia-smi"?: executable file not found')


@dataclass(frozen=True, slots=True)
class Run:
    """One container: the cards that it saw, or why it did not run."""

    name: str
    ran: bool
    ended: str | None
    """How it ended, where that is not as it must; None where it ended well."""
    cards: tuple[Card, ...]
    no_program: bool
    timed_out: bool
    refused: bool
    said: str
    whole: str
    evidence: tuple[str, ...]

    @property
    def gave(self) -> bool:
        """Whether it saw a card and ended well."""
        return bool(self.cards) and self.ended is None


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """The image that the containers use."""

    recorded: bool
    present: bool
    id: str | None
    name: str | None
    digest: str | None
    env: Mapping[str, str] | None
    """None where it was not recorded."""
    said: str
    evidence: tuple[str, ...]


def runs(recording: Recording) -> Mapping[str, Run]:
    """Read every ``run-*`` command that was recorded."""
    entries = ((name, recording.command(name)) for name in RUNS)
    return {name: _run(entry) for name, entry in entries if entry}


def _run(entry: CommandEntry) -> Run:
    said = entry.error or first_line(_DAEMON_ERROR.sub("", entry.stderr)) or first_line(entry.stdout)
    cards = parse_list(entry.stdout) if not entry.timed_out else ()
    lines = [line for line in entry.stdout.splitlines() if line.startswith("GPU ")]
    return Run(
        name=entry.name,
        ran=entry.ran,
        ended=None if entry.rc in (0, INFOROM_RC) and not entry.timed_out else entry.ended,
        cards=cards,
        no_program=_NO_PROGRAM.search(entry.stderr) is not None,
        timed_out=entry.timed_out,
        refused=entry.rc == _DOCKER_FAILED or _DAEMON_ERROR.search(entry.stderr) is not None,
        said=said if entry.rc != 0 else "",
        whole=entry.said,
        evidence=tuple(cite_command(entry, line) for line in lines)
        if lines and entry.rc in (0, INFOROM_RC)
        else (cite_command(entry),),
    )


def image_facts(recording: Recording) -> ImageFacts:
    """Read ``docker image inspect`` of the image in use."""
    entry = recording.command("image-inspect")
    image = as_object(next(iter(_array(entry.stdout)), None)) if entry and entry.ok else {}
    tags, digests = as_list(image.get("RepoTags")), as_list(image.get("RepoDigests"))
    return ImageFacts(
        recorded=entry is not None and not entry.missing,
        present=as_text(image.get("Id")) is not None,
        id=as_text(image.get("Id")),
        name=as_text(next(iter(tags), None)) or (entry.argv[-1] if entry and entry.argv else None),
        digest=as_text(next(iter(digests), None)),
        env=_environment(as_object(image.get("Config"))),
        said=(entry.error or first_line(entry.stderr)) if entry else "",
        evidence=(_cited(entry, image),) if entry else (),
    )


def _environment(config: Mapping[str, Any]) -> Mapping[str, str] | None:
    if "Env" not in config:
        return None
    rows = (text.partition("=") for text in as_list(config["Env"]) if isinstance(text, str))
    return {name: value for name, _, value in rows}


def _cited(entry: CommandEntry, image: Mapping[str, Any]) -> str:
    return cite(entry.name, f'"Id": "{image["Id"]}"') if image.get("Id") else cite_command(entry)


def _array(text: str) -> list[Any]:
    try:
        return as_list(json.loads(text))
    except (ValueError, RecursionError):
        return []
