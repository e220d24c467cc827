"""The user space of the driver: whether nvidia-smi answers, what it says, which library it loads."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verify.facts.origin import driver_origin, driver_packages
from verify.facts.smi import asked_fields, parse_list, parse_query, parse_xml
from verify.facts.source import cite, cite_command, first_line
from verify.facts.trouble import Trouble, complains, complaint, trouble
from verify.facts.version import Version

if TYPE_CHECKING:
    from collections.abc import Iterable

    from verify.facts.card import Card
    from verify.recording import CommandEntry, Recording

_SMI = ("nvidia-smi-list", "nvidia-smi", "nvidia-smi-query", "nvidia-smi-xml")
_LIBRARY_FILE = re.compile(r"libnvidia-ml\.so\.(\d+\.\d+(?:\.\d+)?)$")
_LIBRARY_PACKAGE = re.compile(
    r"^(?:libnvidia-ml1|libnvidia-compute(?:-\d+)?(?:-server)?|nvidia-driver-cuda-libs) (\S+) installed",
    re.MULTILINE,
)
_NVML_LINE = re.compile(r"NVML library version:\s*(\d+\.\d+(?:\.\d+)?)")
# Since branch 610 the header may say "KMD Version" and "CUDA UMD Version" (kernel and user mode driver).
_CUDA = re.compile(r"CUDA (?:UMD )?Version:\s*(\d+\.\d+)|<cuda_version>(\d+\.\d+)</cuda_version>")
_DRIVER = re.compile(
    r"(?:Driver|KMD) Version:\s*(\d+\.\d+(?:\.\d+)?)|<driver_version>(\d+\.\d+(?:\.\d+)?)</driver_version>"
)
_INFOROM = re.compile(r"infoROM is corrupted at gpu ([0-9A-Fa-f:.]+)", re.IGNORECASE)
WSL = "nvidia-smi-wsl"
_UNKNOWN_FIELD = "is not a valid field to query"
INFOROM_RC = 14  # a card's infoROM is corrupt: nvidia-smi works and warns


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """What nvidia-smi said on one machine, or in one container."""

    recorded: bool
    answers: bool
    trouble: Trouble | None
    said: str
    cards: tuple[Card, ...]
    version: Version | None
    cuda: Version | None
    libraries: tuple[Version, ...]
    partial: tuple[str, ...]
    inforom: bool
    inforom_cards: tuple[str, ...]
    packages: tuple[str, ...] | None
    origin: str | None
    evidence: tuple[str, ...]
    library_evidence: tuple[str, ...]


def driver_facts(recording: Recording) -> DriverFacts:
    """Read the driver's own words, from a host or from a container."""
    asked = [entry for name in _SMI if (entry := recording.command(name))]
    # An old driver refuses a whole query for one field that it does not know: that is no answer.
    entries = [entry for entry in asked if _UNKNOWN_FIELD not in entry.said]
    elsewhere = recording.command(WSL)
    hidden = elsewhere is not None and _works(elsewhere) and all(entry.missing for entry in entries)
    if elsewhere is not None and hidden:
        entries = [elsewhere]
    working = [entry for entry in entries if _works(entry)]
    broken = [entry for entry in entries if not _works(entry)]
    cards = _cards(recording)
    # The list is the shortest question; without it any of the others will do.
    lead = next(iter(entries), None)
    answers = (
        lead is not None and (lead in working or (lead.name != _SMI[0] and bool(working))) and bool(cards)
    )
    said = "\n".join(entry.said for entry in entries)
    libraries, library_evidence = _libraries(recording, said)
    failed = lead if lead in broken else next(iter(broken), lead)
    packages = driver_packages(recording)
    partial = [f"{entry.name} {entry.ended}" for entry in broken]
    if hidden and elsewhere:
        partial = [f"nvidia-smi is not on PATH, only as {elsewhere.argv[0] if elsewhere.argv else WSL}"]
    return DriverFacts(
        recorded=lead is not None and not _table_alone(entries),
        answers=answers,
        trouble=None if answers or failed is None else trouble(failed),
        said=complaint(failed) if failed and not answers else "",
        cards=cards,
        version=_version(cards, said),
        cuda=_search(_CUDA, said),
        libraries=libraries,
        partial=tuple(partial) if answers else (),
        inforom=any(entry.rc == INFOROM_RC for entry in entries),
        inforom_cards=tuple(dict.fromkeys(_INFOROM.findall(said))),
        packages=packages,
        origin=driver_origin(recording, packages),
        evidence=tuple(_cited(entry, recording.where) for entry in (entries if not answers else working)),
        library_evidence=library_evidence,
    )


