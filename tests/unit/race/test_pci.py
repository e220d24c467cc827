from __future__ import annotations

from importlib import reload
from typing import TYPE_CHECKING

import pytest

from tests.unit.race import fakes
from verify.race import pci
from verify.race.libraries import absent_card

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(name="has_card")
def _has_card(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], bool | None]:
    """The function itself, which no other test of this folder asks."""
    monkeypatch.undo()
    found: Callable[[Path], bool | None] = reload(pci).has_card
    return found


def device(root: Path, vendor: str, kind: str) -> None:
    folder = root / "sys/bus/pci/devices" / f"0000:0{len(list(root.rglob('vendor')))}:00.0"
    folder.mkdir(parents=True)
    (folder / "vendor").write_text(f"{vendor}\n")
    (folder / "class").write_text(f"{kind}\n")


def test_a_card_is_a_display_or_3d_controller_of_nvidia(
    tmp_path: Path, has_card: Callable[[Path], bool | None]
) -> None:
    device(tmp_path, "0x8086", "0x030000")
    device(tmp_path, "0x10de", "0x040300")  # the sound of one, or a network card of NVIDIA's
    assert has_card(tmp_path) is False
    device(tmp_path, "0x10de", "0x030200")
    assert has_card(tmp_path) is True


@pytest.mark.parametrize("node", pci.NODES)
def test_a_driver_that_is_loaded_is_a_card(
    tmp_path: Path, node: str, has_card: Callable[[Path], bool | None]
) -> None:
    device(tmp_path, "0x8086", "0x030000")
    (tmp_path / node).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / node).touch()
    assert has_card(tmp_path) is True


def test_where_no_device_is_seen_or_cards_are_stand_ins_it_is_not_known(
    tmp_path: Path, has_card: Callable[[Path], bool | None]
) -> None:
    assert has_card(tmp_path) is None
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    assert has_card(tmp_path) is None
    device(tmp_path, "0x8086", "0x030000")
    (tmp_path / pci.STAND_IN).parent.mkdir(parents=True)
    (tmp_path / pci.STAND_IN).touch()
    assert has_card(tmp_path) is None


@pytest.mark.parametrize("cuda", [None, "12.8"])
def test_without_any_card_no_build_of_torch_is_advised(
    monkeypatch: pytest.MonkeyPatch, cuda: str | None
) -> None:
    found = fakes.libraries(fakes.torch("2.13.0", cuda=cuda))
    monkeypatch.setattr(pci, "has_card", lambda: False)
    assert absent_card(found) == {"id": "absent-no-card"}
    monkeypatch.setattr(pci, "has_card", lambda: True)
    said = absent_card(found)
    assert said is not None
    assert said["id"] == ("absent-card" if cuda else "absent-cpu-build")
