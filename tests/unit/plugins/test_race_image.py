"""Which variant of the race image a host gets, and which references may be pulled."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import StrictUndefined
from jinja2.nativetypes import NativeEnvironment

from plugins.filter.gpu_host_race_image import (
    FilterModule,
    architecture,
    numbers,
    order,
    race_image_reference,
    race_image_variant,
    rows,
)

ROOT = Path(__file__).resolve().parents[3]
LOCKS = ROOT / "roles/race_image/files/locks"
MAXWELL, PASCAL, VOLTA, TURING = "10de:13c2", "10de:1b06", "10de:1db6", "10de:1eb8"
AMPERE, HOPPER, ADA, BLACKWELL = "10de:2204", "10de:2330", "10de:2684", "10de:2b85"
KEPLER, FUTURE = "10de:1004", "10de:4fff"
DIGEST = "sha256:" + "0123456789abcdef" * 4


def host(driver: str | None, *cards: str, machine: str = "x86_64", **card: Any) -> dict[str, Any]:
    return {
        "machine": {"architecture": machine},
        "driver": {"works": driver is not None, "version": driver},
        "cards": [{"address": f"0000:0{i}:00.0", "id": name, **card} for i, name in enumerate(cards)],
    }


def name(found: dict[str, Any], asked: str = "auto") -> str | None:
    choice = race_image_variant(found, asked)
    assert bool(choice["refusal"]) != bool(choice["variant"])
    chosen: str | None = choice["variant"].get("name")
    return chosen


@pytest.mark.parametrize(
    ("driver", "cards", "wanted"),
    [
        ("580.65.06", [TURING], "cu130"),
        ("620.10", [AMPERE, ADA], "cu130"),
        ("595.71.05", [BLACKWELL], "cu130"),
        ("595.71.05", [FUTURE], "cu130"),
        # below R580
        ("580.65.05", [TURING], "cu126"),
        ("550.163.01", [ADA], "cu126"),
        ("525.60.13", [HOPPER], "cu126"),
        # below compute capability 7.5, whatever the driver
        ("580.126.09", [MAXWELL], "cu126"),
        ("580.126.09", [PASCAL], "cu126"),
        ("580.126.09", [VOLTA, AMPERE], "cu126"),
        # a card that cu126 has no code for, below R580
        ("570.124.06", [BLACKWELL], "cu128"),
        ("575.57.08", [BLACKWELL, TURING], "cu128"),
        # no card that is known, no driver that answers
        ("580.126.09", [], "cu130"),
        (None, [], "cu126"),
        (None, [ADA], "cu126"),
        ("525.60.12", [ADA], None),
        ("470.256.02", [PASCAL], None),
        ("580.126.09", [KEPLER], None),
        ("570.124.06", [BLACKWELL, PASCAL], None),
    ],
)
def test_the_first_variant_that_driver_and_every_card_can_run(
    driver: str | None, cards: list[str], wanted: str | None
) -> None:
    assert name(host(driver, *cards)) == wanted


def test_a_card_for_a_virtual_machine_does_not_count() -> None:
    found = host("580.126.09", TURING)
    found["cards"].append({"address": "0000:09:00.0", "id": PASCAL, "driver": "vfio-pci"})
    assert name(found) == "cu130"


def test_a_refusal_says_found_needed_and_what_to_do() -> None:
    said = race_image_variant(host("470.256.02", PASCAL))["refusal"]
    assert "470.256.02 is loaded" in said
    assert "525.60.13" in said
    assert "upgrade the driver" in said


def test_a_variant_that_is_asked_for_is_held_against_the_host() -> None:
    assert name(host("580.126.09", TURING), "cu126") == "cu126"
    assert "needs driver 580.65.06" in race_image_variant(host("550.163.01", ADA), "cu130")["refusal"]
    said = race_image_variant(host("580.126.09", PASCAL), "cu130")["refusal"]
    assert f"no code for {PASCAL} (Pascal)" in said
    assert name(host(None), "cu130") == "cu130"
    assert "cu128" in race_image_variant(host("580.126.09", ADA, machine="aarch64"), "cu128")["refusal"]


def test_without_a_driver_it_is_said() -> None:
    assert race_image_variant(host(None, ADA))["notes"] == ["No driver answers, so the variant is cu126."]


def test_arm_has_its_own_rows() -> None:
    choice = race_image_variant(host("580.126.09", HOPPER, machine="aarch64"))
    assert (choice["variant"]["name"], choice["variant"]["lock"]) == ("cu130", "")
    assert "none" in race_image_variant(host("580.126.09", HOPPER, machine="riscv64"))["refusal"]


def test_every_driver_and_card_has_a_variant_or_a_reason() -> None:
    drivers = [None, "470.1", "525.60.13", "550.163.01", "570.26", "580.65.06", "620.5"]
    cards = [MAXWELL, PASCAL, VOLTA, TURING, AMPERE, HOPPER, ADA, BLACKWELL, KEPLER, FUTURE, "10de:0"]
    for driver, pair in itertools.product(drivers, itertools.combinations(cards, 2)):
        choice = race_image_variant(host(driver, *pair))
        variant = choice["variant"]
        if not variant:
            assert "Needed is" in choice["refusal"]
            continue
        kinds = [kind for kind in map(architecture, pair) if kind]
        assert all(order(variant["first"]) <= order(kind) <= order(variant["last"]) for kind in kinds)
        assert driver is None or numbers(driver) >= numbers(variant["driver"])


def test_the_table_is_whole() -> None:
    minimum = {row["cuda_major"]: row["driver"] for row in rows("cuda", "minimum_drivers")}
    for row in rows("race_images", "variants"):
        assert row["source"]
        assert row["date"]
        assert row["driver"] == minimum[int(row["cuda"].split(".")[0])]
        patch = re.fullmatch(
            rf"nvidia/cuda:{row['cuda']}\.(\d+)-runtime-ubuntu24\.04", row["bases"]["runtime"]
        )
        assert patch
        assert row["bases"]["base"] == f"nvidia/cuda:{row['cuda']}.{patch[1]}-base-ubuntu24.04"
        assert row["name"] == f"cu{row['cuda'].replace('.', '')}"
        assert bool(row["lock"]) != bool(row["index"])
        assert order(row["first"]) < order(row["last"])
    spec = yaml.safe_load((ROOT / "roles/race_image/meta/argument_specs.yml").read_text(encoding="utf-8"))
    options = spec["argument_specs"]["main"]["options"]
    flavours = options["race_image_flavour"]["choices"]
    assert [row for row in rows("race_images", "variants") if list(row["bases"]) != flavours] == []
    choices = options["race_image_variant"]["choices"]
    assert set(choices) == {"auto"} | {row["name"] for row in rows("race_images", "variants")}


def requirements() -> set[str]:
    asked = (LOCKS.parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
    return {line.lower() for line in asked if line and not line.startswith("#")}


def test_the_stand_in_image_s_lock_has_every_requirement_and_no_torch() -> None:
    lines = (LOCKS / "cpu.txt").read_text(encoding="utf-8").splitlines()[1:]
    assert [line for line in lines if not re.fullmatch(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}", line)] == []
    assert {line.split(" ")[0].lower() for line in lines} == requirements()


def test_the_sampler_s_library_is_the_same_in_every_image() -> None:
    """One release for all variants: it asks each driver's library for what that one has."""
    found = {
        line
        for lock in LOCKS.glob("*.txt")
        for line in lock.read_text(encoding="utf-8").splitlines()
        if line.startswith("nvidia-ml-py==")
    }
    assert len(found) == 1


