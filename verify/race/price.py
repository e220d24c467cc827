"""What a training costs on either side: time, money and energy, from the race and the prices of an hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verify.race.phrases import HOUR, duration, money, significant
from verify.race.shares import interval_of, lane_of, sure
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping

THOUSAND = 1000
JOULES_PER_KWH = 3.6e6


@dataclass(frozen=True)
class Bill:
    """One training on the faster CPU lane and on the card: the copy counted, once.

    ``ratio`` is how often the card's time goes into the CPU's, with the interval in which it lies; it is also
    the ratio of the hours' prices at which both cost the same. Money is None where no price is known.
    """

    cpu_s: float
    card_s: float
    ratio: float
    low: float
    high: float
    cpu_hour: float | None
    card_hour: float | None
    currency: str
    card_joules: float | None  # the card alone, without the machine around it
    sure: Message | str = ""  # the interval's confidence

    @property
    def priced(self) -> bool:
        """Whether both hours have a price, and not both none."""
        return (
            self.cpu_hour is not None and self.card_hour is not None and (self.cpu_hour + self.card_hour) > 0
        )

    @property
    def cpu_cost(self) -> float | None:
        """What one training costs on the CPU."""
        return None if self.cpu_hour is None else self.cpu_s / HOUR * self.cpu_hour

    @property
    def card_cost(self) -> float | None:
        """What one training costs on the card."""
        return None if self.card_hour is None else self.card_s / HOUR * self.card_hour

    @property
    def price_ratio(self) -> float | None:
        """How many of the CPU's hours one of the card's costs; endless where the CPU's costs nothing."""
        if not self.priced or self.cpu_hour is None or self.card_hour is None:
            return None
        return self.card_hour / self.cpu_hour if self.cpu_hour else float("inf")


def bill(contestant: Mapping[str, Any], prices: Mapping[str, Any] | None) -> Bill | None:
    """Return what a contestant's training costs; None where no card was compared, or no interval is known."""
    cpu = lane_of(contestant, contestant.get("ratio_against"))
    card = lane_of(contestant, contestant.get("ratio_card"))
    ratio, interval = contestant.get("ratio"), interval_of(contestant)
    if cpu is None or card is None or not ratio or not interval:
        return None
    known = prices or {}
    return Bill(
        cpu_s=waited(cpu),
        card_s=waited(card),
        ratio=float(ratio),
        low=interval[0],
        high=interval[1],
        cpu_hour=known.get("cpu_per_hour"),
        card_hour=known.get("card_per_hour"),
        currency=str(known.get("currency") or "EUR"),
        card_joules=_joules(card),
        sure=sure(contestant),
    )


def waited(lane: Mapping[str, Any]) -> float:
    """Return what a user waits for: the median, with the copies where there are any."""
    return float(lane["median"] if lane.get("total") is None else lane["total"])


def costs(found: Bill, trainings: int = THOUSAND) -> dict[str, Message]:
    """Return what so many trainings cost on either side; nothing where there are no prices."""
    if found.cpu_cost is None or found.card_cost is None:
        return {}
    sides = {"cpu": found.cpu_cost, "card": found.card_cost}
    return {side: money(trainings * cost, found.currency) for side, cost in sides.items()}


def lines(found: Bill) -> list[Message]:
    """Return the bill as messages: a training, a thousand of them, energy, and where the decision flips."""
    said = []
    if found.priced:
        said.append(message("cost-training", **costs(found, 1)))
    thousand = {"cpu_time": duration(THOUSAND * found.cpu_s), "card_time": duration(THOUSAND * found.card_s)}
    if found.priced:
        said.append(message("cost-thousand", **thousand, **costs(found)))
    else:
        said.append(message("time-thousand", **thousand))
    if found.card_joules is not None:
        said.append(message("energy-thousand", kwh=THOUSAND * found.card_joules / JOULES_PER_KWH))
    flip = {key: significant(getattr(found, key), 3) for key in ("ratio", "low", "high")}
    said.append(message("price-flip", **flip, sure=found.sure))
    return said


def _joules(card: Mapping[str, Any]) -> float | None:
    energy, repeats = (card.get("usage") or {}).get("energy_j"), len(card.get("samples") or ())
    return energy / repeats if energy is not None and repeats else None
