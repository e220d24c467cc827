"""Who trains soonest and cheapest: only the same work, only what may be compared, the rest last and why."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from tests.unit.race.recorded import contestant, document, lane
from tests.unit.report.helpers import FINDINGS, host_report
from verify.report.markdown import fleet_page
from verify.report.model import Fleet, HostReport
from verify.report.standings import by_cost, by_time, tables
from verify.report.terminal import print_fleet


def host(name: str, race: dict[str, Any] | None, **changes: Any) -> HostReport:
    return host_report(
        FINDINGS[0], host=name, simulated=bool(race and race["simulated"]), race=race, **changes
    )


def raced(name: str, seconds: float, width: float = 0.01, recorded: str = "prices") -> HostReport:
    """A host whose card takes so long for the network, copies included."""
    race = document(recorded)
    own = lane(race, "network", "cuda")
    copies = own["total"] - own["median"]
    own["median"], own["total"] = seconds - copies, seconds
    own["interval"] = [own["median"] * (1 - width), own["median"] * (1 + width)]
    return host(name, race)


def hosts_of(rows: list[tuple[str, ...]]) -> list[str]:
    return [row[1].removesuffix(" (simulated)") for row in rows]


def test_the_soonest_stands_first_and_those_without_a_race_last_with_the_reason() -> None:
    fleet = [
        host("none", None),
        raced("slow", 0.5),
        raced("fast", 0.05),
        host("torn", None, damage="torn off"),
    ]
    rows = by_time(fleet, "network")
    assert hosts_of(rows) == ["fast", "slow", "none", "torn"]
    assert [row[0] for row in rows] == ["1", "2", "-", "-"]
    assert rows[0][1:4] == ("fast (simulated)", "cuda", "50 ms")
    assert [row[-1] for row in rows] == ["", "", "not measured", "torn off"]


def test_two_whose_intervals_meet_are_not_told_apart() -> None:
    near = by_time([raced("one", 0.100, 0.05), raced("two", 0.102, 0.05)], "network")
    assert near[1][-1] == "not told apart from the one above"
    far = by_time([raced("one", 0.100, 0.001), raced("two", 0.102, 0.001)], "network")
    assert far[1][-1] == ""


def test_a_host_without_an_interval_is_not_told_apart_either() -> None:
    race = document("prices")
    lane(race, "network", "cuda")["interval"] = None
    rows = by_time([raced("one", 0.01), host("two", race)], "network")
    assert rows[1][4] == "-"
    assert rows[1][-1] == "not told apart from the one above"


def test_the_card_without_a_card_is_beaten_by_none_but_named_by_its_lane() -> None:
    rows = by_time([host("no-card", document("no-card")), raced("card", 0.1)], "network")
    assert [(row[1], row[2]) for row in rows] == [("card (simulated)", "cuda"), ("no-card", "cpu")]


def test_mixed_precision_and_wrong_results_are_not_ordered() -> None:
    race = document("prices")
    lane(race, "network", "cuda")["warnings"] = [
        {"id": "differs", "lane": "cpu", "what": "loss", "a": 1, "b": 2}
    ]
    row = by_time([host("one", race), raced("two", 0.1)], "network")[1]
    assert row[2] == "cpu"  # neither cuda, which is wrong, nor cuda-mixed, which is faster still


def test_other_sizes_stand_last_and_say_so() -> None:
    quick = document("prices")
    quick["settings"]["network"]["rows"] = 4096
    rows = by_time([host("quick", quick), raced("one", 0.5), raced("two", 0.6)], "network")
    assert hosts_of(rows) == ["one", "two", "quick"]
    assert rows[2][-1] == "raced with other sizes or data: not compared"


def test_the_same_table_elsewhere_is_the_same_work() -> None:
    races = [document("prices") for _ in range(2)]
    for race, file in zip(races, ("a.csv", "/data/b.csv"), strict=True):
        race["settings"]["fraud"]["data"] = {"file": file, "sha256": "ab", "target": "Class"}
    assert [r[0] for r in by_time([host(str(k), race) for k, race in enumerate(races)], "fraud")] == [
        "1",
        "2",
    ]
    races[1]["settings"]["fraud"]["data"]["sha256"] = "cd"
    assert [r[0] for r in by_time([host(str(k), race) for k, race in enumerate(races)], "fraud")] == [
        "1",
        "-",
    ]


def test_cost_has_an_order_of_its_own() -> None:
    cheap, dear = document("prices"), document("prices")
    cheap["prices"] = {"cpu_per_hour": 0.01, "card_per_hour": 9.0, "currency": "EUR"}
    dear["prices"] = {"cpu_per_hour": 5.0, "card_per_hour": 2.0, "currency": "EUR"}
    unpriced = document("gaming-card")
    rows = by_cost([host("unpriced", unpriced), host("dear", dear), host("cheap", cheap)], "network")
    assert hosts_of(rows) == ["cheap", "dear", "unpriced"]
    assert [row[2] for row in rows] == ["cpu", "cuda", "-"]
    assert "no price" in rows[2][-1]
    seconds = lane(cheap, "network", "cpu")["median"]
    assert float(rows[0][5].split()[0]) == round(1000 * seconds * 0.01 / 3600, 5)


def test_other_currencies_are_not_compared() -> None:
    fleet = [raced("a", 0.1), raced("b", 0.2), raced("c", 0.3)]
    assert fleet[0].race is not None
    fleet[0].race["prices"]["currency"] = "USD"
    rows = by_cost(fleet, "network")
    assert rows[2][1] == "a (simulated)"
    assert rows[2][-1] == "priced in USD, the others in EUR"


def test_without_prices_there_is_no_order_by_cost_and_alone_there_is_no_order() -> None:
    fleet = [host("a", document("gaming-card")), host("b", document("gaming-card"))]
    assert by_cost(fleet, "network") == []
    assert [title for title, _ in tables(fleet)] == [
        "network, by the time of one training",
        "fraud, by the time of one training",
    ]
    assert tables(fleet[:1]) == []
    assert tables([host("a", None), host("b", None)]) == []


def test_a_host_that_lacks_a_contestant_says_so() -> None:
    race = document("prices")
    race["contestants"].remove(contestant(race, "fraud"))
    rows = by_time([host("one", race), raced("two", 0.1)], "fraud")
    assert rows[1][1:3] == ("one (simulated)", "-")
    assert rows[1][-1] == "no lane of it ran that may be compared"


def test_page_and_terminal_show_both_orders() -> None:
    fleet = Fleet((raced("slow", 0.5), raced("fast", 0.05)))
    page = fleet_page(fleet)
    assert page.index("network, by the time") < page.index("network, by the cost") < page.index("## slow")
    print_fleet(fleet, Console(file=(stream := io.StringIO()), width=150))
    assert "network, by the cost of one training" in stream.getvalue()
