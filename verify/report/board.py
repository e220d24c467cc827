"""The dashboard below the doctor's view: per card three figures, then power, faults and who uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from verify.report.text import hang, plain
from verify.report.words import document, process_document, process_words, rows, title

if TYPE_CHECKING:
    from rich.console import Console

    from verify.facts.usage import CardUsage, UsageFacts

NO_CARD = "no figures: nvidia-smi describes no card in this recording"
_LABEL = 9
_INDENT = 4
_STYLES = {"asleep": "yellow", "half awake": "yellow", "working": "green", "cool": "green", "warm": "green"}
_STYLES |= {"hot": "bold yellow", "burning": "bold red"}


def board_text(usage: UsageFacts, taken_at: str | None, width: int) -> Text:
    """Return the dashboard as one text, so that it can be printed once or refreshed in place."""
    lines = [Text(f"The cards, as they were at {plain(taken_at or 'a moment that is not recorded')}")]
    for card in usage.cards:
        lines.append(Text(plain(f"  {title(card)}"), style="bold"))
        lines += _card(card, width)
    if not usage.cards:
        lines.append(Text(f"  {NO_CARD}"))
    for process in usage.others:
        text = f"holds a card open, and the driver lists it on none: {process_words(process)}"
        lines += [Text("  " + line) for line in hang(text, width, 2)]
    return Text("\n").join(lines)


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
        "cards": [document(card) for card in usage.cards],
        "other_processes": [process_document(process) for process in usage.others],
    }
