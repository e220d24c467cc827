"""What the lanes of one race share: the settings, the budget and who has which part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verify.race import cores
from verify.race.words import Message, text

if TYPE_CHECKING:
    from verify.race.budget import Budget
    from verify.race.libraries import Libraries
    from verify.race.progress import Progress
    from verify.race.settings import Settings


@dataclass
class Course:
    """What the lanes of one race share: its budget, and how many lanes still have a claim on it."""

    settings: Settings
    libraries: Libraries
    budget: Budget
    progress: Progress
    claims: int
    threads: int = field(default_factory=cores.threads)
    sampler: Any | None = None  # a sampler.Sampler where there is a card
    lang: str = "en"
    own: Budget = field(init=False)  # of the contestant whose turn it is
    claims_of_own: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        self.own = self.budget

    def say(self, what: Message) -> None:
        """Say it in the race's language."""
        self.progress.said(text(what, self.lang))

    def begin(self, claims: int) -> Budget:
        """Give the next contestant its part of the budget, by how many claims it has; take them off.

        What those before it left is in it; what it leaves goes to those after it.
        """
        self.own, self.claims_of_own = self.budget.part(claims, self.claims), claims
        self.claims = max(0, self.claims - claims)
        return self.own

    def share(self) -> tuple[float, float]:
        """Return what the next lane may take, and what it may borrow for the least repeats.

        It may borrow half of what the contestant's lanes after it have a claim on, and nothing of others'.
        """
        share = self.own.share(self.claims_of_own)
        if math.isinf(share):
            return share, share
        self.claims_of_own = max(0, self.claims_of_own - 1)
        rest = max(0.0, self.own.left()) - share
        return share, share + (rest / 2 if self.claims_of_own else 0.0)
