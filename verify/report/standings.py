"""Which host trains soonest, and which cheapest: one order a contestant, drawn from the hosts' races.

Only the same work is ordered: hosts that raced with other sizes stand last and say so, as do those without a
race, without a lane that counts, or without a price. What a lane's user waits for is compared, the copies
included; a lane whose result was wrong, or that is not in the ratio, is not.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verify.race.phrases import HOUR, duration, significant
from verify.race.price import waited
from verify.race.sentence import CUDA, RAN
from verify.race.svg_bars import median_interval
from verify.race.why import WRONG
from verify.race.words import text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verify.report.model import HostReport

    Document = Mapping[str, Any]

HEAD = ("place", "host", "lane", "one training", "interval", "a thousand cost", "remark")
DASH = "-"
_EVEN = "not told apart from the one above"


@dataclass(frozen=True, slots=True)
class Standing:
    """A host's best lane in one contestant, or why it has none; ``low`` and ``high`` hold the time."""

    host: str
    lane: str = DASH
    seconds: float | None = None
    low: float | None = None
    high: float | None = None
    cost: float | None = None
    currency: str | None = None
    remark: str = ""
    work: str | None = None

    def cells(self, place: int | None) -> tuple[str, ...]:
        """Return its row; without a place, a dash."""
        span = DASH
        if self.low is not None and self.high is not None:
            span = f"{text(duration(self.low))} to {text(duration(self.high))}"
        cost = DASH if self.cost is None else f"{significant(1000 * self.cost, 3):g} {self.currency}"
        taken = DASH if self.seconds is None else text(duration(self.seconds))
        return (str(place or DASH), self.host, self.lane, taken, span, cost, self.remark)


def tables(hosts: Sequence[HostReport]) -> list[tuple[str, list[tuple[str, ...]]]]:
    """Return the titles and rows of all that can be ordered: by time, and by cost where prices are known."""
    found = []
    for name in _names(hosts):
        found.append((f"{name}, by the time of one training", by_time(hosts, name)))
        costs = by_cost(hosts, name)
        found += [(f"{name}, by the cost of one training", costs)] if costs else []
    return found


def check(race: Document) -> None:
    """Fail as ``tables`` would with this race among others, so that a damaged one is found by itself."""
    for contestant in race["contestants"]:
        for priced in (False, True):
            best_lane("", race, contestant["name"], priced=priced).cells(None)


def _names(hosts: Sequence[HostReport]) -> list[str]:
    """Return the contestants that raced anywhere; none where there is no second host to compare with."""
    if len(hosts) < 2:  # noqa: PLR2004
        return []
    found = (str(c["name"]) for host in hosts for c in (host.race or {}).get("contestants", ()))
    return list(dict.fromkeys(found))


def by_time(hosts: Sequence[HostReport], name: str) -> list[tuple[str, ...]]:
    """Return the rows of a contestant, the soonest first."""
    return _ordered([(s.seconds, s) for s in (_of_host(host, name, priced=False) for host in hosts)])


def by_cost(hosts: Sequence[HostReport], name: str) -> list[tuple[str, ...]]:
    """Return the rows of a contestant, the cheapest first; none where no host has a price."""
    found = [_of_host(host, name, priced=True) for host in hosts]
    currencies = Counter(standing.currency for standing in found if standing.cost is not None)
    if not currencies:
        return []
    usual = currencies.most_common(1)[0][0]
    return _ordered([(s.cost, s) for s in (_of_currency(standing, usual) for standing in found)])


def _of_currency(standing: Standing, usual: str | None) -> Standing:
    if standing.cost is None or standing.currency == usual:
        return standing
    return replace(standing, cost=None, remark=f"priced in {standing.currency}, the others in {usual}")


def _ordered(found: list[tuple[float | None, Standing]]) -> list[tuple[str, ...]]:
    """Order by the number; what has none, or did other work than most, stands last."""
    works = Counter(standing.work for number, standing in found if number is not None)
    usual = works.most_common(1)[0][0] if works else None
    placed, rest = [], []
    for number, standing in found:
        if number is None:
            rest.append(standing)
        elif standing.work != usual:
            rest.append(replace(standing, remark="raced with other sizes or data: not compared"))
        else:
            placed.append((number, standing))
    placed.sort(key=lambda pair: (pair[0], pair[1].host))
    rows = []
    for place, (number, standing) in enumerate(placed, 1):
        even = place > 1 and not _behind(number, standing, *placed[place - 2])
        rows.append(replace(standing, remark=_EVEN if even else "").cells(place))
    return rows + [standing.cells(None) for standing in rest]


def _behind(number: float, standing: Standing, least: float, first: Standing) -> bool:
    """Whether the intervals keep apart; a cost's is as wide, in parts of it, as its time's."""
    if standing.low is None or not standing.seconds or first.high is None or not first.seconds:
        return False
    return number * standing.low / standing.seconds > least * first.high / first.seconds


def _of_host(host: HostReport, name: str, *, priced: bool) -> Standing:
    shown = host.host + (" (simulated)" if host.simulated else "")
    if host.race is None:
        return Standing(shown, remark=host.sentence)
    return best_lane(shown, host.race, name, priced=priced)


def best_lane(shown: str, race: Document, name: str, *, priced: bool = False) -> Standing:
    """Return the lane of a contestant that trains soonest, or cheapest; else why there is none."""
    contestant = next((c for c in race["contestants"] if c["name"] == name), None)
    lanes = [lane for lane in (contestant or {}).get("lanes", ()) if _compares(lane)]
    if contestant is None or not lanes:
        return Standing(shown, remark="no lane of it ran that may be compared")
    prices = race.get("prices") or {}
    timed = [(waited(lane), _cost(lane, prices), lane) for lane in lanes]
    if priced:
        timed = [(cost, cost, lane) for _, cost, lane in timed if cost is not None]
    if not timed:
        return Standing(shown, remark="no price: set the price of an hour of its CPU and its card")
    _, cost, best = min(timed, key=lambda entry: entry[0])
    low, high = median_interval(best) or (None, None)
    copies = waited(best) - best["median"]
    return Standing(
        host=shown,
        lane=str(best["name"]),
        seconds=waited(best),
        low=None if low is None else low + copies,
        high=None if high is None else high + copies,
        cost=cost,
        currency=str(prices.get("currency") or "EUR"),
        work=_work(race, contestant),
    )


def _compares(lane: Document) -> bool:
    wrong = {warning["id"] for warning in lane["warnings"]} & WRONG
    return lane["status"] == RAN and lane.get("counts", True) and lane["median"] is not None and not wrong


def _cost(lane: Document, prices: Document) -> float | None:
    hour = prices.get("card_per_hour" if lane["device"] == CUDA else "cpu_per_hour")
    return None if hour is None else float(hour) * waited(lane) / HOUR


def _work(race: Document, contestant: Document) -> str:
    """Return what was trained, in one line that is alike for the same work: wherever the table lay."""
    settings = race.get("settings") or {}
    own = dict(settings.get(contestant["name"]) or {})
    data = own.get("data")
    own["data"] = {key: value for key, value in data.items() if key != "file"} if data else None
    return json.dumps([own, settings.get("seed"), contestant.get("training")], sort_keys=True)
