"""Pairs and cards to a deal, or the sentence that says why not."""

from __future__ import annotations

from typing import Any

import pytest

from plugins.filter.gpu_host_sharing_plan import parse_cards, sharing_plan, sharing_users

A, B, C = ("GPU-aaaa-simulated", "GPU-bbbb-simulated", "GPU-cccc-simulated")
SETTINGS: dict[str, Any] = {
    "pairs": {}, "groups": {}, "in_time": False, "renumber": False, "way": "auto", "memory_percent": 90,
    "cpu_percent": 100, "shm_percent": 50, "docker_group": True, "create_users": False,
}  # fmt: skip
TWO = {"alpha": {"users": ["u1", "u2"], "cards": [0]}, "beta": {"users": ["u3"], "cards": [1]}}
USERS = ["u1", "u2", "u3", "u4"]


def listed(*rows: tuple[str, int | str, str]) -> str:
    """Write cards as nvidia-smi does, numbered in this order."""
    return "".join(
        f"{index}, {uuid}, 00000000:{index + 1:02}:00.0, Card (simulated), {memory}, {mig}\n"
        for index, (uuid, memory, mig) in enumerate(rows)
    )


AB = listed((A, 8000, "[N/A]"), (B, 24000, "Disabled"))
BA = listed((B, 24000, "Disabled"), (A, 8000, "[N/A]"))


