from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify.race import nvml

if TYPE_CHECKING:
    from collections.abc import Iterator

FAKE = Path(__file__).with_name("fake_pynvml.py")


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return what puts a pynvml of this state, and distributions that ship it, where it is imported from."""

    def make(state: dict[str, Any], *distributions: tuple[str, str], name: str = "pynvml.py") -> None:
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(FAKE, target)
        target.with_name("state.json").write_text(json.dumps(state))
        for distribution, version in distributions:
            folder = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
            folder.mkdir()
            (folder / "METADATA").write_text(
                f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
            )
            (folder / "RECORD").write_text(f"{name},,\n")

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)
    importlib.invalidate_caches()
    yield make
    sys.modules.pop("pynvml", None)


def refused(wanted: str | None = None) -> dict[str, Any]:
    with pytest.raises(nvml.NoCardError) as caught:
        nvml.open_card(wanted)
    return caught.value.said


def test_every_field(fake: Any) -> None:
    fake(
        {
            "values": {
                "nvmlDeviceGetTotalEnergyConsumption": 42,
                "nvmlDeviceGetComputeRunningProcesses": [[7, 8]],
            }
        }
    )
    card, notes = nvml.open_card(None)
    assert notes == []
    assert card.point() == [80, 3.0, 100.0, 1500, 50, 0]
    assert card.energy_mj() == 42
    assert card.limits() == {"power_w": 150.0, "power_default_w": 150.0, "slowdown_c": 95}
    assert card.pids() == [7, 8]


def test_each_field_alone_may_be_missing(fake: Any) -> None:
    fake({"unsupported": ["nvmlDeviceGetPowerUsage", "nvmlDeviceGetMemoryInfo"]})
    card, _ = nvml.open_card(None)
    for _ in range(3):
        assert card.point() == [80, None, None, 1500, 50, 0]
    assert sys.modules["pynvml"].asked["nvmlDeviceGetPowerUsage"] == 1  # what it never tells is asked once


def test_an_error_that_may_pass_is_asked_again(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake({})
    card, _ = nvml.open_card(None)
    pynvml = sys.modules["pynvml"]
    good = pynvml.nvmlDeviceGetTemperature

    def fails(*_: Any) -> None:
        raise pynvml.NVMLError(999, "Unknown Error")

    monkeypatch.setattr(pynvml, "nvmlDeviceGetTemperature", fails)
    assert card.point()[4] is None
    monkeypatch.setattr(pynvml, "nvmlDeviceGetTemperature", good)
    assert card.point()[4] == 50
    assert card.lost is None


def test_a_lost_card_is_asked_no_more(fake: Any) -> None:
    fake({"lost_after": 1})
    card, _ = nvml.open_card(None)
    assert card.point()[0] == 80
    assert card.point() == [None] * 6
    assert card.lost == "NVMLError: GPU is lost"
    asked = dict(sys.modules["pynvml"].asked)
    assert card.point() == [None] * 6
    assert (card.energy_mj(), card.pids()) == (None, None)
    assert sys.modules["pynvml"].asked == asked


def test_the_older_names_and_memory_are_known(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fake({})
    card, _ = nvml.open_card(None)
    pynvml = sys.modules["pynvml"]
    new = pynvml.nvmlDeviceGetMemoryInfo

    def first_version_alone(handle: str) -> Any:
        return new(handle)

    monkeypatch.delattr(pynvml, "nvmlDeviceGetCurrentClocksEventReasons")
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCurrentClocksThrottleReasons", lambda _: 8, raising=False)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetMemoryInfo", first_version_alone)
    assert card.point() == [80, 3.0, 100.0, 1500, 50, 8]


@pytest.mark.parametrize(("state", "said"), [
    ({"init": "missing"}, {"id": "sampler-no-pynvml"}),
    ({"init": "broken"}, {"id": "sampler-import", "error": "ImportError: its library is broken"}),
    ({"init": "error"}, {"id": "sampler-no-nvml", "error": "NVMLError: Driver Not Loaded"}),
    ({"init": "error", "bytes": True},
     {"id": "sampler-no-nvml", "error": "NVMLError: Driver Not Loaded\ufffd"}),
    ({"cards": []}, {"id": "sampler-no-card", "card": "0"}),
    ({"cards": ["GPU-1", "GPU-2"]}, {"id": "sampler-which-card", "count": 2}),
])  # fmt: skip
def test_why_nothing_can_be_read(fake: Any, state: dict[str, Any], said: dict[str, Any]) -> None:
    fake(state)
    assert refused() == said


@pytest.mark.parametrize("wanted", ["GPU-a2", "a2", "1"])
@pytest.mark.parametrize("gives_bytes", [True, False])
def test_a_card_is_found_by_its_uuid_or_index(fake: Any, wanted: str, *, gives_bytes: bool) -> None:
    fake({"cards": ["GPU-a1", "GPU-a2"], "handle": "GPU-a2", "bytes": gives_bytes})
    card, _ = nvml.open_card(wanted)
    assert card.point()[0] == 80


@pytest.mark.parametrize("wanted", ["GPU-9", "2", "0000:01:00.0"])
def test_a_card_that_is_not_there_is_not_another(fake: Any, wanted: str) -> None:
    fake({"cards": ["GPU-1", "GPU-2"]})
    assert refused(wanted) == {"id": "sampler-no-card", "card": wanted}


@pytest.mark.parametrize(("environment", "handle"), [
    ({"CUDA_VISIBLE_DEVICES": "GPU-2,GPU-1"}, "GPU-2"),
    ({"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}, "GPU-b"),
    ({"CUDA_VISIBLE_DEVICES": "1"}, None),  # CUDA's own order is another than NVML's
])  # fmt: skip
def test_the_card_that_cuda_is_told_to_use(
    fake: Any, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], handle: str | None
) -> None:
    cards = ["GPU-1", "GPU-2"] if handle == "GPU-2" else ["GPU-a", "GPU-b"]
    fake({"cards": cards, "handle": handle} if handle else {"cards": cards})
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    if handle is None:
        assert refused() == {"id": "sampler-which-card", "count": 2}
    else:
        assert nvml.open_card(None)[0].point()[0] == 80


def test_a_pynvml_that_is_not_nvidias_works_and_is_named(fake: Any) -> None:
    fake({}, ("pynvml", "11.5.3"), name="pynvml/__init__.py")
    card, notes = nvml.open_card(None)
    assert card.point()[0] == 80
    assert notes == [{"id": "sampler-foreign", "distribution": "pynvml", "version": "11.5.3"}]


def test_two_distributions_with_one_file_are_named(fake: Any) -> None:
    fake({}, ("pynvml", "11.4.1"), ("nvidia-ml-py", "12.535.77"))
    assert nvml.binding()[1] == [{"id": "sampler-both", "distribution": "pynvml", "version": "11.4.1"}]


def test_nvidias_own_is_not_named(fake: Any) -> None:
    fake({}, ("nvidia-ml-py", "13.615.71"))
    assert nvml.binding()[1] == []
