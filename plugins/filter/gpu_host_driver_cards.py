"""Ansible filter: what the cards are, by their PCI ids, and which kernel module drives them all. Pure."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

TABLE = Path(__file__).resolve().parents[2] / "verify/compat/cards.yml"
Row = dict[str, Any]
# What an older record of a host may lack.
UNSEEN: Row = {
    "serves": 0, "packages": {}, "held": [], "half": [], "libraries": [], "loaded": None, "dkms_rows": [],
    "on_disk": {}, "headers": [], "nouveau": False, "secure_boot": None, "build_log": None, "bridges": [],
    "mig": [], "units": {}, "reboot": None, "boot_id": "", "gpg": None,
    "ours": {"packages": [], "files": [], "holds": []},
}  # fmt: skip


@cache
def table() -> Row:
    """Read the table once: reading is what takes the time."""
    found: Row = yaml_load(TABLE.read_text(encoding="utf-8"))
    return found


def rows(section: str) -> list[Row]:
    found: list[Row] = table()[section]
    return found


def judged(cards: list[Row]) -> list[Row]:
    """Add its architecture to each card."""
    kinds = {row["name"]: {**row, "order": order} for order, row in enumerate(rows("architectures"))}
    ranges, open_from = rows("devices"), int(rows("unknown")[0]["open_from"], 16)
    newest = max(int(row["last"], 16) for row in ranges)
    found = []
    for card in cards:
        number = int(card["id"].partition(":")[2] or "0", 16)
        row = next((r for r in ranges if int(r["first"], 16) <= number <= int(r["last"], 16)), None)
        # Newer than the table: as the newest that it has. In a gap between two ranges: as its neighbours.
        near = "blackwell" if number > newest else "turing" if number >= open_from else "pascal"
        kind = kinds[row["architecture"] if row else near]
        title = kind["title"] if row else "newer than this role's table" if number > newest else "unknown"
        shown = f"{card['address']} ({card['id']}, {title})"
        found.append({**card, "kind": kind, "known": row is not None, "shown": shown})
    return found


def named(cards: list[Row]) -> str:
    return ", ".join(card["shown"] for card in cards)


def flavour_of(cards: list[Row], asked: str) -> tuple[str, str]:
    """Return the flavour that drives every card, and why there is none."""
    old = [card for card in cards if not card["kind"]["open"]]
    new = [card for card in cards if not card["kind"]["proprietary"]]
    if old and new:
        return "", (
            f"There are {named(old)}, which the open kernel module cannot drive, and {named(new)}, which "
            "the proprietary one cannot; a host loads one of them. Needed are cards that one module "
            "drives: take one kind out, or hand it to a virtual machine."
        )
    if asked == "open" and old:
        return "", (
            f"nvidia_driver_flavour is open, and only the proprietary module drives {named(old)}: they "
            "have no System Processor. Needed is nvidia_driver_flavour: auto or proprietary."
        )
    if asked == "proprietary" and new:
        return "", (
            f"nvidia_driver_flavour is proprietary, and only the open module drives {named(new)}. "
            "Needed is nvidia_driver_flavour: auto or open."
        )
    return asked if asked != "auto" else "proprietary" if old else "open", ""


def unserved(cards: list[Row], served: list[Row]) -> str:
    """Say why none of the cards can be driven."""
    if not cards or served:
        return ""
    if all(card.get("driver") == "vfio-pci" for card in cards):
        return (
            f"Every card here is held by vfio-pci, for a virtual machine: {named(cards)}. Needed is one "
            "for this host: give it back (take its id out of vfio-pci's options, reboot), or put the "
            "virtual machine into the inventory."
        )
    return (
        f"No driver that is still looked after drives {named(cards)}: R580, the oldest such branch, begins "
        "with Maxwell. Needed is a newer card; or install the old driver yourself and set "
        "nvidia_driver_source: preinstalled."
    )


def notes(cards: list[Row], served: list[Row]) -> list[str]:
    said = [
        f"{card['shown']} is in no range of this role's table; taken for one that needs the "
        f"{'open' if card['kind']['open'] else 'proprietary'} module."
        for card in served
        if not card["known"]
    ]
    left = [card for card in cards if card not in served]
    said += [f"{card['shown']} will not be served: too old, or held by vfio-pci." for card in left if served]
    return said


def whole(driver: Row) -> Row:
    """Return what was found of the driver, every key there."""
    origin = driver.get("origin") or ""
    kind = "none" if not origin else "package" if origin.startswith("package ") else "unknown"
    return {**UNSEEN, "origin_kind": kind, **driver}


def driver_cards(found: Row, wanted: Row) -> Row:
    """Return what was found, with ``judged``: cards, served, switches, flavour, last, refusal, notes."""
    cards = judged(found.get("cards") or [])
    served = [card for card in cards if card["kind"]["served"] and card.get("driver") != "vfio-pci"]
    flavour, refusal = flavour_of(served, wanted["flavour"]) if wanted["kernel_module"] else ("", "")
    first = int(rows("switches")[0]["first"], 16)
    driver = whole(found["driver"])
    return {
        **found,
        "driver": driver,
        "judged": {
            "cards": cards,
            "served": served,
            "flavour": flavour,
            # The last branch that still knows every card.
            "last": min((c["kind"]["last_branch"] for c in served if c["kind"]["last_branch"]), default=None),
            "switches": [
                b["address"] for b in driver["bridges"] if int(b["id"].partition(":")[2], 16) >= first
            ],
            "refusal": unserved(cards, served) or refusal,
            "notes": notes(cards, served),
        },
    }


class FilterModule:
    """The filters, by name."""

    def filters(self) -> Row:
        """Return them."""
        return {"gpu_host_driver_cards": driver_cards}
