"""What the kernel log says of the cards and of their module, joined over wrapped lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.source import cite

if TYPE_CHECKING:
    from verify.recording import Recording

_LOGS = ("dmesg-nvidia", "journal-nvidia", "modules-load")
# dmesg and the journal put time, host and "kernel:" in front; the driver breaks its sentences over several
# lines, each with its prefix.
_PREFIX = re.compile(r"^.*?NVRM:\s*")
_XID = re.compile(r"Xid \((?:PCI:)?([0-9A-Fa-f:.]+)[^)]*\): (\d{1,4})(?:,\s*(.*))?$")
_GPU = (
    r"The NVIDIA GPU (?P<address>[0-9A-Fa-f:.]+) \(PCI ID: (?P<device>[0-9a-fA-F:]+)\) "
    r"installed in this system "
)
_OFF_BUS = re.compile(_GPU + r"has fallen off the bus")
_OFF_BUS_SHORT = re.compile(
    r"GPU (?:at PCI:)?([0-9A-Fa-f]+:[0-9A-Fa-f]+:[0-9A-Fa-f.]+):? GPU has fallen off the bus"
)
_NOT_OPEN = re.compile(_GPU + r"is not supported by open nvidia\.ko")
_ONLY_OPEN = re.compile(_GPU + r"requires use of the NVIDIA open kernel modules")
_LEGACY = re.compile(
    r"The NVIDIA (?P<name>.{1,80}?) GPU installed in this system is supported through the NVIDIA "
    r"(?P<branch>\d+)\.xx Legacy drivers"
)
_TAKEN = re.compile(r"The NVIDIA probe routine was not called for (\d+) device")
_MISMATCH = re.compile(
    r"API mismatch: the client has the version (?P<client>[\d.]+\d),? but this kernel module has the version "
    r"(?P<module>[\d.]+\d)"
)
_REFUSED = re.compile(
    r"(?:unsigned module|module with (?:unavailable key|unsupported crypto)) is rejected"
    r"|unsigned module loading is restricted|Loading of unsigned modules? is restricted"
    r"|'nvidia[\w-]*': (?:Key was rejected by service|Required key not available)"
    r"|nvidia[\w-]*: (?:Key was rejected by service|Required key not available)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Xid:
    """One Xid: where, its number, and its text."""

    slot: str
    number: int
    text: str
    evidence: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A card that the module does not take, and why: not-open, only-open or legacy."""

    slot: str | None
    device: str | None
    reason: str
    branch: int | None
    evidence: str


@dataclass(frozen=True, slots=True)
class KernelLog:
    """What was found in the log since the last boot. ``recorded`` is whether anybody could look.

    ``whole`` is whether what was not found is not in it either: nothing was cut at the size limit.
    """

    recorded: bool
    whole: bool
    source: str
    xids: tuple[Xid, ...] = ()
    off_bus: tuple[tuple[str, str], ...] = ()
    refused_cards: tuple[Refused, ...] = ()
    taken: str | None = None
    mismatch: tuple[str, str, str] | None = None
    refused_module: str | None = None

    @property
    def silent(self) -> tuple[str, ...]:
        """The evidence that nothing was found."""
        return (cite(self.source, "nothing about it since the last boot"),)


def slot(address: str) -> str:
    """Return a PCI address as domain:bus:device, whatever spelling it came in."""
    parts = address.lower().removeprefix("pci:").partition(".")[0].split(":")
    domain = "".join(parts[-3:-2])[-4:].rjust(4, "0")
    return ":".join([domain, *parts[-2:]])


def kernel_log(recording: Recording) -> KernelLog:
    """Read the log: dmesg, else the journal's copy of it."""
    entries = [entry for name in _LOGS if (entry := recording.command(name)) and entry.ok]
    logs = [entry for entry in entries if entry.name != "modules-load"]
    source = next((entry.name for entry in sorted(logs, key=lambda entry: entry.cut)), None)
    lines = [(entry.name, line) for entry in entries for line in entry.stdout.splitlines()]
    said = " ".join(" ".join(_PREFIX.sub("", line).split()) for _, line in lines).replace("NVRM: ", "")
    return KernelLog(
        recorded=source is not None,
        whole=any(not entry.cut for entry in logs),
        source=source or _LOGS[0],
        xids=_xids(lines),
        off_bus=_off_bus(lines, said),
        refused_cards=_refused_cards(lines, said),
        taken=next((cite(name, line) for name, line in lines if _TAKEN.search(line)), None),
        mismatch=_mismatch(lines, said),
        refused_module=next((cite(name, line) for name, line in lines if _REFUSED.search(line)), None),
    )


def _xids(lines: list[tuple[str, str]]) -> tuple[Xid, ...]:
    found: dict[tuple[str, int], Xid] = {}
    for name, line in lines:
        match = _XID.search(line.rstrip())
        if match:
            at, number, text = slot(match.group(1)), int(match.group(2)), match.group(3) or ""
            found.setdefault((at, number), Xid(at, number, text, cite(name, line)))
    return tuple(found.values())


def _off_bus(lines: list[tuple[str, str]], said: str) -> tuple[tuple[str, str], ...]:
    """Return the places of cards that fell off the bus, each with its evidence."""
    found: dict[str, str] = {}
    for xid in _xids(lines):
        if "fallen off the bus" in xid.text:
            found.setdefault(xid.slot, xid.evidence)
    for match in (*_OFF_BUS.finditer(said), *_OFF_BUS_SHORT.finditer(said)):
        found.setdefault(slot(match.group(1)), cite(_source_of(lines, "fallen off the bus"), match.group(0)))
    return tuple(sorted(found.items()))


def _refused_cards(lines: list[tuple[str, str]], said: str) -> tuple[Refused, ...]:
    found: dict[str, Refused] = {}
    for pattern, reason in ((_NOT_OPEN, "not-open"), (_ONLY_OPEN, "only-open")):
        for match in pattern.finditer(said):
            at = slot(match["address"])
            evidence = cite(_source_of(lines, match["address"]), match.group(0))
            found.setdefault(at, Refused(at, match["device"].rpartition(":")[2], reason, None, evidence))
    for match in _LEGACY.finditer(said):
        evidence = cite(_source_of(lines, "Legacy drivers"), match.group(0))
        found.setdefault(match["name"], Refused(None, None, "legacy", int(match["branch"]), evidence))
    return tuple(found.values())


def _mismatch(lines: list[tuple[str, str]], said: str) -> tuple[str, str, str] | None:
    match = _MISMATCH.search(said)
    if match is None:
        return None
    return match["client"], match["module"], cite(_source_of(lines, "API mismatch"), match.group(0))


def _source_of(lines: list[tuple[str, str]], words: str) -> str:
    return next((name for name, line in lines if words in line), lines[0][0] if lines else _LOGS[0])
