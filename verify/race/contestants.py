"""The contestants, in the order in which they race."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional

from verify.race import fraud, network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from verify.race.lanes import Lane, Runner
    from verify.race.libraries import Libraries
    from verify.race.settings import Settings


@dataclass(frozen=True)
class Contestant:
    """One piece of work: how to make its data, how to run it in a lane, and when two results are the same."""

    name: str
    title: str
    lanes: tuple[Lane, ...]
    data: Callable[[Settings, Libraries], Any]
    runner: Callable[[Lane, Any, Settings, Libraries], Runner]
    disagreement: Callable[[Mapping[str, float], Mapping[str, float]], Optional[str]]  # noqa: UP045  # Python 3.9


CONTESTANTS = (
    Contestant(
        network.NAME, network.TITLE, network.LANES, network.data, network.runner, network.disagreement
    ),
    Contestant(fraud.NAME, fraud.TITLE, fraud.LANES, fraud.data, fraud.runner, fraud.disagreement),
)
TITLES = {contestant.name: contestant.title for contestant in CONTESTANTS}
