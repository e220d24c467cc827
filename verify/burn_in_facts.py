"""What is compared before, during and after a burn-in: one card at one look, out of a recording. Pure."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts.kernel_log import slot
from verify.facts.reading import number, whole
from verify.facts.smi import xml_gpus
from verify.facts.throttle import IDLE
from verify.facts.usage import usage_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.facts.usage import CardUsage
    from verify.recording import Recording

_XID = re.compile(r"Xid \((?:PCI:)?([0-9A-Fa-f:.]+)[^)]*\): (\d{1,4})\b")
_LOGS = ("dmesg-nvidia", "journal-nvidia")
_CORRECTED = ("single_bit/total", "sram_correctable", "dram_correctable")


@dataclass(frozen=True, slots=True)
class Look:
    """A card at one moment; what it does not tell is None."""

    title: str
    address: str
    clock_mhz: float | None
    clock_most_mhz: float | None
    busy_percent: float | None
    temperature_c: float | None
    margin_c: float | None
    power_w: float | None
    power_limit_w: float | None
    throttle: tuple[str, ...] | None
    uncorrected: int | None
    corrected: int | None
    remapped: int | None
    users: int | None
    """Processes on it, as the driver lists them."""


@dataclass(frozen=True, slots=True)
class Course:
    """One card over the whole burn-in; ``after`` is None where it is gone."""

    before: Look
    during: tuple[Look, ...]
    after: Look | None

    @property
    def title(self) -> str:
        """Its index and name."""
        return self.before.title


def looks(recording: Recording) -> dict[str, Look]:
    """Return every card of a recording, by what names it for good: its UUID, else its address."""
    entry = recording.command("nvidia-smi-xml")
    parts = xml_gpus(entry.stdout if entry and not entry.timed_out else "")
    leaves = {part.leaves.get("uuid") or "": part.leaves for part in parts}
    found = {}
    for place, usage in enumerate(usage_facts(recording).cards):
        values = leaves.get(usage.card.uuid or "")
        if values is None:
            values = parts[place].leaves if place < len(parts) and not usage.card.uuid else {}
        found[usage.card.uuid or usage.card.bus_id or str(place)] = _look(usage, values, place)
    return found


def _look(usage: CardUsage, values: Mapping[str, str], place: int) -> Look:
    card, faults = usage.card, usage.faults
    told = [
        count
        for name in _CORRECTED
        if (count := whole(values.get(f"ecc_errors/volatile/{name}"))) is not None
    ]
    pages = [count for count in (faults.remapped_rows, faults.retired_pages) if count is not None]
    index = place if card.index is None else card.index
    return Look(
        title=f"card {index} ({card.name or 'no name'})",
        address=slot(card.bus_id) if card.bus_id else "",
        clock_mhz=number(values.get("clocks/sm_clock")),
        clock_most_mhz=number(values.get("max_clocks/sm_clock")),
        busy_percent=card.utilization_percent,
        temperature_c=card.temperature_c,
        margin_c=usage.heat.margin,
        power_w=card.power_w,
        power_limit_w=card.power_limit_w,
        throttle=usage.throttle,
        uncorrected=faults.ecc_since_start,
        corrected=sum(told) if told else None,
        remapped=sum(pages) if pages else None,
        users=None if usage.processes is None else len(usage.processes),
    )


def courses(before: Recording, during: Sequence[Recording], after: Recording) -> tuple[Course, ...]:
    """Follow every card that was there before."""
    then = [looks(recording) for recording in during]
    last = looks(after)
    return tuple(
        Course(first, tuple(found[name] for found in then if name in found), last.get(name))
        for name, first in looks(before).items()
    )


def held_back(look: Look) -> tuple[str, ...]:
    """Return why its clocks are down, idleness apart; nothing where it says nothing."""
    return tuple(reason for reason in look.throttle or () if reason != IDLE)


def xid_lines(recording: Recording) -> Counter[str] | None:
    """Count the kernel log's lines with an Xid; None where nobody could read it whole."""
    entries = [entry for name in _LOGS if (entry := recording.command(name)) and entry.ok and not entry.cut]
    if not entries:
        return None
    return Counter(line.strip() for line in entries[0].stdout.splitlines() if _XID.search(line))


def new_xids(before: Recording, after: Recording) -> tuple[tuple[str, int, str], ...] | None:
    """Return address, number and line of every Xid that came meanwhile; None where that is not known."""
    old, new = xid_lines(before), xid_lines(after)
    if old is None or new is None:
        return None
    found = []
    for line in new - old:
        match = _XID.search(line)
        if match:
            found.append((slot(match.group(1)), int(match.group(2)), line))
    return tuple(found)
