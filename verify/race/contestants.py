"""The contestants, in the order in which they race. Each module makes its own from the settings."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from verify.race.budget import Budget
    from verify.race.lanes import Runner
    from verify.race.libraries import Libraries
    from verify.race.outcome import Lane
    from verify.race.settings import Settings
    from verify.race.words import Message


@dataclass(frozen=True)
class Contestant:
    """One piece of work: how to make its data, how to run it in a lane, and when two results are the same.

    ``disagreement(one, other)`` compares two lanes' quality: a message ``differs`` (what, a, b; the judge
    adds the lane) or None. ``doubt(quality, settings)`` says why one result has no speed (accuracy-low) or
    None. ``absent(lane, settings, libraries)`` says why a lane cannot run, in place of the usual look.
    ``training(settings, data)`` is what one training goes through: {rows, epochs, batch}.
    ``begin(budget)`` tells it its own part of the race's budget when its turn comes. ``threads(lane, data)``
    is {threads, threads_environment} of a lane that calculates in a process of its own.
    """

    name: str
    lanes: tuple[Lane, ...]
    data: Callable[[Settings, Libraries], Any]
    runner: Callable[[Lane, Any, Settings, Libraries], Runner]
    disagreement: Callable[[Mapping[str, float], Mapping[str, float]], Message | None]
    doubt: Callable[[Mapping[str, float], Settings], Message | None] | None = None
    absent: Callable[[Lane, Settings, Libraries], Message | None] | None = None
    training: Callable[[Settings, Any], Mapping[str, Any]] | None = None
    begin: Callable[[Budget], None] | None = None
    threads: Callable[[Lane, Any], Mapping[str, Any]] | None = None


def chosen(settings: Settings) -> tuple[Contestant, ...]:
    """Return the contestants that the settings ask for; the sweep is none, for it has no lanes."""
    names: list[str] = [name for name in ("network", "fraud") if name in settings.only]
    names += ["script"] if settings.script is not None else []
    return tuple(importlib.import_module(f"verify.race.{name}").contestant(settings) for name in names)