@pytest.mark.parametrize("flavour", ["runtime", "base"])
def test_the_flavour_chooses_the_base_and_a_base_of_one_s_own_wins(flavour: str) -> None:
    text = yaml.safe_load((ROOT / "roles/race_image/vars/main.yml").read_text(encoding="utf-8"))
    template = NativeEnvironment(undefined=StrictUndefined).from_string(text["__race_image_base"])
    for row in rows("race_images", "variants"):
        given = {"__race_image_row": row, "race_image_flavour": flavour}
        assert template.render(race_image_base="", **given) == row["bases"][flavour]
        assert template.render(race_image_base="mine:1", **given) == "mine:1"


@pytest.mark.parametrize("row", [row for row in rows("race_images", "variants") if row["lock"]], ids=str)
def test_a_lock_has_the_whole_tree_and_every_hash(row: dict[str, Any]) -> None:
    lines = (LOCKS / row["lock"]).read_text(encoding="utf-8").splitlines()[1:]
    assert [line for line in lines if not re.fullmatch(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}", line)] == []
    locked = {line.split(" ")[0].lower() for line in lines}
    assert requirements() <= locked
    assert row["torch"] in locked
    major, minor = row["cuda"].split(".")
    runtime = next(name for name in locked if re.match(r"nvidia-cuda-runtime(-cu\d+)?==", name))
    assert runtime.partition("==")[2].startswith(f"{major}.{minor}.")


@pytest.mark.parametrize(
    ("reference", "registry"),
    [
        (f"registry.example.com:5000/team/race@{DIGEST}", "registry.example.com:5000"),
        (f"localhost/race@{DIGEST}", "localhost"),
        (f"registry.example.com/race:1.0@{DIGEST}", "registry.example.com"),
        (f"team/race@{DIGEST}", "docker.io"),
        (f"race@{DIGEST}", "docker.io"),
    ],
)
def test_a_digest_may_be_pulled(reference: str, registry: str) -> None:
    found = race_image_reference(reference)
    assert (found["refusal"], found["registry"], found["digest"]) == ("", registry, DIGEST)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("", "is not set"),
        ("registry.example.com/race:1.0", "gpu-verify image registry.example.com/race:1.0"),
        ("registry.example.com:5000/race", "gpu-verify image registry.example.com:5000/race:latest"),
        ("race@sha256:abc", "64 hexadecimal digits"),
        (f"race@{DIGEST.upper()}", "64 hexadecimal digits"),
        (f"https://registry.example.com/race@{DIGEST}", "HOST/NAME@sha256"),
        (f"-race@{DIGEST}", "HOST/NAME@sha256"),
        (f"Race; id@{DIGEST}", "HOST/NAME@sha256"),
    ],
)
def test_anything_else_may_not(reference: str, words: str) -> None:
    assert words in race_image_reference(reference)["refusal"]


def test_the_filters_have_their_names() -> None:
    assert all(name.startswith("gpu_host_race_image_") for name in FilterModule().filters())
