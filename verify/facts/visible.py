"""Which cards CUDA_VISIBLE_DEVICES leaves visible: by the rules of CUDA, as torch's own parser has them.

Source: torch 2.13.0, torch/cuda/__init__.py, _parse_visible_devices, read 2026-12-02; and
docs.nvidia.com/deploy (the first characters of a UUID will do).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_INDEX = re.compile(r"^\+?(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Visible:
    """How many cards are visible (None: it names parts of cards), and the entry that ended the list."""

    count: int | None
    ended_by: str | None


def visible(value: str, uuids: Sequence[str | None]) -> Visible:
    """Read a value against the cards there are: an entry that names none hides itself and all after it."""
    if value.startswith("MIG-"):
        return Visible(None, None)
    seen: list[object] = []
    for entry in value.split(","):
        card = _named(entry, uuids)
        if card is None:
            return Visible(len(seen), entry.strip())
        if card in seen:
            return Visible(0, entry.strip())  # one that is named twice leaves nothing
        seen.append(card)
    return Visible(len(seen), None)


def _named(entry: str, uuids: Sequence[str | None]) -> object:
    if entry.startswith("GPU-"):
        matches = [uuid for uuid in uuids if uuid and uuid.lower().startswith(entry.strip().lower())]
        return matches[0] if len(matches) == 1 else None
    index = _INDEX.match(entry.strip())
    if index is None or int(index.group(1)) >= len(uuids):
        return None
    return int(index.group(1))