def plan(cards: str = AB, before: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    found = {"cards": cards, "said": "", "users": USERS, "docker_group": "docker:u1",
             "document": before or {},
             "foreign": settings.pop("foreign", [])}  # fmt: skip
    return sharing_plan(found, {**SETTINGS, "pairs": TWO, **settings})


def deal(planned: dict[str, Any]) -> dict[str, list[str]]:
    assert planned["refusal"] == ""
    pairs = planned["document"]["pairs"]
    return {name: [card["uuid"] for card in pair["cards"]] for name, pair in pairs.items()}


def test_indexes_become_uuids_with_their_addresses() -> None:
    planned = plan()
    assert deal(planned) == {"alpha": [A], "beta": [B]}
    assert planned["document"]["numbering"]["1"] == {
        "uuid": B, "pci": "00000000:02:00.0", "name": "Card (simulated)",
    }  # fmt: skip
    assert planned["join"] == ["u2", "u3"]
    assert planned["create"] == []


def test_an_index_keeps_its_meaning_when_the_cards_are_numbered_anew() -> None:
    first = plan()
    again = plan(BA, first["document"])
    assert again["document"] == first["document"]
    assert deal(plan(BA, first["document"], renumber=True)) == {"alpha": [B], "beta": [A]}


def test_a_card_can_be_named_by_uuid() -> None:
    pairs = {"alpha": {"users": ["u1"], "cards": [B]}}
    planned = plan(pairs=pairs)
    assert deal(planned) == {"alpha": [B]}
    assert "is nobody's" in planned["notes"][0]
    assert A in planned["notes"][0]


def test_a_card_that_came_since_under_a_taken_number_is_dealt_by_uuid_only() -> None:
    before = plan()["document"]
    three = listed((C, 1, "[N/A]"), (A, 8000, "[N/A]"), (B, 24000, "[N/A]"))
    assert deal(plan(three, before)) == {"alpha": [A], "beta": [B]}
    by_uuid = {"alpha": {"users": ["u1"], "cards": [C]}}
    assert deal(plan(three, before, pairs=by_uuid)) == {"alpha": [C]}
    by_number = {"alpha": {"users": ["u1"], "cards": [2]}}
    assert "ambiguous" in plan(three, before, pairs=by_number)["refusal"]


ALPHA = {"users": ["u1"], "cards": [0]}
REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "gone": ({"cards": listed((B, 1, "")), "before": plan()["document"]}, f"was {A} (Card (simulated), at"),
    "unknown": ({"pairs": {"alpha": {"users": ["u1"], "cards": [7]}}}, "asks for card 7, which"),
    "two pairs": ({"pairs": {"alpha": ALPHA, "beta": {**ALPHA, "cards": [1]}}}, "User u1 is in pair alpha"),
    "no such user": ({"pairs": {"alpha": {"users": ["zoe"], "cards": [0]}}}, "There is no user zoe"),
    "one card": (
        {"pairs": {"alpha": ALPHA, "beta": {"users": ["u2"], "cards": [0]}}},
        "would be dealt to alpha and beta (2 pairs, 2 cards)",
    ),
    "mig": ({"cards": listed((A, 1, "Enabled"), (B, 1, ""))}, "is in MIG mode"),
    "no cards": ({"cards": ""}, "nvidia-smi lists no card here"),
    "no users": ({"pairs": {"alpha": {"cards": [0]}}}, "Pair alpha has no users"),
    "no card named": ({"pairs": {"alpha": {"users": ["u1"]}}}, "Pair alpha has no cards"),
    "name": ({"pairs": {"A b": ALPHA}}, "The pair's name 'A b' cannot be used"),
    "word": ({"pairs": "automatic"}, "gpu_sharing_pairs is 'automatic'"),
    "no groups": ({"pairs": "auto"}, "gpu_sharing_groups is empty"),
    "too many": (
        {"pairs": "auto", "groups": {"a": ["u1"], "b": ["u2"], "c": ["u3"]}},
        "3 pairs (a, b, c) and 2 cards",
    ),
    "too small": (
        {"pairs": "auto", "groups": {"a": {"users": ["u1"], "memory_gib": 40}}},
        "Pair a asks for a card of 40960 MiB",
    ),
    "foreign": ({"foreign": ["/usr/local/bin/gpu-run"]}, "/usr/local/bin/gpu-run is there already"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_each_refusal_has_its_own_sentence_and_a_next_step(case: str) -> None:
    asked, sentence = REFUSALS[case]
    planned = plan(**asked)
    assert sentence in planned["refusal"]
    assert planned["document"] == {}
    assert len([words for _, words in REFUSALS.values() if words in planned["refusal"]]) == 1


def test_a_user_that_is_not_there_is_made_where_that_is_asked_for() -> None:
    planned = plan(pairs={"alpha": {"users": ["zoe"], "cards": [0]}}, create_users=True)
    assert planned["create"] == ["zoe"]


def test_pairs_may_take_turns_where_that_is_allowed() -> None:
    pairs = {"alpha": ALPHA, "beta": {"users": ["u2"], "cards": [0]}}
    assert deal(plan(pairs=pairs, in_time=True)) == {"alpha": [A], "beta": [A]}


def auto(groups: dict[str, Any], **settings: Any) -> dict[str, Any]:
    return plan(pairs="auto", groups=groups, **settings)


def test_by_memory_the_large_card_goes_to_whom_needs_it() -> None:
    assert deal(auto({"a": ["u1"], "b": {"users": ["u2"], "memory_gib": 20}})) == {"a": [A], "b": [B]}
    assert deal(auto({"a": {"users": ["u1"], "memory_gib": 20}, "b": ["u2"]})) == {"a": [B], "b": [A]}


def test_by_count_all_get_as_many_and_the_rest_is_said() -> None:
    three = listed((A, 1, ""), (B, 1, ""), (C, 1, ""))
    planned = auto({"a": ["u1"], "b": ["u2"]}, cards=three)
    assert {name: len(cards) for name, cards in deal(planned).items()} == {"a": 1, "b": 1}
    assert len(planned["notes"]) == 1
    assert deal(auto({"a": ["u1"]}, cards=three)) == {"a": [A, B, C]}


def test_taking_turns_is_spread_over_the_cards() -> None:
    groups = {name: [user] for name, user in zip("abcd", USERS, strict=True)}
    given = deal(auto(groups, in_time=True))
    assert sorted(uuid for cards in given.values() for uuid in cards) == [A, A, B, B]


def test_an_automatic_deal_is_kept_whatever_the_numbers_until_a_card_goes() -> None:
    groups = {"a": ["u1"], "b": ["u2"]}
    before = auto(groups)["document"]
    assert auto(groups, cards=BA, before=before)["document"] == before
    lost = auto(groups, cards=listed((B, 1, "")), before=before)
    assert "The card of pair a was GPU-aaaa" in lost["refusal"]
    assert deal(auto({"a": ["u1"], "c": ["u2"]}, before=before))


def test_rows_that_are_no_cards_are_left_out_and_memory_may_be_unknown() -> None:
    cards = parse_cards(f"junk\n0, {A}, 00:01, X (simulated), [N/A], [N/A]\n1, [GPU is lost], a, b, c, d\n")
    assert [(card["uuid"], card["memory_mib"]) for card in cards] == [(A, None)]


def test_users_are_collected_from_whatever_was_written() -> None:
    assert sharing_users({"a": ["u1"], "b": {"users": ["u2"]}, "c": None, "d": {"users": "u3"}}) == [
        "u1",
        "u2",
    ]
    assert sharing_users("auto") == []
