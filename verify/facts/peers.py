"""Two cards or more: the copies between them, the all-reduce over them, and how the bus joins them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.probe import last_object
from verify.facts.source import cite_command
from verify.json_values import as_list, as_object, as_text, as_truth, as_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.recording import CommandEntry, Recording

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # nvidia-smi underlines the head of its table
_CARD = re.compile(r"^GPU(\d+)$")


@dataclass(frozen=True, slots=True)
class Pair:
    """One copy, by torch's numbers of the cards."""

    source: int
    target: int
    access: bool | None
    right: bool | None
    error: str | None

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"


@dataclass(frozen=True, slots=True)
class PeerFacts:
    """``errors`` has what came instead of an answer; ``links`` how nvidia-smi says that cards are joined."""

    recorded: bool
    count: int | None
    pairs: tuple[Pair, ...]
    reduced: bool | None
    reduce_error: str | None
    errors: Mapping[str, str]
    links: Mapping[tuple[int, int], str]
    evidence: tuple[str, ...]
    topology_evidence: tuple[str, ...]


def peer_facts(recording: Recording) -> PeerFacts:
    """Read the probe's answer, and the matrix of ``nvidia-smi topo -m``."""
    entry, topology = recording.command("torch-peers"), recording.command("nvidia-smi-topo")
    answer, line = last_object(entry)
    reduced = as_object(answer.get("all_reduce"))
    errors = {name: str(text) for name, text in as_object(answer.get("errors")).items()}
    asking = as_text(answer.get("asking"))
    if entry and asking:
        errors[asking] = entry.ended
    links = parse_topology(topology.stdout if topology and topology.ok else "")
    return PeerFacts(
        recorded=bool(answer),
        count=as_whole(answer.get("count")),
        pairs=tuple(_pairs(as_list(answer.get("pairs")))),
        reduced=as_truth(reduced.get("ok")),
        reduce_error=as_text(reduced.get("error")) or errors.get("all_reduce"),
        errors=errors,
        links=links,
        evidence=(cite_command(entry, line, recording.where),) if entry else (),
        topology_evidence=_rows(topology, recording.where) if links else (),
    )


def parse_topology(text: str) -> dict[tuple[int, int], str]:
    """Read how each pair of cards is joined: NV18, PIX, PXB, PHB, NODE, SYS."""
    found: dict[tuple[int, int], str] = {}
    columns: list[int] = []
    for line in _COLOUR.sub("", text).splitlines():
        words = line.split()
        row = _CARD.match(words[0]) if words else None
        if row is None:
            continue
        if not columns:
            columns = [int(match.group(1)) for word in words if (match := _CARD.match(word))]
            continue
        for column, word in zip(columns, words[1:], strict=False):
            if column != int(row.group(1)):
                found[int(row.group(1)), column] = word
    return found


def _rows(entry: CommandEntry | None, where: str) -> tuple[str, ...]:
    lines = _COLOUR.sub("", entry.stdout).splitlines() if entry else []
    return tuple(cite_command(entry, line, where) for line in lines if entry and line.startswith("GPU"))


def _pairs(items: Sequence[object]) -> list[Pair]:
    pairs = []
    for item in items:
        one = as_object(item)
        source, target = as_whole(one.get("from")), as_whole(one.get("to"))
        if source is None or target is None:
            continue
        access, right = as_truth(one.get("access")), as_truth(one.get("right"))
        pairs.append(Pair(source, target, access, right, as_text(one.get("error"))))
    return pairs
