"""What the kernel shows of the simulated cards: the configuration read, the trees written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.standins.load import load

CARD = Path(__file__).resolve().parents[2] / "standins" / "card"
PACKAGE = CARD / "package"


card = load("simulated_card", PACKAGE / "usr" / "lib" / "gpu-host-simulated" / "simulated_card.py")
SHIPPED = (PACKAGE / "etc" / "gpu-host" / "simulated").read_text()


def test_the_shipped_configuration_is_two_cards_that_say_they_are_simulated() -> None:
    machine = card.parse(SHIPPED)
    assert machine.module_version == "550.163.01"
    assert [c.minor for c in machine.cards] == [0, 1]
    assert len({c.uuid for c in machine.cards}) == 2
    assert len({c.slot for c in machine.cards}) == 2
    assert all(c.name.endswith("(simulated)") for c in machine.cards)


def test_comments_and_defaults() -> None:
    machine = card.parse("# all\ndriver_version = 1.2 ; old\n[card 3] # the only one\nname = A#B\t; odd\n")
    assert machine.module_version == "1.2"
    (only,) = machine.cards
    assert (only.minor, only.name, only.slot) == (3, "A#B", "0000:3e:00.0")
    assert only.uuid == "GPU-51515151-0000-4000-8000-000000000003"


def test_no_cards_is_a_machine_with_a_module() -> None:
    machine = card.parse("")
    assert machine.cards == ()
    assert "nvidia/version" in card.proc_tree(machine)
    assert card.pci_tree(machine) == {}


def test_the_module_may_differ_from_the_library() -> None:
    machine = card.parse("driver_version = 550.163.01\nmodule_version = 535.261.03\n")
    assert card.module_tree(machine)["nvidia/version"] == "535.261.03\n"
    assert "Kernel Module  535.261.03  " in card.proc_tree(machine)["nvidia/version"]


def test_the_trees_name_the_same_card() -> None:
    machine = card.parse("[card 1]\nminor = 4\npci_bus_id = 00000000:AF:00.0\npci_device_id = 0x20B010DE\n")
    pci = card.pci_tree(machine)
    assert pci["0000:af:00.0/vendor"] == "0x10de\n"
    assert pci["0000:af:00.0/device"] == "0x20b0\n"
    assert pci["0000:af:00.0/class"] == "0x030200\n"
    information = card.proc_tree(machine)["nvidia/gpus/0000:af:00.0/information"]
    assert "Device Minor: \t 4\n" in information
    assert machine.cards[0].uuid in information


def test_what_the_kernel_says_of_the_module_says_simulated() -> None:
    assert "simulated" in card.proc_tree(card.parse(""))["nvidia/version"]


def test_a_tree_is_written_read_only(tmp_path: Path) -> None:
    card.write_tree(tmp_path, {"nvidia/version": "1\n"})
    written = tmp_path / "nvidia" / "version"
    assert written.read_text() == "1\n"
    assert written.stat().st_mode & 0o777 == 0o444


def test_entries_that_the_mount_hides_stay_reachable(tmp_path: Path) -> None:
    over, tree, device = tmp_path / "over", tmp_path / "tree", tmp_path / "device"
    for folder in (over / "kept", over / "nvidia", tree / "nvidia", device):
        folder.mkdir(parents=True)
    (over / "0000:00:01.0").symlink_to("../device")
    card.keep_others(tree, over, Path("/original"))
    assert (tree / "kept").readlink() == Path("/original/kept")
    assert (tree / "0000:00:01.0").readlink() == device
    assert not (tree / "nvidia").is_symlink()


@pytest.mark.parametrize("text", ["[card one]\n", "[card 0]\npci_device_id = L40\n"])
def test_a_value_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"one|L40"):
        card.parse(text)


def keys(text: str) -> set[str]:
    return {key for _, values in card.sections(text) for key in values}


def test_every_shipped_key_is_read_by_the_library_and_explained() -> None:
    """A key that is spelt differently in one of the three places would silently do nothing."""
    library = (CARD / "nvml" / "config.c").read_text()
    readme = (CARD / "README.md").read_text()
    assert len(keys(SHIPPED)) > 10
    for key in keys(SHIPPED):
        assert f'"{key}"' in library, key
        assert f"`{key}`" in readme, key
