"""The decision, in money where prices are given: take the card, do not, only above so much work, or neither.

The model: machines are rented by the started hour, for the work of one day, as many hours as its trainings
take one after the other; more than a day's hours are more machines. A day of N trainings therefore costs
``ceil(N * seconds / 3600)`` hours on either side. With few trainings a day the first hour is never used up,
and the cheaper hour wins however slow it is; with many, the cheaper training wins. Whoever pays by the second
reads the bill's cost per training instead. Electricity is part of the rent.

The ratio of times is known within its interval only: prices inside it decide nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from verify.race.phrases import HOUR, money, significant
from verify.race.price import Bill, bill, costs
from verify.race.why import reasons
from verify.race.words import Message, message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Beyond so many hours of the card in a day the two prices are as good as the same.
MOST_HOURS = 10_000


def decide(race: Mapping[str, Any]) -> dict[str, Message]:
    """Return the decision for each contestant."""
    why = reasons(race)
    return {c["name"]: _decide(c, race, why[c["name"]]) for c in race["contestants"]}


def pays_above(cpu_s: float, card_s: float, price_ratio: float) -> int | None:
    """Return above how many trainings a day the card is always the cheaper one, by the started hour.

    None where that is never so, or not within ``MOST_HOURS``. With the card busy for k hours, the CPU is not
    dearer as long as its started hours cost no more than those k: up to ``floor(k * price_ratio)`` hours.
    """
    ratio = cpu_s / card_s
    if ratio <= price_ratio:
        return None
    most = ratio / (ratio - price_ratio) + 1
    if most > MOST_HOURS:
        return None
    for hours in range(math.floor(most), 0, -1):
        in_card = math.floor(hours * HOUR / card_s)
        in_cpu = math.floor(math.floor(hours * price_ratio) * HOUR / cpu_s)
        last = min(in_card, in_cpu)
        if last > math.floor((hours - 1) * HOUR / card_s):
            return last
    return 0


def _decide(contestant: Mapping[str, Any], race: Mapping[str, Any], why: Sequence[Message]) -> Message:
    if contestant.get("ratio") is None:
        return message("decision-none")
    found = bill(contestant, race.get("prices"))
    if found is None:
        return message("decision-no-interval")
    if found.price_ratio is not None:
        return _by_money(found, found.price_ratio)
    if found.cpu_hour or found.card_hour:
        return _one_price(found)
    return _by_time(found, contestant, race, {reason["id"] for reason in why})


def _by_money(found: Bill, price_ratio: float) -> Message:
    ratios = (found.low, found.ratio, found.high)
    if price_ratio <= 1 <= found.low:  # no dearer by the hour, and no slower
        return message("decision-take", **costs(found))
    if price_ratio >= found.high:
        # No training is cheaper on the card; but where its hour is, a day that does not use one up may be.
        slower = [1 / ratio for ratio in ratios if ratio > 0]
        below = _span(found.cpu_s, slower, 1 / price_ratio) if price_ratio < 1 else None
        name = "decision-below-trainings" if below else "decision-not-price"
        return message(name, count=_count(below)) if below else message(name, **costs(found))
    if price_ratio < min(1, found.low):
        return message("decision-take-cheaper", **costs(found))
    above = _span(found.card_s, ratios, price_ratio) if price_ratio < found.low else None
    if above is None:
        ends = {"low": found.low, "high": found.high, "sure": found.sure}
        return message("decision-undecided-price", price_ratio=significant(price_ratio), **ends)
    if above[1] == 0:
        return message("decision-take", **costs(found))
    return message("decision-above-trainings", count=_count(above))


def _span(mine_s: float, times_as_long: Sequence[float], price_ratio: float) -> tuple[int, int] | None:
    """Return above how many trainings a day one side always wins, over the ratio's interval.

    ``times_as_long`` is what the other side takes of ``mine_s``, ``price_ratio`` what my hour costs of its.
    None where at one end it never wins.
    """
    found = [pays_above(mine_s * times, mine_s, price_ratio) for times in times_as_long]
    known = [count for count in found if count is not None]
    if len(known) < len(found):
        return None
    return min(known), max(known)


def _count(ends: tuple[int, int]) -> Message:
    """Return a number of trainings, rounded outwards; a span where its ends are not the same."""
    low, high = int(significant(ends[0])), _rounded_up(ends[1])
    return message("count-span", low=low, high=high) if low < high else message("count", low=high)


def _one_price(found: Bill) -> Message:
    """Say what the one price is worth: where the other one would turn the decision. It is no verdict."""
    ratio = significant(found.ratio, 3)
    if found.cpu_hour:
        flips = [found.cpu_hour * times for times in (found.low, found.ratio, found.high)]
        name = "decision-one-price-cpu"
    else:
        flips = [(found.card_hour or 0) / times for times in (found.high, found.ratio, found.low)]
        name = "decision-one-price-card"
    low, flip, high = (money(price, found.currency) for price in flips)
    return message(name, low=low, flip=flip, high=high, ratio=ratio)


def _rounded_up(count: int) -> int:
    """Return a number of two digits that is no smaller: the end of a span is not rounded into it."""
    step = int(10 ** max(0, len(str(count)) - 2))
    return -(-count // step) * step


def _by_time(found: Bill, contestant: Mapping[str, Any], race: Mapping[str, Any], why: set[str]) -> Message:
    above = _above_rows(contestant, race) if found.low <= 1 else None
    if above is not None:
        return above
    if why & {"before-woken", "before-woken-fraud"}:
        return message("decision-not-needed")
    if found.low <= 1 <= found.high:
        return message("decision-undecided-time")
    if found.high < 1:
        return message("decision-not-time", times=significant(1 / found.ratio))
    return message("decision-take-time", times=significant(found.ratio))


def _above_rows(contestant: Mapping[str, Any], race: Mapping[str, Any]) -> Message | None:
    """Return from which batch the card wins, where the sweep of the same training step says so."""
    batch = (contestant.get("training") or {}).get("batch")
    operations = (race.get("sweep") or {}).get("operations") or ()
    step = next((operation for operation in operations if operation["name"] == "step"), None)
    if contestant["name"] != "network" or step is None or not batch:
        return None
    even = (step.get("break_even") or {}).get("with_copy") or {}
    size = even.get("size")
    if even.get("said") != "between" or size is None or size <= batch:
        return None
    rows = {key: int(significant(even.get(key) or size)) for key in ("low", "high")}
    return message("decision-above-rows", size=int(significant(size)), batch=batch, **rows)
