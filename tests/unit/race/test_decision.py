"""The bill and the decision; the number of trainings a day is held against counting every hour."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from tests.unit.race import recorded
from verify.race import decision, price
from verify.race.words import text

Json = dict[str, Any]
NETWORK = "network"


def priced(cpu: float | None, card: float | None, document: str = "gaming-card") -> Json:
    race = recorded.document(document)
    race["prices"] = {"cpu_per_hour": cpu, "card_per_hour": card, "currency": "EUR"}
    return race


def bill(race: Json, name: str = NETWORK) -> price.Bill:
    found = price.bill(recorded.contestant(race, name), race["prices"])
    assert found is not None
    return found


def decided(race: Json, name: str = NETWORK) -> Json:
    return decision.decide(race)[name]


def test_a_bill_counts_the_copy_once_and_the_energy_by_training() -> None:
    found = bill(recorded.document("prices"))
    assert (found.cpu_s, found.card_s) == (2.1, 0.1045)
    assert found.cpu_cost == pytest.approx(2.1 / 3600 * 0.2)
    assert found.card_cost == pytest.approx(0.1045 / 3600 * 0.9)
    assert found.price_ratio == pytest.approx(4.5)
    assert found.ratio == pytest.approx(2.1 / 0.1045)
    assert found.low < found.ratio < found.high
    assert found.card_joules == pytest.approx(170 / 5)


def test_the_bill_in_words() -> None:
    race = recorded.document("prices")
    assert [text(line) for line in price.lines(bill(race))] == [
        "one training costs 0.0000261 EUR on the card, 0.000117 EUR on the CPU",
        "a thousand trainings: 104 s and 0.0261 EUR on the card, 35 min and 0.117 EUR on the CPU",
        "the card alone uses 0.0094 kWh for a thousand",
        (
            "per training the card is cheaper as long as its hour costs less than 20.1 hours of the CPU "
            "(19.7 to 20.5, 92%)"
        ),
    ]
    assert "0,0261 EUR" in text(price.lines(bill(race))[1], "fr")


def test_without_prices_the_bill_has_times_and_where_the_decision_flips() -> None:
    race = recorded.document("gaming-card")
    recorded.lane(race, NETWORK, "cuda")["usage"] = None
    assert recorded.ids(price.lines(bill(race))) == ["time-thousand", "price-flip"]


@pytest.mark.parametrize("document", ["no-card", "over-peak"])
def test_no_bill_and_no_decision_without_a_comparison(document: str) -> None:
    race = priced(0.2, 0.9, document)
    assert price.bill(recorded.contestant(race, NETWORK), race["prices"]) is None
    assert decided(race)["id"] == "decision-none"


def test_no_interval_no_decision() -> None:
    race = priced(0.2, 0.9)
    recorded.lane(race, NETWORK, "cpu")["confidence"] = 0.5  # two repeats
    assert decided(race)["id"] == "decision-no-interval"
    recorded.contestant(race, NETWORK)["ratio_interval"] = None
    assert decided(race)["id"] == "decision-no-interval"


@pytest.mark.parametrize(
    ("cpu", "card", "expected"),
    [
        (1.0, 0.9, "decision-take"),  # the card's hour is the cheaper one too
        (1.0, 1.0, "decision-take"),
        (0.2, 0.9, "decision-above-trainings"),
        (0.2, 3.9, "decision-above-trainings"),
        (0.2, 4.02, "decision-undecided-price"),  # 20.1 hours of the CPU, the ratio lies at 19.7 to 20.5
        (0.2, 4.2, "decision-not-price"),
        (0.0, 0.9, "decision-not-price"),  # a machine that costs nothing
        (0.2, 0.0, "decision-take"),
        (0.0, 0.0, "decision-take-time"),  # no prices either
        (0.2, None, "decision-one-price-cpu"),
        (None, 0.9, "decision-one-price-card"),
    ],
)
def test_the_decision_is_made_in_money(cpu: float | None, card: float | None, expected: str) -> None:
    assert decided(priced(cpu, card))["id"] == expected


@pytest.mark.parametrize(
    ("document", "name", "expected"),
    [
        ("gaming-card", "network", "decision-take-time"),
        ("gaming-card", "fraud", "decision-not-needed"),
        ("lost", "network", "decision-above-rows"),
        ("not-significant", "network", "decision-undecided-time"),
        ("prices", "network", "decision-above-trainings"),
        ("prices", "fraud", "decision-not-price"),
    ],
)
def test_the_decisions_of_the_recorded_races(document: str, name: str, expected: str) -> None:
    assert decided(recorded.document(document), name)["id"] == expected


def test_a_card_that_lost_and_has_no_sweep_is_not_taken() -> None:
    race = recorded.document("lost")
    race["sweep"] = None
    assert decided(race) == {"id": "decision-not-time", "times": 2.0}


@pytest.mark.parametrize(
    "changed",
    [
        {"said": "never", "size": None, "low": None, "high": None},
        {"said": "unknown", "size": None, "low": None, "high": None},
        {"said": "between", "size": 6.0, "low": 5.0, "high": 7.0},  # it had more than that already, and lost
    ],
)
def test_a_break_even_that_promises_nothing_decides_nothing(changed: Json) -> None:
    race = recorded.document("lost")
    race["sweep"]["operations"][1]["break_even"]["with_copy"] = changed
    assert decided(race)["id"] == "decision-not-time"


def test_the_rows_come_from_the_step_with_its_copy() -> None:
    assert text(decided(recorded.document("lost"))) == (
        "take it only above a batch of 56 rows (49 to 65), this one had 8"
    )


def test_the_trainings_a_day_have_the_uncertainty_of_the_ratio() -> None:
    race = priced(0.2, 3.0)
    found = decided(race)
    bounds = [decision.pays_above(r * 0.1045, 0.1045, 15.0) for r in (bill(race).ratio, bill(race).low)]
    assert None not in bounds
    low, high = found["count"]["low"], found["count"]["high"]
    known = [bound for bound in bounds if bound is not None]
    assert low <= 1.05 * min(known)
    assert high >= max(known)
    assert f"above {low:,} to {high:,} trainings a day (machines rented by the started hour)" in text(found)
    assert "certain" not in text(found)


def of_ratio(race: Json, low: float, ratio: float, high: float) -> Json:
    """The same race, with another ratio: that of the prices decides."""
    found = recorded.contestant(race, NETWORK)
    found.update(ratio=ratio, ratio_interval=[low, high])
    recorded.lane(race, NETWORK, "cuda").update(total=1.0)
    recorded.lane(race, NETWORK, "cpu").update(median=ratio, total=None)
    return race


@pytest.mark.parametrize(
    ("card", "ends", "expected"),
    [
        (0.5, (1.9, 2.0, 2.1), "decision-take"),  # cheaper by the hour, and faster
        (0.8, (0.9, 0.95, 1.05), "decision-take-cheaper"),  # no faster, but each training is cheaper
        (0.8, (0.5, 0.55, 0.6), "decision-below-trainings"),  # each is dearer, but a day of one hour is not
        (0.8, (0.79, 0.8, 0.81), "decision-undecided-price"),
        (0.8, (0.7, 0.75, 0.9), "decision-undecided-price"),
        (1.0, (0.5, 0.55, 0.6), "decision-not-price"),  # no cheaper by the hour, and slower
        (0.0, (0.5, 0.55, 0.6), "decision-take-cheaper"),
    ],
)
def test_where_the_card_s_hour_is_the_cheaper_one(
    card: float, ends: tuple[float, float, float], expected: str
) -> None:
    assert decided(of_ratio(priced(1.0, card), *ends))["id"] == expected


@pytest.mark.parametrize("seed", range(20))
def test_below_a_price_ratio_of_1_do_not_holds_above_the_number_and_not_at_once(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    price_ratio = draw.uniform(0.3, 0.95)
    ratio = draw.uniform(0.2, 0.9) * price_ratio
    found = decided(of_ratio(priced(1.0, price_ratio), ratio, ratio, ratio))
    assert found["id"] == "decision-below-trainings"
    count = found["count"].get("high", found["count"]["low"])
    for trainings in range(count + 1, count + 30_000, 97):
        assert costs(trainings, ratio, 1.0) < costs(trainings, 1.0, price_ratio)
    assert costs(1, ratio, 1.0) > costs(1, 1.0, price_ratio)


def test_one_price_is_no_verdict_and_says_where_the_other_would_turn_it() -> None:
    found = decided(of_ratio(priced(0.2, None), 9.0, 10.0, 11.0))
    assert text(found) == (
        "no verdict in money without the price of the card's hour: per training the card is cheaper where "
        "that is below 2.00 EUR (1.80 EUR to 2.20 EUR), 10 times the CPU's hour"
    )
    found = decided(of_ratio(priced(None, 2.0), 8.0, 10.0, 16.0))
    assert text(found) == (
        "no verdict in money without the price of the CPU's hour: per training the card is cheaper where "
        "that is above 0.200 EUR (0.125 EUR to 0.250 EUR), the card's hour divided by 10"
    )
    assert text(found, "fr").startswith("pas de verdict en argent sans le prix de l’heure du CPU")  # noqa: RUF001


def test_energy_that_nobody_measured_stays_missing() -> None:
    race = recorded.document("prices")
    recorded.lane(race, NETWORK, "cuda")["usage"]["energy_j"] = None
    assert bill(race).card_joules is None
    assert recorded.ids(price.lines(bill(race))) == ["cost-training", "cost-thousand", "price-flip"]


def costs(trainings: int, seconds: float, hour: float) -> float:
    return math.ceil(trainings * seconds / 3600) * hour


@pytest.mark.parametrize("seed", range(40))
def test_above_that_number_the_card_is_always_cheaper_and_at_it_it_is_not(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    card_s = draw.uniform(20, 900)
    ratio = draw.uniform(1.5, 30)
    cpu_s, price_ratio = ratio * card_s, draw.uniform(1.01, 0.9 * ratio)
    least = decision.pays_above(cpu_s, card_s, price_ratio)
    assert least is not None
    if least:
        assert costs(least, card_s, price_ratio) >= costs(least, cpu_s, 1.0)
    far = least + 20 * math.ceil(3600 / card_s)
    for trainings in range(least + 1, far):
        assert costs(trainings, card_s, price_ratio) < costs(trainings, cpu_s, 1.0), trainings


def test_a_training_of_hours_pays_from_the_first() -> None:
    assert decision.pays_above(cpu_s=6 * 3600, card_s=0.3 * 3600, price_ratio=5) == 0


def test_it_never_pays_where_an_hour_of_the_card_buys_less() -> None:
    assert decision.pays_above(10, 1, 10) is None
    assert decision.pays_above(10, 1, 11) is None
    assert decision.pays_above(10, 1, 9.99999) is None  # nor within any number of hours that a day may have


def test_decisions_and_bills_are_said_in_french() -> None:
    race = recorded.document("prices")
    assert text(decided(race), "fr") == (
        "ne la prenez qu’au-delà de 6\u202f700 à 7\u202f000 entraînements par jour "  # noqa: RUF001
        "(machines louées à l’heure entamée)"  # noqa: RUF001
    )
