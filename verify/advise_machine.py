"""The machine that ``gpu-verify advise`` answers for: from a race of it, from our tables, or from nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from verify.compare import DAMAGE, read, why
from verify.compat.cards import device_id, names
from verify.compat.choice import card_of
from verify.compat.table import rows
from verify.errors import VerifyError
from verify.race import SCHEMA, advise_rates, cores
from verify.race.advise_memory import GIB, USABLE
from verify.race.comparable import brief
from verify.race.spans import Span
from verify.race.words import message, text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from verify.race.advise_rates import Device

    Json = dict[str, Any]

T = TypeVar("T")


def race(path: Path | None) -> Json | None:
    """Return the race in a file, or in its folder."""
    if path is None:
        return None
    found = read(path)
    if found.get("schema") != SCHEMA:
        raise VerifyError(
            f"{path} is of schema {brief(found.get('schema'))}, this program reads {SCHEMA}: race again "
            "with this version"
        )
    return found


def cpu(options: argparse.Namespace, race: Json | None) -> Device:
    """Return the CPU that is meant: the race's, this machine's, or one of so many cores."""
    return whole(lambda: _cpu(options, race), options.race)


def _cpu(options: argparse.Namespace, race: Json | None) -> Device:
    known = ((race or {}).get("cpu") or {}).get("threads")
    if options.cores is not None and race is not None and options.cores != known:
        raise VerifyError(
            f"--cores {options.cores} with --race: it was measured with {known or 'no'} threads; leave one "
            "of them out"
        )
    return advise_rates.cpu(options.cores or known or cores.threads(), race)


def card(options: argparse.Namespace, race: Json | None) -> Device:
    """Return the card that is meant: the one named, the race's, or any of the table."""
    return whole(lambda: _card(options, race), options.race)


def _card(options: argparse.Namespace, race: Json | None) -> Device:
    raced = (race or {}).get("card") or {}
    memory = None
    if options.card is None and raced:
        name, peaks, lanes = str(raced.get("name")), [raced["peak"]] if raced.get("peak") else [], race
        if not peaks:
            raise VerifyError(
                f"the race's card ({name}) is not in our table of peaks: give --card with one that is alike"
            )
        mib = raced.get("memory_mib")
        memory = Span(mib * 0.97, mib) * float(1 << 20) if mib else None
    elif options.card is None:
        name, peaks, lanes = (
            text(message("advise-some-card"), options.lang),
            list(rows("peaks", "peaks")),
            None,
        )
    else:
        device, name, row = _named(options.card)
        peaks, lanes = [row], race if raced.get("pci_id") == f"10de:{device}" else None
        sold = [r["memory_gb"] for r in rows("card_memory", "memory") if device in r["ids"]]
        memory = Span(min(sold[0]), max(sold[0])) * GIB * USABLE if sold else None
    if options.memory is not None:
        memory = Span(options.memory, options.memory) * GIB * USABLE
    return advise_rates.card(name, peaks, memory, lanes)


def whole(made: Callable[[], T], path: Path | None) -> T:
    """Return what is made of a race; refuse the race where it cannot be."""
    try:
        return made()
    except DAMAGE as error:
        if path is None:
            raise  # no file's fault
        raise VerifyError(
            f"{path} is no whole race.json ({why(error)}): take the file that gpu-verify race wrote, as it is"
        ) from None


def _named(asked: str) -> tuple[str, str, Json]:
    """Return the card that is meant: its PCI id, its name, its peaks."""
    found = card_of(asked)
    number = device_id(asked)
    ids = {device for device, name in names().items() if name == found.name}
    if number is not None and (":" in asked or not ids):
        ids = {f"{number:04x}"}
    if found.name is None and not ids:
        raise VerifyError(
            f"--card {asked} is the name of {found.alike} cards: write more of it, or its PCI id, as in "
            "10de:2684"
        )
    for row in rows("peaks", "peaks"):
        for device in row["ids"]:
            if device in ids:
                return device, found.called, row
    known = ", ".join(str(row["name"]) for row in rows("peaks", "peaks"))
    raise VerifyError(f"--card {asked} ({found.called}) is not in our table of peaks. It has: {known}")
