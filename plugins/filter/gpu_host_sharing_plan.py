"""Ansible filter: pairs and cards to a deal, or why there can be none. Pure."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

SCHEMA = 1
UUID = re.compile(r"GPU-[0-9A-Za-z-]{1,64}")
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")


class DealError(Exception):
    """Why the cards cannot be dealt out so."""


def parse_cards(text: str) -> list[dict[str, Any]]:
    """Return the cards that nvidia-smi lists, with what could not be told as None."""
    rows = csv.reader(io.StringIO(text), skipinitialspace=True)
    return [
        {
            "index": int(row[0]),
            "uuid": row[1],
            "pci": row[2],
            "name": row[3],
            "memory_mib": int(row[4]) if row[4].isdigit() else None,
            "mig": row[5].strip() == "Enabled",
        }
        for row in rows
        if len(row) == 6 and row[0].isdigit() and UUID.fullmatch(row[1])  # noqa: PLR2004
    ]


def sharing_plan(found: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return refusal (a sentence, or empty), document (sharing.json), users, join (docker's group), notes."""
    plan: dict[str, Any] = {"refusal": "", "document": {}, "users": [], "create": [], "join": [], "notes": []}
    try:
        cards = parse_cards(found["cards"])
        if not cards:
            raise DealError(no_cards(found))  # noqa: TRY301  # every refusal goes the same way
        before = found.get("document") or {}
        wanted = wishes(settings)
        check_users(wanted, found, settings)
        check_files(found)
        numbers = numbering(cards, {} if settings["renumber"] else before.get("numbering") or {})
        deal, notes = dealt(wanted, cards, numbers, before, settings)
        plan["document"] = document(wanted, deal, cards, numbers, settings)
    except DealError as error:
        return {**plan, "refusal": str(error)}
    users = sorted({user for wish in wanted.values() for user in wish["users"]})
    there = {line.split(":")[0] for line in found["users"]}
    return {
        **plan,
        "users": users,
        "create": [user for user in users if user not in there],
        "join": joining(users, found) if settings["docker_group"] else [],
        "notes": notes,
    }


