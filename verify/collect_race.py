"""What the role's options say of a host's race: its command line, and what that line means. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verify.errors import VerifyError
from verify.facts.usage import usage_facts
from verify.race import options
from verify.race.sentence import sentence
from verify.recording import Recording

if TYPE_CHECKING:
    import argparse

    from verify.race.settings import Settings

Document = dict[str, Any]


def others_on_card(host: Document | None) -> int | None:
    """Return how many processes the host saw on its first card just before; None where it could not say."""
    cards = usage_facts(Recording.from_document(host)).cards if host else ()
    processes = cards[0].processes if cards else None
    return None if processes is None else len(processes)


def race_options(given: Document, image_digest: str | None, others: int | None = None) -> list[str]:
    """Return the words after ``python3 -m verify.race``; an exact number of repeats has no budget."""
    words = ["--out", "-", "--host", str(given["host"]), "--network", str(given["network"])]
    exactly = given["repeats"]
    words += ["--budget", str(given["budget"])] if exactly is None else ["--repeats", str(exactly)]
    words += ["--image-digest", image_digest] if image_digest else []
    words += [] if others is None else ["--others", str(others)]
    priced = [where for where in ("cpu", "card") if given[f"price_{where}"] is not None]
    for where in priced:
        words += [f"--price-{where}", str(given[f"price_{where}"])]
    return [*words, "--currency", str(given["currency"])] if priced else words


def race_settings(given: Document) -> Settings:
    """Return the settings that the race will have, by its own reading of its command line."""
    try:
        return options.settings(_parsed(given))
    except options.UsageError as error:
        raise VerifyError(f"the race's options for {given['host']}: {error}") from None


def race_prices(given: Document) -> Document | None:
    """Return race.json's prices: None where none was given."""
    try:
        return options.prices(_parsed(given))
    except options.UsageError as error:
        raise VerifyError(f"the race's options for {given['host']}: {error}") from None


def _parsed(given: Document) -> argparse.Namespace:
    return options.parse(race_options(given, None))


def reused(old: Document, given: Document) -> Document:
    """Return a race that is reused, at today's prices: they change no measurement, but what it is worth."""
    prices = race_prices(given)
    if old.get("prices") == prices:
        return old
    race = {**old, "prices": prices}
    return {**race, "sentence": sentence(race)}
