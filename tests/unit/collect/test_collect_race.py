"""The role's options become settings, a command line and prices that say the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.checks.cases import Machine
from verify.collect_race import others_on_card, race_options, race_prices, race_settings, reused
from verify.errors import VerifyError

Given = dict[str, Any]


def given(**changes: Any) -> Given:
    return {
        "host": "a", "repeats": None, "budget": "60s", "network": "mlp",
        "price_cpu": None, "price_card": None, "currency": "EUR", **changes,
    }  # fmt: skip


def value(options: list[str], name: str) -> str | None:
    return options[options.index(name) + 1] if name in options else None


@pytest.mark.parametrize(("budget", "seconds"), [("60s", 60.0), ("90", 90.0), ("2m", 120.0)])
def test_the_budget_is_the_same_in_settings_and_command(budget: str, seconds: float) -> None:
    asked = given(budget=budget)
    assert race_settings(asked).budget_s == seconds
    assert value(race_options(asked, None), "--budget") == budget
    assert value(race_options(asked, None), "--repeats") is None


def test_an_exact_number_of_repeats_takes_the_place_of_the_budget() -> None:
    asked = given(repeats="3")
    assert (race_settings(asked).repeats, race_settings(asked).budget_s) == (3, None)
    assert value(race_options(asked, None), "--repeats") == "3"
    assert value(race_options(asked, None), "--budget") is None


@pytest.mark.parametrize("kind", ["mlp", "cnn"])
def test_the_network(kind: str) -> None:
    assert race_settings(given(network=kind)).network.kind == kind
    assert value(race_options(given(network=kind), None), "--network") == kind


def test_without_a_price_nothing_is_said_of_money() -> None:
    assert race_prices(given()) is None
    assert not [
        word for word in race_options(given(), "sha256:abc") if word.startswith(("--price", "--curr"))
    ]


def test_prices_are_numbers_whatever_the_inventory_wrote_and_a_missing_one_stays_missing() -> None:
    asked = given(price_cpu="0.10", currency="CHF")
    assert race_prices(asked) == {"cpu_per_hour": 0.1, "card_per_hour": None, "currency": "CHF"}
    options = race_options(asked, None)
    assert (value(options, "--price-cpu"), value(options, "--currency")) == ("0.10", "CHF")
    assert "--price-card" not in options
    both = race_options(given(price_cpu=0.1, price_card=1), None)
    assert (value(both, "--price-cpu"), value(both, "--price-card")) == ("0.1", "1")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repeats": 0}, "at least 1 repeat"),
        ({"repeats": "many"}, "invalid int value"),
        ({"budget": "soon"}, "'soon' is no time"),
        ({"network": "transformer"}, "invalid choice"),
        ({"price_card": "gratis"}, "--price-card gratis"),
    ],
    ids=str,
)
def test_what_the_race_would_refuse_is_refused_before_it_is_started(changes: Given, words: str) -> None:
    with pytest.raises(VerifyError, match=f"options for a: .*{words}"):
        race_settings(given(**changes)) if "price_card" not in changes else race_prices(given(**changes))


def test_the_image_s_digest_goes_along_where_it_is_known() -> None:
    assert value(race_options(given(), "sha256:abc"), "--image-digest") == "sha256:abc"
    assert "--image-digest" not in race_options(given(), None)


def test_a_reused_race_is_worth_what_it_is_worth_at_today_s_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.collect_race.sentence", lambda race: f"at {race['prices']}")
    old: Given = {"contestants": [], "prices": None, "sentence": "before"}
    assert reused(old, given()) is old
    fresh = reused(old, given(price_card=2))
    assert fresh["prices"] == {"cpu_per_hour": None, "card_per_hour": 2.0, "currency": "EUR"}
    assert fresh["sentence"] == f"at {fresh['prices']}"
    assert reused(fresh, given(price_card=2)) is fresh
    assert reused(fresh, given())["prices"] is None


@pytest.mark.parametrize("count", [0, 2])
def test_who_else_is_on_the_card_is_what_the_host_saw(count: int) -> None:
    machine = Machine("lab")
    assert machine.host is not None
    xml = machine.host["commands"]["nvidia-smi-xml"]
    rows = "".join(f"<process_info><pid>{pid}</pid></process_info>" for pid in range(7, 7 + count))
    xml["stdout"] = xml["stdout"].replace("</gpu>", f"<processes>{rows}</processes></gpu>", 1)
    seen = others_on_card(machine.host)
    assert seen == count
    assert value(race_options(given(), None, seen), "--others") == str(count)


def test_a_host_that_could_not_say_leaves_it_open() -> None:
    assert others_on_card(None) is None
    machine = Machine("lab")
    assert machine.host is not None
    del machine.host["commands"]["nvidia-smi-xml"]
    assert others_on_card(machine.host) is None
    assert "--others" not in race_options(given(), None)
