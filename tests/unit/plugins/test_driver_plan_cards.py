"""Which branch and which kernel module for which cards: by PCI ids, refused where none fits."""

from __future__ import annotations

from itertools import pairwise

import pytest

from plugins.filter.gpu_host_driver_cards import judged, rows
from tests.unit.plugins.drivers import CARDS, host, plan

OLD, MIDDLE, NEW = ("maxwell", "pascal", "volta"), ("turing", "ampere", "hopper", "ada"), ("blackwell", "new")


@pytest.mark.parametrize(
    ("number", "name"),
    [
        ("1021", "kepler"), ("1380", "maxwell"), ("17c2", "maxwell"), ("15f8", "pascal"), ("1b06", "pascal"),
        ("1bb3", "pascal"), ("1b82", "pascal"), ("1db5", "volta"), ("1df6", "volta"), ("1e02", "turing"),
        ("1eb8", "turing"), ("2182", "turing"), ("20b0", "ampere"), ("2236", "ampere"), ("2204", "ampere"),
        ("25fb", "ampere"), ("2330", "hopper"), ("2684", "ada"), ("26b9", "ada"), ("2901", "blackwell"),
        ("2b85", "blackwell"), ("2c02", "blackwell"), ("2e2a", "blackwell"), ("3182", "blackwell"),
    ],
)  # fmt: skip
def test_c6_architecture_by_pci_id(number: str, name: str) -> None:
    (card,) = judged([{"address": "0000:01:00.0", "id": f"10de:{number}"}])
    assert (card["kind"]["name"], card["known"]) == (name, True)


def test_the_ranges_do_not_overlap() -> None:
    ranges = sorted((int(row["first"], 16), int(row["last"], 16)) for row in rows("devices"))
    assert all(first <= last for first, last in ranges)
    assert all(before[1] < after[0] for before, after in pairwise(ranges))
    assert {row["architecture"] for row in rows("devices")} == {row["name"] for row in rows("architectures")}


@pytest.mark.parametrize("card", OLD)
def test_c6_an_old_card_gets_the_proprietary_module_of_its_last_branch(card: str) -> None:
    done = plan(host("debian 13", card))
    assert (done["refusal"], done["action"]) == ("", "install")
    assert (done["branch"], done["flavour"]) == (580, "proprietary")
    assert any(name.startswith("nvidia-kernel-dkms") for name in done["packages"])
    assert not any("open" in name for name in done["packages"])


@pytest.mark.parametrize("card", MIDDLE + NEW)
def test_c6_a_newer_card_gets_the_open_module(card: str) -> None:
    done = plan(host("debian 13", card))
    assert (done["refusal"], done["branch"], done["flavour"]) == ("", 580, "open")
    assert any(name.startswith("nvidia-kernel-open-dkms") for name in done["packages"])


@pytest.mark.parametrize("middle", MIDDLE)
def test_c6_old_beside_newer_ones_gets_what_serves_all(middle: str) -> None:
    done = plan(host("ubuntu 24.04", "pascal", middle))
    assert (done["refusal"], done["branch"], done["flavour"]) == ("", 580, "proprietary")


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("new", NEW)
def test_c6_cards_that_no_one_module_drives_are_refused_by_name(old: str, new: str) -> None:
    done = plan(host("debian 13", old, "ampere", new))
    assert CARDS[old] in done["refusal"]
    assert CARDS[new] in done["refusal"]
    assert CARDS["ampere"] not in done["refusal"]
    assert done["packages"] == [] or done["action"] == "install"


@pytest.mark.parametrize(
    ("cards", "flavour"),
    [*((("ampere", old), "open") for old in OLD), *((("ampere", new), "proprietary") for new in NEW)],
)
def test_c6_an_impossible_flavour_is_refused_with_the_card(cards: tuple[str, ...], flavour: str) -> None:
    done = plan(host("debian 13", *cards), flavour=flavour)
    assert f"nvidia_driver_flavour is {flavour}" in done["refusal"]
    assert CARDS[cards[1]] in done["refusal"]
    assert CARDS["ampere"] not in done["refusal"]


