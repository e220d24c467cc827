"""Mounts and their markers, the machine's measures, prices, interruption."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.facts.build import recording
from tests.unit.offer.build import changed, command, document, facts, verdict
from verify.offer.interruption import interruption
from verify.offer.machine import machine
from verify.offer.places import Survival, places
from verify.offer.pull import Price, first_pull
from verify.offer.verdict import Use

NOW, THEN = {"boot": "b", "init": 2}, {"boot": "b", "init": 1}


def place(path: str, found: dict[str, Any] | None = None, kind: str = "ext4", **more: Any) -> dict[str, Any]:
    return {"path": path, "kind": kind, "marker": {"found": found, "written": found is None}, **more}


def marker(identity: dict[str, Any], *mounts: str, id: str = "first") -> dict[str, Any]:  # noqa: A002
    return {**identity, "id": id, "at": "2026-12-01T00:00:00Z", "mounts": list(mounts)}


def survivals(*rows: dict[str, Any], identity: Any = NOW) -> list[Survival]:
    return [one.survival for one in places({"identity": identity, "places": list(rows)})]


def test_no_marker_proves_nothing() -> None:
    assert survivals(place("/"), place("/data")) == [Survival.UNKNOWN, Survival.UNKNOWN]


def test_a_marker_of_this_start_proves_nothing_yet() -> None:
    mine = marker(NOW, "/data")
    assert survivals(place("/data", mine)) == [Survival.UNKNOWN]


def test_a_marker_of_an_earlier_start_proves_it() -> None:
    assert survivals(place("/data", marker(THEN, "/data"))) == [Survival.YES]
    assert survivals(place("/data", marker({"boot": "a", "init": 2}, "/data"))) == [Survival.YES]


def test_what_an_earlier_marker_names_and_is_gone_was_lost() -> None:
    old = marker(THEN, "/data", "/scratch")
    assert survivals(place("/data", old), place("/scratch")) == [Survival.YES, Survival.NO]
    fresh = marker(NOW, "/data", "/scratch", id="second")
    assert survivals(place("/data", old), place("/scratch", fresh)) == [Survival.YES, Survival.NO]


def test_what_an_earlier_marker_does_not_name_is_open() -> None:
    assert survivals(place("/data", marker(THEN, "/data")), place("/new")) == [Survival.YES, Survival.UNKNOWN]


def test_without_knowing_this_start_nothing_is_proven() -> None:
    old = marker(THEN, "/data", "/scratch")
    for unknown in (None, {}, {"boot": "b", "init": None}, {"boot": None, "init": 2}):
        assert survivals(place("/data", old), place("/scratch"), identity=unknown) == [Survival.UNKNOWN] * 2


def test_a_containers_layer_is_no_volume_whatever_its_marker() -> None:
    assert survivals(place("/", marker(THEN, "/"), kind="overlay")) == [Survival.LAYER]


def test_speed_is_bytes_by_seconds_and_nothing_measured_is_none() -> None:
    speed = {"write": {"bytes": 100, "seconds": 2.0}, "read": {"bytes": 100, "seconds": 0.0, "cold": True}}
    (found,) = places({"places": [place("/data", speed=speed)]})
    assert (found.write, found.read) == (50.0, None)
    (found,) = places(
        {"places": [place("/data", kind="fuse.juicefs", speed={"skipped": "only 3 bytes are free"})]}
    )
    assert (found.write, found.network, found.trouble) == (None, True, "only 3 bytes are free")


def link(width: str, most: str, generation: str = "4") -> str:
    return (
        '<nvidia_smi_log><gpu id="0"><pci><pci_gpu_link_info><pcie_gen><max_link_gen>4</max_link_gen>'
        f"<current_link_gen>{generation}</current_link_gen></pcie_gen><link_widths>"
        f"<max_link_width>{most}</max_link_width><current_link_width>{width}</current_link_width></link_widths>"
        "</pci_gpu_link_info></pci></gpu></nvidia_smi_log>"
    )


@pytest.mark.parametrize(
    ("width", "most", "said"),
    [
        ("8x", "16x", "x8 of x16, generation 4 of 4"),
        ("N/A", "16x", "width unknown of x16, generation 4 of 4"),
        ("16x", "N/A", "x16, generation 4 of 4"),
    ],
)
def test_the_cards_width_against_its_maximum(width: str, most: str, said: str) -> None:
    entry = {"argv": ["nvidia-smi"], "rc": 0, "stdout": link(width, most)}
    (found,) = machine(recording(commands={"nvidia-smi-xml": entry})).links
    assert str(found) == said


TOPOLOGY = "\tGPU0\tGPU1\nGPU0\t X \t{0}\nGPU1\t{0}\t X \n"


@pytest.mark.parametrize(("word", "joined"), [("NV12", True), ("SYS", False)])
def test_nvlink_joins_the_cards_or_does_not(word: str, joined: bool) -> None:  # noqa: FBT001
    entry = {"argv": ["nvidia-smi"], "rc": 0, "stdout": TOPOLOGY.format(word)}
    assert machine(recording(commands={"nvidia-smi-topo": entry})).nvlink is joined


def test_what_nobody_recorded_is_none() -> None:
    found = machine(recording())
    assert (found.cores, found.quota, found.memory, found.limit, found.shm, found.nvlink) == (None,) * 6
    assert found.links == ()


@pytest.mark.parametrize(
    ("files", "cores", "memory"),
    [
        (
            {"/sys/fs/cgroup/cpu.max": "250000 100000\n", "/sys/fs/cgroup/memory.max": "1073741824\n"},
            2.5,
            2**30,
        ),
        ({"/sys/fs/cgroup/cpu.max": "max 100000\n", "/sys/fs/cgroup/memory.max": "max\n"}, None, None),
        (
            {
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            },
            0.5,
            None,
        ),
        ({"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n"}, None, None),
    ],
)
def test_what_the_control_group_leaves(
    files: dict[str, str], cores: float | None, memory: int | None
) -> None:
    found = machine(recording(files={path: {"text": text} for path, text in files.items()}))
    assert (found.quota, found.limit) == (cores, memory)


def test_the_first_pull_in_seconds_and_money() -> None:
    offer = facts(document("older-driver"))
    found = first_pull(offer, Price(0.72))
    assert found is not None
    assert found.cost is not None
    assert (found.bytes, found.cost.seconds, found.cost.money) == (4_000_000_000, 62.5, 0.0125)
    assert "62 s for 4.0 GB at 512 Mbit/s (measured), 0.01 EUR" in str(found)
    given = first_pull(offer, Price(0.72, "USD", 1024))
    assert "(given), under 0.01 USD" in str(given)


def test_a_first_pull_without_a_rate_names_its_bytes_alone() -> None:
    content = document("older-driver")
    answer = json.loads(content["commands"]["offer-registry"]["stdout"])
    del answer["rate"]
    content["commands"]["offer-registry"]["stdout"] = json.dumps(answer)
    assert "no rate was measured" in str(first_pull(facts(content), Price(0.72)))
    assert first_pull(facts(document("full-machine")), Price(0.72)) is None


@pytest.mark.parametrize(
    ("told", "spot", "soon"),
    [
        ({"aws-life-cycle": "spot"}, True, False),
        ({"aws-life-cycle": "spot", "aws-action": '{"action": "terminate"}'}, True, True),
        ({"aws-life-cycle": "on-demand"}, False, False),
        ({"google-preemptible": "TRUE", "google-preempted": "FALSE"}, True, False),
        ({"google-preemptible": "FALSE"}, False, False),
        ({"azure-priority": "Spot"}, True, False),
        ({"azure-priority": "Regular"}, False, False),
        ({}, None, False),
    ],
)
def test_interruption_by_the_clouds_own_word(told: dict[str, str], spot: bool | None, soon: bool) -> None:  # noqa: FBT001
    found = interruption(
        {"schema": 1, **{name: {"status": 200, "text": text} for name, text in told.items()}}
    )
    assert (found.spot, found.soon) == (spot, soon)


def test_nobody_is_asked_unasked() -> None:
    assert interruption(None).spot is None
    assert "not asked" in interruption(None).text


def test_a_spot_machine_trains_with_a_but() -> None:
    told = json.dumps({"schema": 1, "aws-life-cycle": {"status": 200, "text": "spot"}})
    content = changed("full-machine", command("offer-metadata", rc=0, stdout=told))
    assert verdict(content, Use.TRAIN).but == ("it may be taken away at any time: keep checkpoints",)