def wishes(settings: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the pairs as they are asked for: users, cards (None: the role chooses), memory."""
    pairs = settings["pairs"]
    if isinstance(pairs, str) and pairs != "auto":
        raise DealError(
            f"gpu_sharing_pairs is {pairs!r}; needed is auto, or pairs with users and cards: "
            "{alpha: {users: [anna, ben], cards: [0]}}."
        )
    auto = pairs == "auto"
    asked = settings["groups"] if auto else pairs
    if auto and not asked:
        raise DealError(
            "gpu_sharing_pairs is auto and gpu_sharing_groups is empty; needed are the groups: "
            "gpu_sharing_groups: {alpha: {users: [anna, ben]}}."
        )
    return {str(name): wish(str(name), value, auto=auto) for name, value in asked.items()}


def wish(name: str, value: Any, *, auto: bool) -> dict[str, Any]:
    """Return one pair's wish, typed."""
    value = {"users": value} if isinstance(value, list) else value
    if not NAME.fullmatch(name):
        raise DealError(
            f"The pair's name {name!r} cannot be used; needed are small letters, digits, _ and -, at most 31."
        )
    users = value.get("users") if isinstance(value, dict) else None
    if not users or not all(isinstance(user, str) for user in users):
        raise DealError(f"Pair {name} has no users; needed is a list of login names: users: [anna, ben].")
    cards = None if auto else value.get("cards")
    if not auto and not cards:
        raise DealError(
            f"Pair {name} has no cards; needed are indexes or UUIDs (`nvidia-smi -L`): cards: [0]. To let "
            "the role choose, set gpu_sharing_pairs: auto and move the pairs to gpu_sharing_groups."
        )
    return {"users": users, "cards": cards, "memory_mib": int(float(value.get("memory_gib") or 0) * 1024)}


def check_users(wanted: dict[str, dict[str, Any]], found: dict[str, Any], settings: dict[str, Any]) -> None:
    """Refuse users of two pairs, and users that are not there."""
    seen: dict[str, str] = {}
    for name, pair in wanted.items():
        for user in pair["users"]:
            if user in seen:
                raise DealError(
                    f"User {user} is in pair {seen[user]} and in pair {name}; needed is one pair for each "
                    "user: take the user out of one."
                )
            seen[user] = name
    there = {line.split(":")[0] for line in found["users"]}
    missing = [user for user in seen if user not in there]
    if missing and not settings["create_users"]:
        raise DealError(
            f"There is no user {', '.join(missing)} on this host; needed is an account for each: make it, "
            "correct the name, or set gpu_sharing_create_users: true."
        )


def check_files(found: dict[str, Any]) -> None:
    if found["foreign"]:
        raise DealError(
            f"{', '.join(found['foreign'])} is there already and not this role's; needed is its place: move "
            "it away, and run again."
        )


def no_cards(found: dict[str, Any]) -> str:
    return (
        f"nvidia-smi lists no card here ({found.get('said') or 'it said nothing'}); needed is one that "
        "answers, to resolve the cards to their UUIDs: repair the driver (`gpu-verify doctor`), and run."
    )


def numbering(cards: list[dict[str, Any]], kept: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what each index means: the UUID that it had at the first deal, whatever its number is today."""
    numbers = dict(kept)
    known = {card["uuid"] for card in kept.values()}
    for card in cards:
        if card["uuid"] not in known and str(card["index"]) not in numbers:
            numbers[str(card["index"])] = {key: card[key] for key in ("uuid", "pci", "name")}
    return numbers


def dealt(
    wanted: dict[str, dict[str, Any]],
    cards: list[dict[str, Any]],
    numbers: dict[str, dict[str, Any]],
    before: dict[str, Any],
    settings: dict[str, Any],
) -> tuple[dict[str, list[str]], list[str]]:
    """Return each pair's UUIDs, and what a person should know."""
    if settings["pairs"] != "auto":
        deal = {
            name: [resolved(name, word, cards, numbers) for word in pair["cards"]]
            for name, pair in wanted.items()
        }
    else:
        deal = chosen(wanted, cards, {} if settings["renumber"] else before, in_time=settings["in_time"])
    usable(deal, cards)
    alone(deal, cards, in_time=settings["in_time"])
    nobody = [card for card in cards if card["uuid"] not in {uuid for each in deal.values() for uuid in each}]
    return deal, [f"Card {card['index']} ({card['name']}, {card['uuid']}) is nobody's." for card in nobody]


def resolved(name: str, word: Any, cards: list[dict[str, Any]], numbers: dict[str, dict[str, Any]]) -> str:
    """Return the UUID that an index or a UUID of the inventory means; one that has gone is never replaced."""
    text = str(word)
    uuid = numbers[text]["uuid"] if text in numbers else text
    if uuid in {card["uuid"] for card in cards}:
        return uuid
    have = "; ".join(f"{card['index']}: {card['uuid']}" for card in cards)
    if text in numbers or text in {card["uuid"] for card in numbers.values()}:
        was = next(card for card in numbers.values() if card["uuid"] == uuid)
        raise DealError(
            f"Card {text} of pair {name} was {uuid} ({was['name']}, at {was['pci']}), and that card has "
            f"gone; here now: {have}. Put it back, name one by UUID, or set gpu_sharing_renumber: true "
            "once to deal by today's numbers."
        )
    today = next((card for card in cards if str(card["index"]) == text), None)
    if today:
        old = next((index for index, card in numbers.items() if card["uuid"] == today["uuid"]), "none")
        raise DealError(
            f"Card {text} of pair {name} is ambiguous: {today['uuid']} has that number today and had {old} "
            "when the cards were dealt. Name it by UUID, or set gpu_sharing_renumber: true once."
        )
    raise DealError(
        f"Pair {name} asks for card {text}, which this host does not have; here: {have}. Correct its cards."
    )


def usable(deal: dict[str, list[str]], cards: list[dict[str, Any]]) -> None:
    """Refuse cards that are cut into MIG slices."""
    for name, uuids in deal.items():
        for card in cards:
            if card["uuid"] in uuids and card["mig"]:
                raise DealError(
                    f"Card {card['index']} of pair {name} is in MIG mode: its slices are devices of their "
                    f"own, which this role does not deal out. Switch it off (`nvidia-smi -i {card['index']} "
                    "-mig 0`), or give the pair another card."
                )


def alone(deal: dict[str, list[str]], cards: list[dict[str, Any]], *, in_time: bool) -> None:
    """Refuse a card of two pairs, unless they may take turns."""
    if in_time:
        return
    for card in cards:
        pairs = [name for name, uuids in deal.items() if card["uuid"] in uuids]
        if len(pairs) > 1:
            raise DealError(
                f"Card {card['index']} ({card['uuid']}) would be dealt to {' and '.join(pairs)} ({len(deal)} "
                f"pairs, {len(cards)} cards); needed is a card for each pair, or gpu_sharing_in_time: true, "
                "which lets them take turns."
            )


def chosen(
    wanted: dict[str, dict[str, Any]],
    cards: list[dict[str, Any]],
    before: dict[str, Any],
    *,
    in_time: bool,
) -> dict[str, list[str]]:
    """Deal by count and memory: as many for each, the largest wish first, the smallest card that fits."""
    kept = before.get("pairs") or {}
    asks = {name: pair["memory_mib"] for name, pair in wanted.items()}
    if {name: pair.get("memory_mib") for name, pair in kept.items()} == asks and before.get("auto"):
        return {name: again(name, kept[name]["cards"], cards) for name in wanted}
    free = [card for card in cards if not card["mig"]]
    if len(wanted) > len(free) and not in_time:
        raise DealError(
            f"{len(wanted)} pairs ({', '.join(wanted)}) and {len(free)} cards to deal out; needed is a card "
            "for each pair, or gpu_sharing_in_time: true, which lets pairs take turns on a card."
        )
    each = max(1, len(free) // len(wanted))
    deal: dict[str, list[str]] = {name: [] for name in wanted}
    taken = {card["uuid"]: 0 for card in free}
    for _ in range(each):
        for name in sorted(wanted, key=lambda name: -asks[name]):
            fits = [card for card in free if (card["memory_mib"] or 0) >= asks[name]]
            if not in_time:
                fits = [card for card in fits if not taken[card["uuid"]]]
            fits = [card for card in fits if card["uuid"] not in deal[name]]
            if not fits:
                raise DealError(too_small(name, asks[name], free))
            card = min(fits, key=lambda card: (taken[card["uuid"]], card["memory_mib"] or 0, card["index"]))
            taken[card["uuid"]] += 1
            deal[name].append(card["uuid"])
    return deal


def again(name: str, stored: list[dict[str, Any]], cards: list[dict[str, Any]]) -> list[str]:
    """Return what a pair was dealt before; a card that has gone is never replaced."""
    for card in stored:
        if card["uuid"] not in {each["uuid"] for each in cards}:
            raise DealError(
                f"The card of pair {name} was {card['uuid']} ({card['name']}, at {card['pci']}), and has "
                "gone. Put it back, or set gpu_sharing_renumber: true once to deal anew."
            )
    return [card["uuid"] for card in stored]


def too_small(name: str, asked: int, cards: list[dict[str, Any]]) -> str:
    have = ", ".join(f"{card['index']}: {card['memory_mib'] or '?'} MiB" for card in cards)
    return (
        f"Pair {name} asks for a card of {asked} MiB, and none is left that has as much ({have}); needed are "
        "such cards for those that ask for them: lower memory_gib, or take a pair out."
    )


def document(
    wanted: dict[str, dict[str, Any]],
    deal: dict[str, list[str]],
    cards: list[dict[str, Any]],
    numbers: dict[str, dict[str, Any]],
    settings: dict[str, Any],
) -> dict[str, Any]:
    """Return sharing.json."""
    # As they were when they were first seen; one that came since under a taken number, as it is.
    by_uuid = {card["uuid"]: {key: card[key] for key in ("uuid", "pci", "name")} for card in cards}
    by_uuid |= {card["uuid"]: card for card in numbers.values()}
    return {
        "schema": SCHEMA,
        "auto": settings["pairs"] == "auto",
        "way": settings["way"],
        "limits": {key: settings[f"{key}_percent"] for key in ("memory", "cpu", "shm")},
        "numbering": numbers,
        "pairs": {
            name: {
                "users": pair["users"],
                "memory_mib": pair["memory_mib"],
                "cards": [by_uuid[uuid] for uuid in deal[name]],
            }
            for name, pair in wanted.items()
        },
    }


def sharing_users(asked: Any) -> list[str]:
    """Return the users that are asked for, whatever else may be wrong with what was asked."""
    pairs = asked.values() if isinstance(asked, dict) else []
    lists = [pair.get("users") if isinstance(pair, dict) else pair for pair in pairs]
    return sorted({str(user) for users in lists if isinstance(users, list) for user in users})


def joining(users: list[str], found: dict[str, Any]) -> list[str]:
    """Return those who are to join docker's group."""
    members = set((found.get("docker_group") or "").rpartition(":")[2].split(","))
    return [user for user in users if user not in members]


class FilterModule:
    """The filters, by name."""

    def filters(self) -> dict[str, Any]:
        """Return them."""
        return {"gpu_host_sharing_plan": sharing_plan, "gpu_host_sharing_users": sharing_users}
