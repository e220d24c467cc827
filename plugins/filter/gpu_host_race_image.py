"""Ansible filters: which variant of the race image a host can run, and what a reference names. Pure."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load  # by libyaml where it is there: ten times as fast

COMPAT = Path(__file__).resolve().parents[2] / "verify/compat"
Row = dict[str, Any]
HUB = "docker.io"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
NAME = re.compile(r"[a-z0-9]+(?:(?:[._/]|__|-+)[a-z0-9]+)*")


@cache
def rows(table: str, section: str) -> list[Row]:
    """Read a section of a table once."""
    found: list[Row] = yaml_load((COMPAT / f"{table}.yml").read_text(encoding="utf-8"))[section]
    return found


def order(architecture: str) -> int:
    """Return an architecture's place in time."""
    return [row["name"] for row in rows("cards", "architectures")].index(architecture)


def architecture(card: str) -> str | None:
    """Return the architecture of a card by its PCI id, None where the table has no such id."""
    number = int(card.partition(":")[2] or "0", 16)
    for row in rows("cards", "devices"):
        if int(row["first"], 16) <= number <= int(row["last"], 16):
            return str(row["architecture"])
    # Newer than the table: taken as the newest that it has.
    last = max(int(row["last"], 16) for row in rows("cards", "devices"))
    return "blackwell" if number > last else None


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def shown(cards: list[Row], lacking: list[str]) -> str:
    """Name the cards of these architectures."""
    found = [card["id"] for card in cards if architecture(card["id"]) in lacking]
    titles = {row["name"]: row["title"] for row in rows("cards", "architectures")}
    return f"{', '.join(found)} ({', '.join(titles[name] for name in lacking)})"


def obstacle(variant: Row, driver: str | None, cards: list[Row]) -> str:
    """Say why a host cannot run a variant; empty where it can, or where nothing tells."""
    name = variant["name"]
    if driver and numbers(driver) < numbers(variant["driver"]):
        return f"{name} (CUDA {variant['cuda']}) needs driver {variant['driver']}, and {driver} is loaded"
    kinds = sorted({kind for card in cards if (kind := architecture(card["id"]))}, key=order)
    lacking = [kind for kind in kinds if not order(variant["first"]) <= order(kind) <= order(variant["last"])]
    if lacking:
        return f"{name} (CUDA {variant['cuda']}) has no code for {shown(cards, lacking)}"
    return ""


def race_image_variant(found: Row, asked: str = "auto") -> Row:
    """Return the variant for a host (a row of the table), refusal and notes."""
    machine = found["machine"]["architecture"]
    driver = found["driver"]["version"] if found["driver"].get("works") else None
    cards = [card for card in found.get("cards") or [] if card.get("driver") != "vfio-pci"]
    offered = [row for row in rows("race_images", "variants") if row["machine"] == machine]
    wanted = [row for row in offered if asked in ("auto", row["name"])]
    if not wanted:
        names = ", ".join(row["name"] for row in offered) or "none"
        return refused(
            f"For {machine} the race image has these variants: {names}; race_image_variant is {asked}. "
            "Needed is one of these, or race_image_base, race_image_torch and race_image_torch_index."
        )
    if driver is None and asked == "auto":
        # Whatever comes later, this one starts on every driver from 525 on.
        wanted = [row for row in wanted if row["name"] == "cu126"]
    whys = [obstacle(row, driver, cards) for row in wanted]
    fits = [row for row, why in zip(wanted, whys, strict=True) if not why]
    if not fits:
        return refused(
            f"No variant of the race image runs on this host: {'; '.join(whys)}. Needed is one that does: "
            "upgrade the driver (role nvidia_driver), or bring an image of your own with "
            "race_image_base, race_image_torch and race_image_torch_index."
        )
    note = (
        f"No driver answers, so the variant is {fits[0]['name']}."
        if driver is None and asked == "auto"
        else ""
    )
    return {"refusal": "", "notes": [note] if note else [], "variant": fits[0]}


def refused(sentence: str) -> Row:
    return {"refusal": sentence, "notes": [], "variant": {}}


def race_image_reference(reference: str) -> Row:
    """Return registry, name and digest of a reference, or why it is none that may be pulled."""
    name, _, digest = reference.partition("@")
    first, slash, rest = name.partition("/")
    named = slash and ("." in first or ":" in first or first == "localhost")
    registry, path = (first, rest) if named else (HUB, name)
    path, _, tag = path.partition(":")
    tagged = name if tag else f"{name}:latest"
    if not NAME.fullmatch(path):
        why = (
            f"is {reference or 'not set'}; needed is HOST/NAME@sha256:…, in small letters, as in "
            "registry.example.com:5000/team/race@sha256:…. Set it, or race_image_references by variant."
        )
    elif not digest:
        why = (
            f"is {reference}, which is a tag: what it means can change under your hands. Needed is the "
            f"same with its digest, NAME@sha256:…; `.venv/bin/gpu-verify image {tagged}` prints it "
            f"(or `docker image inspect --format '{{{{.RepoDigests}}}}' {tagged}` where it was pulled)."
        )
    elif not DIGEST.fullmatch(digest):
        why = (
            f"is {reference}, and what follows the @ is no digest; needed is sha256: and 64 hexadecimal "
            "digits, as the registry prints them when the image is pushed."
        )
    else:
        why = ""
    refusal = f"race_image_reference {why}" if why else ""
    return {"registry": registry, "name": name, "digest": digest, "refusal": refusal}


class FilterModule:
    """The filters, by name."""

    def filters(self) -> Row:
        """Return them."""
        return {
            "gpu_host_race_image_variant": race_image_variant,
            "gpu_host_race_image_reference": race_image_reference,
        }