def _table_alone(entries: list[CommandEntry]) -> bool:
    """Whether there is only the table for people, which says nothing wrong and lists no card for us."""
    return all(one.name == "nvidia-smi" and _works(one) and not complains(one) for one in entries)


def _works(entry: CommandEntry) -> bool:
    return entry.rc in (0, INFOROM_RC) and not entry.timed_out and not entry.missing


def _cited(entry: CommandEntry, where: str) -> str:
    if not _works(entry):
        said = complaint(entry)
        return cite_command(entry, entry.ended + (f": {said}" if said else ""), where)
    if entry.name in ("nvidia-smi", "nvidia-smi-xml"):
        line = next((line for line in entry.stdout.splitlines() if "river" in line), first_line(entry.stdout))
        return cite_command(entry, line, where)
    return cite_command(entry, first_line(entry.stdout), where)


def _cards(recording: Recording) -> tuple[Card, ...]:
    def stdout(name: str) -> str:
        entry = recording.command(name)
        return entry.stdout if entry and not entry.timed_out else ""

    listed = parse_list(stdout("nvidia-smi-list")) or parse_list(stdout(WSL))
    queried = _queried(recording)
    described = parse_xml(stdout("nvidia-smi-xml"))
    leading = listed or queried or described
    return tuple(_merged(card, (described, queried)) for card in leading)


def _queried(recording: Recording) -> tuple[Card, ...]:
    """Read the query; an old driver does not know every field, so there may be a shorter one beside it."""
    for name in ("nvidia-smi-query", "nvidia-smi-query-old"):
        entry = recording.command(name)
        found = parse_query(entry.stdout, asked_fields(entry.argv)) if entry and not entry.timed_out else ()
        if found:
            return found
    return _one_by_one(recording)


def _one_by_one(recording: Recording) -> tuple[Card, ...]:
    """Read the queries for single cards: one broken card takes the whole query down with it."""
    names = sorted(name for name in recording.command_names if name.startswith("nvidia-smi-gpu-"))
    entries = [entry for name in names if (entry := recording.command(name)) and entry.ok]
    return tuple(card for entry in entries for card in parse_query(entry.stdout, asked_fields(entry.argv)))


def _merged(card: Card, others: Iterable[tuple[Card, ...]]) -> Card:
    """Fill what a card's first description leaves open from the others, field by field."""
    for cards in others:
        match = next((o for o in cards if (o.uuid or o.index) == (card.uuid if o.uuid else card.index)), None)
        if match is not None:
            missing = {f: getattr(match, f) for f in card.__dataclass_fields__ if getattr(card, f) is None}
            card = replace(card, **missing)
    return card


def _version(cards: tuple[Card, ...], said: str) -> Version | None:
    named = (Version.parse(card.driver_version) for card in cards)
    return next((version for version in named if version), None) or _search(_DRIVER, said)


def _search(pattern: re.Pattern[str], text: str) -> Version | None:
    found = pattern.search(text)
    return Version.parse(next(filter(None, found.groups()), None)) if found else None


def _libraries(recording: Recording, said: str) -> tuple[tuple[Version, ...], tuple[str, ...]]:
    """Find the versions of the NVML library: by its file name, its package, or its own word."""
    names = [path for paths in recording.globs.values() for path in paths]
    names += [*recording.links.values(), *(path for path, there in recording.paths.items() if there)]
    found: dict[str, str] = {}
    for path in names:
        match = _LIBRARY_FILE.search(path)
        if match and "/diverted/" not in path:
            found.setdefault(match.group(1), cite(path, "present"))
    packages = recording.command("driver-packages")
    for match in _LIBRARY_PACKAGE.finditer(packages.stdout if packages else ""):
        version = Version.parse(match.group(1))
        if version:
            found.setdefault(str(version), f"driver-packages: {match.group(0)}")
    spoken = _NVML_LINE.search(said)
    if spoken:
        found.setdefault(spoken.group(1), f"nvidia-smi: {spoken.group(0)}")
    versions = sorted((Version.of(text) for text in found), key=lambda version: version.parts)
    return tuple(versions), tuple(found[str(version)] for version in versions)
