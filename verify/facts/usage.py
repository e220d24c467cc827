"""How each card is used: busy or idle, memory, heat, power, faults, and by whom.

A card that does not tell a figure has None there, never 0: 0 % and 0 errors look healthy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.facts import throttle
from verify.facts.driver import driver_facts
from verify.facts.holders import Process, card_processes, holders
from verify.facts.kernel_log import KernelLog, kernel_log, slot
from verify.facts.reading import is_sentinel, number, whole, word
from verify.facts.smi import Gpu, xml_gpus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from verify.facts.card import Card
    from verify.recording import Recording

_UNCORRECTED = (
    "sram_uncorrectable",
    "sram_uncorrectable_parity",
    "sram_uncorrectable_secded",
    "dram_uncorrectable",
)


@dataclass(frozen=True, slots=True)
class Heat:
    """A card's temperature, and what it says of its own limits; all in degrees Celsius.

    Newer cards give no temperature at which they slow down: they give how far away it is.
    """

    temperature: float | None
    slowdown: float | None
    shutdown: float | None
    margin: float | None
    """How much warmer it may become until it slows itself down."""


@dataclass(frozen=True, slots=True)
class Faults:
    """What a card counts of its own errors; None where it does not count them."""

    ecc_since_start: int | None
    ecc_ever: int | None
    retired_pages: int | None
    remapped_rows: int | None
    memory_repair_pending: bool | None
    memory_repair_failed: bool | None
    xids: tuple[int, ...] | None
    """The driver's error numbers in the kernel's log, each once; None where nobody read it."""


@dataclass(frozen=True, slots=True)
class CardUsage:
    """One card at the moment of the recording."""

    card: Card
    memory_free_mib: int | None
    heat: Heat
    throttle: tuple[str, ...] | None
    faults: Faults
    processes: tuple[Process, ...] | None
    """Who is on it as the driver says; None where the driver does not say."""


@dataclass(frozen=True, slots=True)
class UsageFacts:
    """All cards of one machine, and who holds a card without being named by the driver."""

    cards: tuple[CardUsage, ...]
    others: tuple[Process, ...]


def usage_facts(recording: Recording) -> UsageFacts:
    """Read the use of every card that the driver describes."""
    driver = driver_facts(recording)
    entry = recording.command("nvidia-smi-xml")
    parts = xml_gpus(entry.stdout if entry and not entry.timed_out else "")
    held = holders(recording)
    log = kernel_log(recording)
    cards = []
    for place, card in enumerate(driver.cards):
        cards.append(_usage(card, _part(card, place, parts), held, log))
    named = {process.pid for usage in cards for process in usage.processes or ()}
    return UsageFacts(tuple(cards), tuple(p for pid, p in held.items() if pid not in named))


def _part(card: Card, place: int, parts: Sequence[Gpu]) -> Gpu:
    """Find a card's part of the XML: by its UUID; by its place only where no part has one."""
    for part in parts:
        if card.uuid and part.leaves.get("uuid") == card.uuid:
            return part
    nameless = not any(word(part.leaves.get("uuid")) for part in parts)
    return parts[place] if (nameless or not card.uuid) and place < len(parts) else Gpu(None, "", {})


def _usage(card: Card, part: Gpu, held: Mapping[int, Process], log: KernelLog) -> CardUsage:
    values = part.leaves
    reasons = throttle.from_xml(values)
    return CardUsage(
        card=card,
        memory_free_mib=_free(card, values),
        heat=_heat(card, values),
        throttle=throttle.from_mask(card.throttle_reasons) if reasons is None else reasons,
        faults=_faults(values, _xids(log, slot(card.bus_id or ":"))),
        processes=card_processes(part.body, held) if _lists_processes(part.body, values) else None,
    )


def _lists_processes(body: str, values: Mapping[str, str]) -> bool:
    return "<processes" in body and not (values.get("processes") and is_sentinel(values["processes"]))


def _free(card: Card, values: Mapping[str, str]) -> int | None:
    """Take the driver's word; else what is not used, which counts the driver's own reserve as free."""
    free = whole(values.get("fb_memory_usage/free"))
    if free is not None or card.memory_total_mib is None or card.memory_used_mib is None:
        return free
    return max(0, card.memory_total_mib - card.memory_used_mib)


def _heat(card: Card, values: Mapping[str, str]) -> Heat:
    def read(name: str) -> float | None:
        return number(values.get(f"temperature/{name}"))

    now, slowdown = card.temperature_c, read("gpu_temp_slow_threshold")
    left, begins = read("gpu_temp_tlimit"), read("gpu_temp_slow_tlimit_threshold")
    margin = None
    if slowdown is not None and now is not None:
        margin = slowdown - now
    elif left is not None and begins is not None:
        margin = left - begins
    return Heat(now, slowdown, read("gpu_temp_max_threshold"), margin)


def _faults(values: Mapping[str, str], xids: tuple[int, ...] | None) -> Faults:
    rows, pages = "remapped_rows/remapped_row_", "retired_pages/"
    retired = ("multiple_single_bit_retirement", "double_bit_retirement")
    pending = (f"{rows}pending", f"{pages}pending_retirement", f"{pages}pending_blacklist")
    return Faults(
        ecc_since_start=_uncorrected(values, "volatile"),
        ecc_ever=_uncorrected(values, "aggregate"),
        retired_pages=_sum(values.get(f"{pages}{kind}/retired_count") for kind in retired),
        remapped_rows=_sum(values.get(f"{rows}{kind}") for kind in ("corr", "unc")),
        memory_repair_pending=_yes(values.get(path) for path in pending),
        memory_repair_failed=_yes([values.get(f"{rows}failure")]),
        xids=xids,
    )


def _uncorrected(values: Mapping[str, str], since: str) -> int | None:
    total = whole(values.get(f"ecc_errors/{since}/double_bit/total"))
    parts = (values.get(f"ecc_errors/{since}/{name}") for name in _UNCORRECTED)
    return _sum(parts) if total is None else total


def _sum(texts: Iterable[str | None]) -> int | None:
    told = [value for text in texts if (value := whole(text)) is not None]
    return sum(told) if told else None


def _yes(texts: Iterable[str | None]) -> bool | None:
    told = [text for text in texts if text in ("Yes", "No")]
    return "Yes" in told if told else None


def _xids(log: KernelLog, place: str) -> tuple[int, ...] | None:
    """Return a card's Xids; None where the log was not read, or has none in the part that was."""
    found = tuple(xid.number for xid in log.xids if xid.slot == place)
    return found if found or log.whole else None
