"""The brand of each card, in the words of libnvidia-container: what an image's demand may ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verify.recording import Recording

_BRAND = re.compile(r"<product_brand>([^<]*)</product_brand>")


def brands(recording: Recording) -> tuple[str, ...]:
    """Return the brands, one a card, in nvidia-smi's order: ``geforce``, ``nvidiartx``, ``tesla``."""
    entry = recording.command("nvidia-smi-xml")
    found = _BRAND.findall(entry.stdout) if entry and not entry.timed_out else []
    return tuple("".join(text.split()).lower() for text in found if text.strip())
