"""The brand of each card, in the words of libnvidia-container: what an image's demand may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verify.facts.smi import xml_gpus

if TYPE_CHECKING:
    from verify.recording import Recording


def brands(recording: Recording) -> tuple[str, ...]:
    """Return the brands, one a card, in nvidia-smi's order: ``geforce``, ``nvidiartx``, ``tesla``."""
    entry = recording.command("nvidia-smi-xml")
    gpus = xml_gpus(entry.stdout) if entry and not entry.timed_out else ()
    found = ("".join(gpu.leaves.get("product_brand", "").split()).lower() for gpu in gpus)
    return tuple(filter(None, found))
