"""What a person should read of each card, in words beside the numbers.

Three figures first: is it working or asleep while it is paid for, will the model fit, is it warm or burning.
The words are ours; every number is the card's, and a number that it does not tell is said to be missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.checks.check import count
from verify.compat.xid import meaning
from verify.facts import throttle

if TYPE_CHECKING:
    from verify.facts.holders import Process
    from verify.facts.usage import CardUsage, Faults

# Ours, not NVIDIA's. Utilisation is one look: the share of the last moment in which something ran.
ASLEEP_BELOW_PERCENT = 5
WORKING_FROM_PERCENT = 50
HOT_BELOW_MARGIN_C = 10
COOL_FROM_MARGIN_C = 35
_MIB = 1 << 20
_BYTES_A_PARAMETER = 2  # at 16 bit
_LONGEST_NAME = 60


def work(card: CardUsage) -> str | None:
    """Say in a word whether it works; None where the card does not tell."""
    percent = card.card.utilization_percent
    if percent is None:
        return None
    if percent < ASLEEP_BELOW_PERCENT:
        return "asleep"
    return "working" if percent >= WORKING_FROM_PERCENT else "half awake"


def heat(card: CardUsage) -> str | None:
    """Say in a word how warm it is, against its own threshold; None where it tells none."""
    if any(reason in throttle.HEAT for reason in card.throttle or ()):
        return "burning"
    margin = card.heat.margin
    if margin is None:
        return None
    if margin <= 0:
        return "burning"
    if margin < HOT_BELOW_MARGIN_C:
        return "hot"
    return "cool" if margin >= COOL_FROM_MARGIN_C else "warm"


def rows(card: CardUsage) -> list[tuple[str, str]]:
    """Return what there is to read of one card, as pairs of a label and a sentence."""
    if not _has_figures(card):
        return [("figures", "none in this recording: nvidia-smi -q did not answer, or nobody asked it")]
    return [
        ("work", _work(card)),
        ("memory", _memory(card)),
        ("heat", _heat(card)),
        ("power", _power(card)),
        ("faults", _faults(card.faults, card.card.ecc)),
        *(("used by", text) for text in _users(card)),
    ]


def _has_figures(card: CardUsage) -> bool:
    own = card.card
    figures = (own.utilization_percent, own.memory_total_mib, card.memory_free_mib, own.temperature_c)
    return any(figure is not None for figure in (*figures, own.power_w, card.throttle, card.processes))


def title(card: CardUsage) -> str:
    """Name a card as a person would."""
    index = "?" if card.card.index is None else card.card.index
    return f"card {index}: {card.card.name or 'a card that does not tell its name'}"


def short(card: CardUsage) -> str:
    """Return a card's three figures on one line."""
    index = "?" if card.card.index is None else card.card.index
    busy, free = card.card.utilization_percent, card.memory_free_mib
    parts = [work(card) or "busy or not: not told", "" if busy is None else f"({busy:g} %)"]
    room = "free memory not told" if free is None else f"{gib(free)} free"
    warmth = "" if card.heat.temperature is None else f", {heat(card) or ''} {card.heat.temperature:g} °C"
    return " ".join(f"{index}: {' '.join(filter(None, parts))}, {room}{warmth}".split())


def _work(card: CardUsage) -> str:
    word, percent = work(card), card.card.utilization_percent
    if word is None:
        whole = " as a whole while MIG is on" if card.card.mig == "Enabled" else ""
        return f"this card does not tell{whole} how busy it is"
    held = ""
    if word == "asleep":
        on_it = len(card.processes or ())
        though = ", though a process is on it" if on_it == 1 else f", though {on_it} processes are on it"
        held = ": it is paid for and does nothing" + (though if on_it else "")
    return f"{word}: {percent:g} % busy at the moment of looking{held}"


