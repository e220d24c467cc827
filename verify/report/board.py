"""The dashboard below the doctor's view: per card three figures, then power, faults and who uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from verify.report.words import heat, process_words, rows, title, work
from verify.text import hang, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from verify.facts.holders import Process
    from verify.facts.usage import CardUsage, UsageFacts

NO_CARD = "no figures: nvidia-smi describes no card in this recording"
_LABEL = 9
_INDENT = 4
_STYLES = {"asleep": "yellow", "half awake": "yellow", "working": "green", "cool": "green", "warm": "green"}
_STYLES |= {"hot": "bold yellow", "burning": "bold red"}


def board_text(usage: UsageFacts, taken_at: str | None, width: int) -> Text:
    """Return the dashboard as one text, so that it can be printed once or refreshed in place."""
    lines = [Text(f"The cards, as they were at {plain(taken_at or 'a moment that is not recorded')}")]
    for alike in _folded(usage.cards):
        lines.append(Text(plain(f"  {_heading(alike)}"), style="bold"))
        lines += _card(alike[0], width)
    if not usage.cards:
        lines.append(Text(f"  {NO_CARD}"))
    for process in usage.others:
        text = f"holds a card open, and the driver lists it on none: {process_words(process)}"
        lines += [Text("  " + line) for line in hang(text, width, 2)]
    return Text("\n").join(lines)


def _folded(cards: Iterable[CardUsage]) -> list[list[CardUsage]]:
    """Put cards together of which every word that is said is the same; one that differs stands alone."""
    alike: dict[tuple[object, ...], list[CardUsage]] = {}
    for card in cards:
        alike.setdefault((card.card.name, *rows(card)), []).append(card)
    return list(alike.values())


def _heading(alike: Sequence[CardUsage]) -> str:
    if len(alike) == 1:
        return title(alike[0])
    name = alike[0].card.name or "a card that does not tell its name"
    which = _indexes([card.card.index for card in alike])
    return f"{len(alike)} x {name}: cards {which}, of which the same is said"


def _indexes(indexes: Sequence[int | None]) -> str:
    """Write 0, 1, 2, 5 as ``0 to 2, 5``."""
    runs: list[list[int | None]] = []
    for index in indexes:
        last = runs[-1][-1] if runs else None
        if last is not None and index == last + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    told = (["?" if index is None else str(index) for index in run] for run in runs)
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in told)  # noqa: PLR2004


def _card(card: CardUsage, width: int) -> list[Text]:
    lines = []
    start = _INDENT + _LABEL
    for label, sentence in rows(card):
        first, *rest = hang(sentence, width, start)
        word, colon, _ = sentence.partition(":")
        text = Text(" " * _INDENT + label.ljust(_LABEL) + first)
        if colon and word in _STYLES:
            text.stylize(_STYLES[word], start, start + len(word))
        lines += [text, *(Text(line) for line in rest)]
    return lines


def print_board(usage: UsageFacts, taken_at: str | None, out: Console) -> None:
    """Print the dashboard once."""
    out.print(board_text(usage, taken_at, out.width), soft_wrap=True)


def documents(usage: UsageFacts) -> dict[str, Any]:
    """Return what the JSON document says of the cards."""
    return {
        "cards": [_document(card) for card in usage.cards],
        "other_processes": [_process(process) for process in usage.others],
    }


def _document(card: CardUsage) -> dict[str, Any]:
    """Return one card of the JSON document; null is "not told by this card"."""
    own, faults = card.card, card.faults
    return {
        "index": own.index,
        "name": own.name,
        "uuid": own.uuid,
        "work": work(card),
        "utilization_percent": own.utilization_percent,
        "memory_total_mib": own.memory_total_mib,
        "memory_used_mib": own.memory_used_mib,
        "memory_free_mib": card.memory_free_mib,
        "heat": heat(card),
        "temperature_c": card.heat.temperature,
        "slowdown_c": card.heat.slowdown,
        "shutdown_c": card.heat.shutdown,
        "margin_to_slowdown_c": card.heat.margin,
        "power_w": own.power_w,
        "power_limit_w": own.power_limit_w,
        "throttle_reasons": None if card.throttle is None else list(card.throttle),
        "ecc_uncorrected_since_start": faults.ecc_since_start,
        "ecc_uncorrected_ever": faults.ecc_ever,
        "retired_pages": faults.retired_pages,
        "remapped_rows": faults.remapped_rows,
        "memory_repair_pending": faults.memory_repair_pending,
        "memory_repair_failed": faults.memory_repair_failed,
        "xids": None if faults.xids is None else list(faults.xids),
        "processes": None if card.processes is None else [_process(p) for p in card.processes],
        "says": {label: text for label, text in rows(card) if label != "used by"},
    }


def _process(process: Process) -> dict[str, Any]:
    """Return one process of the JSON document."""
    return {
        "pid": process.pid,
        "name": process.name,
        "user": process.user,
        "container": process.container,
        "memory_mib": process.memory_mib,
    }
