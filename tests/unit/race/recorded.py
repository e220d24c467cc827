"""Races as documents: what the judging half of the race is tried on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("documents")
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.json")))
Json = dict[str, Any]


def document(name: str) -> Json:
    """Return a fresh copy of one."""
    return dict(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def contestant(race: Json, name: str) -> Json:
    """Return one of its contestants, to be looked at or changed."""
    return next(dict_ for dict_ in race["contestants"] if dict_["name"] == name)


def lane(race: Json, contestant_name: str, name: str) -> Json:
    """Return one of its lanes, to be looked at or changed."""
    return next(dict_ for dict_ in contestant(race, contestant_name)["lanes"] if dict_["name"] == name)


def ids(messages: list[Json]) -> list[str]:
    """Return what is said, without its values."""
    return [str(message["id"]) for message in messages]
