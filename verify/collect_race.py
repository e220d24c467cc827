"""What the role's options say of a host's race: its settings, its command line, its prices. Pure."""

from __future__ import annotations

from typing import Any

from verify.race.budget import seconds_of
from verify.race.sentence import sentence
from verify.race.settings import Network, Settings, settings_for

Document = dict[str, Any]


def race_settings(given: Document) -> Settings:
    """Return what the role's options come to; an exact number of repeats has no budget."""
    network = Network(kind=given["network"])
    if given["repeats"] is not None:
        return settings_for(int(given["repeats"]), network=network)
    return settings_for(budget_s=seconds_of(str(given["budget"])), network=network)


def race_prices(given: Document) -> Document | None:
    """Return race.json's prices: None where none was given."""
    found = {where: given[f"price_{where}"] for where in ("cpu", "card")}
    if set(found.values()) <= {None}:
        return None
    amounts = {
        f"{where}_per_hour": None if amount is None else float(amount) for where, amount in found.items()
    }
    return {**amounts, "currency": str(given["currency"])}


def race_options(given: Document, image_digest: str | None) -> list[str]:
    """Return the words after ``python3 -m verify.race``."""
    options = ["--out", "-", "--host", str(given["host"]), "--network", str(given["network"])]
    exactly = given["repeats"]
    options += ["--budget", str(given["budget"])] if exactly is None else ["--repeats", str(exactly)]
    options += ["--image-digest", image_digest] if image_digest else []
    prices = race_prices(given)
    for where in ("cpu", "card") if prices else ():
        amount = prices[f"{where}_per_hour"] if prices else None
        options += [] if amount is None else [f"--price-{where}", repr(amount)]
    return [*options, "--currency", prices["currency"]] if prices else options


def reused(old: Document, given: Document) -> Document:
    """Return a race that is reused, at today's prices: they change no measurement, but what it is worth."""
    prices = race_prices(given)
    if old.get("prices") == prices:
        return old
    race = {**old, "prices": prices}
    return {**race, "sentence": sentence(race)}