@pytest.mark.parametrize("flavour", ["open", "proprietary"])
@pytest.mark.parametrize("card", MIDDLE)
def test_a_possible_flavour_is_taken(card: str, flavour: str) -> None:
    assert plan(host("debian 13", card), flavour=flavour)["flavour"] == flavour


@pytest.mark.parametrize("version", ["590", "595", "620", "595.71.05"])
def test_c6_a_branch_that_does_not_know_the_card_is_refused(version: str) -> None:
    done = plan(host("debian 13", "ampere", "volta"), version=version)
    assert "R580 is the last branch that knows" in done["refusal"]
    assert CARDS["volta"] in done["refusal"]


@pytest.mark.parametrize("version", ["615", "620", "625"])
def test_a_branch_without_the_proprietary_module(version: str) -> None:
    done = plan(host("debian 13", "ampere"), version=version, flavour="proprietary")
    assert "comes with the open kernel module only" in done["refusal"]
    assert plan(host("debian 13", "ampere"), version=version)["refusal"] == ""


def test_a_branch_that_the_table_has_not_is_said() -> None:
    done = plan(host("debian 13"), version="625")
    assert any("R625 is not in this role's table" in note for note in done["notes"])


def test_a_card_that_is_newer_than_the_table_is_said() -> None:
    done = plan(host("debian 13", "new"))
    assert any("in no range of this role's table" in note for note in done["notes"])
    assert done["flavour"] == "open"


@pytest.mark.parametrize(
    ("number", "flavour"), [("1437", "proprietary"), ("1d60", "proprietary"), ("2120", "open")]
)
def test_a_card_in_a_gap_of_the_table_is_as_its_neighbours(number: str, flavour: str) -> None:
    found = host("debian 13")
    found["cards"][0]["id"] = f"10de:{number}"
    assert plan(found)["flavour"] == flavour


def test_c6_only_cards_that_are_too_old_are_refused_and_one_beside_is_said() -> None:
    assert "begins with Maxwell" in plan(host("debian 13", "kepler"))["refusal"]
    done = plan(host("debian 13", "kepler", "ampere"))
    assert (done["refusal"], done["flavour"]) == ("", "open")
    assert any(CARDS["kepler"] in note and "will not be served" in note for note in done["notes"])


def test_c2_cards_held_for_a_virtual_machine() -> None:
    found = host("debian 13", "ampere", "pascal")
    found["cards"][1]["driver"] = "vfio-pci"
    done = plan(found)
    assert (done["refusal"], done["flavour"]) == ("", "open")
    assert any(CARDS["pascal"] in note for note in done["notes"])
    found["cards"][0]["driver"] = "vfio-pci"
    assert "held by vfio-pci" in plan(found)["refusal"]


def test_no_card() -> None:
    found = host("debian 13") | {"cards": []}
    assert "no NVIDIA card" in plan(found)["refusal"]
    done = plan(found, require_card=False)
    assert (done["action"], done["refusal"], done["packages"]) == ("none", "", [])
    # The user space alone is for hosts whose card is not on their bus.
    done = plan(found, kernel_module=False)
    assert (done["action"], done["refusal"]) == ("install", "")


@pytest.mark.parametrize("card", ["ampere", "volta", "blackwell"])
def test_without_a_kernel_module_no_flavour_is_asked_for(card: str) -> None:
    done = plan(host("debian 13", card, kind="simulated"), kernel_module=False, source="distro")
    assert done["packages"] == ["nvidia-smi", "libnvidia-ml1", "libcuda1"] or card == "blackwell"
    assert (done["flavour"], done["headers"], done["repository"]) == ("", [], {})


@pytest.mark.parametrize(("id_", "is_one"), [("10de:1af1", True), ("10de:22a3", True), ("10de:0066", False)])
def test_c8_an_nvswitch_is_told_from_an_old_chipset_s_bridge(id_: str, is_one: bool) -> None:  # noqa: FBT001
    bridges = [{"address": "0000:c0:00.0", "id": id_, "class": "068000", "driver": None}]
    done = plan(host("debian 13", "ampere", bridges=bridges))
    assert bool(done["switches"]) is is_one
    assert ("nvidia-fabricmanager=580.*" in done["packages"]) is is_one
