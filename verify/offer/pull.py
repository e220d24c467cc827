"""What the first pull of the user's image costs, in seconds and in money. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from verify.image.estimate import pull, sizes
from verify.image.words import duration, money, size

if TYPE_CHECKING:
    from verify.image.estimate import Pull
    from verify.offer.facts import OfferFacts


@dataclass(frozen=True, slots=True)
class Price:
    """What the machine costs an hour, and how fast it pulls where the user says so; None: not given."""

    per_hour: float | None = None
    currency: str = "EUR"
    mbit: float | None = None


@dataclass(frozen=True, slots=True)
class FirstPull:
    """Bytes to be sent, and their time and money; ``cost`` is None without a rate."""

    reference: str
    bytes: int
    cost: Pull | None
    measured: bool

    def __str__(self) -> str:
        if self.cost is None:
            return f"{size(self.bytes)} of {self.reference}; no rate was measured: --rate MBIT gives one"
        how = "measured" if self.measured else "given"
        said = f"{duration(self.cost.seconds)} for {size(self.bytes)} at {self.cost.mbit:.4g} Mbit/s ({how})"
        cost = self.cost
        paid = "" if cost.money is None else f", {money(cost.money, cost.currency)}"
        return f"{said}{paid}; unpacking comes on top"


def first_pull(offer: OfferFacts, price: Price) -> FirstPull | None:
    """Reckon the first pull; None where no image was described. A given rate goes before a measured one."""
    if offer.image is None or offer.registry is None or offer.registry.image is None:
        return None
    amount = sizes(offer.image, offer.host.layers).pull
    rate = price.mbit or offer.registry.mbit
    cost = pull(amount, rate, price.per_hour, price.currency) if rate else None
    return FirstPull(offer.registry.image, amount, cost, measured=price.mbit is None)