def _memory(card: CardUsage) -> str:
    free, total, used = card.memory_free_mib, card.card.memory_total_mib, card.card.memory_used_mib
    if free is None:
        known = f" (of {gib(total)})" if total is not None else ""
        return f"this card does not tell how much memory is free{known}"
    of = f" of {gib(total)}" if total is not None else ""
    taken = f", {gib(used)} used" if used is not None else ""
    billions = free * _MIB / _BYTES_A_PARAMETER / 1e9
    room = f"{billions:.0f}" if billions >= 10 else f"{billions:.1f}"  # noqa: PLR2004
    return (
        f"{gib(free)} free{of}{taken}: room for the weights of about {room} billion parameters at 16 bit; "
        "what they need to run comes on top"
    )


def _heat(card: CardUsage) -> str:
    now, word = card.heat.temperature, heat(card)
    if now is None and card.heat.margin is None:
        return "this card does not tell its temperature"
    degrees = f"{now:g} °C" if now is not None else "it does not tell its temperature"
    if card.heat.margin is None:
        told = f"{word}: {degrees}" if word else degrees
        return f"{told}; this card does not tell at what temperature it slows itself down"
    at = f" ({card.heat.slowdown:g} °C)" if card.heat.slowdown is not None else ""
    margin = card.heat.margin
    where = f"{margin:g} °C below" if margin > 0 else f"{-margin:g} °C above" if margin < 0 else "at"
    return f"{word}: {degrees}, {where} the point where this card slows itself down{at}"


def _power(card: CardUsage) -> str:
    draw, limit = card.card.power_w, card.card.power_limit_w
    told = f"{draw:.0f} W" if draw is not None else "this card does not tell what it draws"
    told += f" of the {limit:.0f} W that it may draw" if limit is not None else ""
    if card.throttle is None:
        return f"{told}; it does not tell whether its clocks are held down"
    reasons = "; ".join(throttle.words(reason) for reason in card.throttle)
    return f"{told}; {reasons or 'nothing holds its clocks down'}"


def _faults(faults: Faults, mode: str | None) -> str:
    parts = [_ecc(faults, mode)]
    for number, thing in ((faults.retired_pages, "retired page"), (faults.remapped_rows, "remapped row")):
        parts += [count(number, thing)] if number else []
    parts += ["a memory repair waits for a reset of the card"] if faults.memory_repair_pending else []
    parts += ["a memory repair has failed: have the card replaced"] if faults.memory_repair_failed else []
    return "; ".join([*parts, _xids(faults.xids)])


def _ecc(faults: Faults, mode: str | None) -> str:
    if faults.ecc_since_start is None and faults.ecc_ever is None:
        if mode == "Enabled":
            return "ECC is on, and how many memory errors it has counted is not told"
        return "memory errors are not told (no ECC, switched off, or not recorded)"
    told = [(faults.ecc_since_start, "since the driver was loaded"), (faults.ecc_ever, "in its life")]
    return "uncorrected memory errors: " + ", ".join(
        f"{number or 'none'} {when}" for number, when in told if number is not None
    )


def _xids(xids: tuple[int, ...] | None) -> str:
    if xids is None:
        return "the kernel's log was not read, so Xid errors are not known"
    if not xids:
        return "no Xid error in the kernel's log"
    told = (f"{xid} ({known.title})" if (known := meaning(xid)) else str(xid) for xid in xids)
    return "Xid errors in the kernel's log: " + ", ".join(told)


def _users(card: CardUsage) -> list[str]:
    if card.processes is None:
        return ["the driver does not tell who is on this card"]
    return [process_words(process) for process in card.processes] or ["nobody"]


def process_words(process: Process) -> str:
    """Say who a process is: command, owner, container, memory."""
    name = process.name or "a process whose name is not told"
    name = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    parts = [f"pid {process.pid}"]
    parts += [f"user {process.user}"] if process.user else []
    parts += [f"container {process.container}"] if process.container else []
    parts += [gib(process.memory_mib)] if process.memory_mib is not None else []
    return f"{name} ({', '.join(parts)})"


def gib(mib: int | None) -> str:
    """Write MiB as GiB, small amounts as they are."""
    if mib is None:
        return "an unknown amount"
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib} MiB"  # noqa: PLR2004
